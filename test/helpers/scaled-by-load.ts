import { readFileSync } from 'node:fs'
import { availableParallelism, loadavg } from 'node:os'

/** A limit that is promised for an idle machine, scaled by the load relative to the cores. */
export function scaledByLoad(ms: number): number {
  const [load = 0] = loadavg()
  return ms * Math.max(1, Math.max(load, runnable()) / availableParallelism())
}

/**
 * Runnable threads at this moment: the average of a minute does not yet include a load that has just begun. 0 if the system does
 * not report it.
 */
function runnable(): number {
  try {
    return Number(/ (\d+)\//.exec(readFileSync('/proc/loadavg', 'utf8'))?.[1] ?? 0)
  } catch {
    return 0
  }
}
