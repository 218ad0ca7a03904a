import { readdirSync, readFileSync, writeFileSync } from 'node:fs'

// The memory of a separate process, as Linux reports it.

const mb = 1024 * 1024

/** Throws for a process that has ended, also while it is still in the list of processes. */
function memory(pid: number, what: 'VmHWM' | 'VmRSS'): number {
  const [, kilobytes] = new RegExp(`${what}:\\s+(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  if (kilobytes === undefined) throw new Error(`Process ${pid} has ended`)
  return Number(kilobytes) * 1024
}

/** The greatest growth of the process during `work`, in megabytes. */
export async function memoryGrowth(pid: number, work: () => Promise<unknown>): Promise<number> {
  // Resets the peak.
  writeFileSync(`/proc/${pid}/clear_refs`, '5')
  const before = memory(pid, 'VmHWM')
  await work()
  return Math.round((memory(pid, 'VmHWM') - before) / mb)
}

/**
 * Node option for processes whose memory is measured. Limits the young generation of V8 to 32 MB; by default
 * it may grow to 128 MB under any load.
 */
export const limitedYoungGeneration = '--max-semi-space-size=16'

/** Its current resident memory, in megabytes. */
export const residentMb = (pid: number) => Math.round(memory(pid, 'VmRSS') / mb)

/** Its greatest resident memory so far, in megabytes. */
export const peakResidentMb = (pid: number) => Math.round(memory(pid, 'VmHWM') / mb)

/** The number of its open files and connections. */
export const openFilesOf = (pid: number) => readdirSync(`/proc/${pid}/fd`).length
