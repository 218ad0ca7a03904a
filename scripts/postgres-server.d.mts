export declare function startPostgres(settings?: {
  durable?: boolean
}): Promise<{ url: string; pid: number; stop: () => Promise<void> }>
