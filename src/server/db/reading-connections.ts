/** One kind of database behind a reader. Rejects with the reason of the signal once that is aborted. */
export interface ReadingConnections {
  readonly count: number
  read(sql: string, parameters: readonly unknown[], signal: AbortSignal | undefined): Promise<Record<string, unknown>[]>
  close(): Promise<void>
}
