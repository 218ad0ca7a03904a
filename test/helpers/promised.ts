import { availableParallelism, loadavg } from 'node:os'

/** What is promised for a machine that keeps up: as many times as long while so many times more wants to run than there are cores. */
export function promised(ms: number): number {
  const [load = 0] = loadavg()
  return ms * Math.max(1, load / availableParallelism())
}
