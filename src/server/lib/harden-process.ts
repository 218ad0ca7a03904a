import { writeFileSync } from 'node:fs'
import inspector from 'node:inspector'

/**
 * What a running process shows of its memory to those who may look at it: a debugger reads every secret, a core dump holds them, and
 * children and reports take the environment along.
 */

/** Throws when a debugger is attached or asked for. A signal will start none later. */
export function refuseDebugger(): void {
  if (inspector.url() !== undefined)
    throw new Error('a debugger reads every secret. Leave --inspect out, or set NODE_ENV=development on a machine without any')
  // Node listens for this signal to open a debugger; whoever else listens takes that away.
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
