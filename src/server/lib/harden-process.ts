import { writeFileSync } from 'node:fs'
import inspector from 'node:inspector'

/** Keeps secrets out of reach of debuggers, core dumps, child processes and reports. */

/** Throws when a debugger is attached or asked for. A signal will start none later. */
export function refuseDebugger(): void {
  if (inspector.url() !== undefined)
    throw new Error('a debugger reads every secret. Leave --inspect out, or set NODE_ENV=development on a machine without any')
  // Node opens a debugger on this signal; any listener replaces that.
  process.on('SIGUSR1', () => {})
}

/** On Linux a crash still leaves a core dump where the system wants one, but none of the memory is in it. */
export function emptyCoreDumps(): void {
  try {
    writeFileSync('/proc/self/coredump_filter', '0')
  } catch {
    // Another system, or a container without it: then limits of the service decide.
  }
}

/** Takes secrets out of the environment once they have been read. */
export function clearEnvironment(names: readonly string[]): void {
  for (const name of names) delete process.env[name]
}
