export interface PostgresServer {
  readonly url: string
  readonly pid: number
  /** The folder of its database files. */
  readonly data: string
  /** Starts it again on the same port and data after `kill`. */
  start(): Promise<void>
  kill(signal?: NodeJS.Signals): Promise<void>
  stop(): Promise<void>
}

export declare function startPostgres(settings?: {
  durable?: boolean
  folder?: string
  more?: Record<string, string | number>
  bin?: string
  standbyOf?: PostgresServer
}): Promise<PostgresServer>
