import { readdirSync, readFileSync, writeFileSync } from 'node:fs'

// What a process of its own takes, as Linux tells it.

const mb = 1024 * 1024

const memory = (pid: number, what: 'VmHWM' | 'VmRSS') =>
  Number(new RegExp(`${what}:\\s+(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024

/** By how much the process grew at most meanwhile, in megabytes. */
export async function growthOf(pid: number, work: () => Promise<unknown>): Promise<number> {
  // From here on the most is counted anew.
  writeFileSync(`/proc/${pid}/clear_refs`, '5')
  const before = memory(pid, 'VmHWM')
  await work()
  return Math.round((memory(pid, 'VmHWM') - before) / mb)
}

/** What it has in memory now, in megabytes. */
export const residentMb = (pid: number) => Math.round(memory(pid, 'VmRSS') / mb)

/** How many files and connections it has open. */
export const openFilesOf = (pid: number) => readdirSync(`/proc/${pid}/fd`).length
