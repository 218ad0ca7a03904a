export interface PostgresServer {
  readonly url: string
  readonly pid: number
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
}): Promise<PostgresServer>
