import { writeFileSync } from 'node:fs'
import inspector from 'node:inspector'

/** Keeps secrets out of reach of debuggers, core dumps, child processes and reports. */

/** Throws when a debugger is attached or requested. Afterwards a signal cannot start one. */
export function refuseDebugger(): void {
  if (inspector.url() !== undefined)
    throw new Error('a debugger reads every secret. Leave --inspect out, or set NODE_ENV=development on a machine without any')
  // Node opens a debugger on this signal; any listener replaces that behavior.
  process.on('SIGUSR1', () => {})
}

/** On Linux a crash still writes a core dump if the system is configured so, but it contains no memory. */
export function emptyCoreDumps(): void {
  try {
    writeFileSync('/proc/self/coredump_filter', '0')
  } catch {
    // Not Linux, or a container without this file: then the limits of the service apply.
  }
}

/** Removes secrets from the environment once they have been read. */
export function clearEnvironment(names: readonly string[]): void {
  for (const name of names) delete process.env[name]
}
