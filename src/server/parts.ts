import type { Passwords } from './accounts/passwords.ts'
import type { Sessions } from './accounts/sessions.ts'
import type { ChannelIndex } from './channels/model-index.ts'
import type { UpstreamAgents } from './lib/http-client.ts'
import type { Snapshot } from './lib/snapshot.ts'
import type { Core } from './options/core.ts'
import type { Catalog } from './pricing/catalog.ts'
import type { Authenticator } from './tokens/authenticate.ts'
import type { Ledger } from './wallet/ledger.ts'

/** All parts of a running server, built by hand in `app.ts` in the order of the import list. */
export interface App extends Core {
  readonly passwords: Passwords
  readonly sessions: Sessions
  readonly authenticator: Authenticator
  readonly ledger: Ledger
  readonly catalog: Catalog
  readonly channels: Snapshot<ChannelIndex>
  readonly upstream: UpstreamAgents
  /** Unix seconds of the start of this process. */
  readonly startedAt: number
}
