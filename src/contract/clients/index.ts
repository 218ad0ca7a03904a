import { agents } from './agents.ts'
import { applications } from './applications.ts'
import type { Client } from './client.ts'
import { libraries } from './libraries.ts'

export {
  type Client,
  type ClientDialect,
  type ClientKind,
  type ClientSetup,
  type ClientStep,
  clientDialects,
  clientKinds,
} from './client.ts'

/** The one table behind the connect page of the console and `docs/clients.md`. */
export const clients: readonly Client[] = [...agents, ...applications, ...libraries]
