/** The connections of a reader to one kind of database. Reads reject with the reason of the signal once it is aborted. */
export interface ReadingConnections {
  readonly count: number
  read(sql: string, parameters: readonly unknown[], signal: AbortSignal | undefined): Promise<Record<string, unknown>[]>
  close(): Promise<void>
}
