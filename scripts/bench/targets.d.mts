/** The commands of the provider and of the load; compiled into the folder if there is a C compiler. */
export function tools(folder: string): Promise<{ compiled: boolean; upstream: string[]; load: string[] }>

/** Starts the provider on a free port. `prefix` precedes the command. */
export function startUpstream(command: string[], prefix: string[]): Promise<{ port: number; stop(): Promise<void> }>
