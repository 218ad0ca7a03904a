type Dialect = 'openai' | 'anthropic' | 'gemini'
type Place = 'whole' | 'stream'

export interface Client {
  readonly name: string
  readonly version: string
  /** The day on which its rules were read. */
  readonly read: string
  readonly source: string
  readonly dialects: readonly Dialect[]
}

export interface Told {
  readonly dialect: Dialect
  readonly place: Place
  /** 0 in a stream. */
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly type: string
  readonly code: string
  readonly message: string
}

export interface Failure {
  readonly kind: string
  /** The same request meets the same error again. */
  readonly isLasting: boolean
  readonly told: readonly Told[]
}

export const clients: readonly Client[]
export const dialects: readonly Dialect[]
/** `server` has the functions of the server's modules that write errors. */
export function toldFailures(server: object): Failure[]
export function repeats(client: Client, error: Told): boolean
