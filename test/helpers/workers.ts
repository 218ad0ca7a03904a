import { readFileSync } from 'node:fs'
import { vi } from 'vitest'
import type { ServerProcess } from './process.ts'

/** One of several processes of a start (WORKERS), as Linux reports it. */
interface ServingProcess {
  readonly pid: number
  readonly role: string
}

export function servingProcesses({ pid }: Pick<ServerProcess, 'pid'>): ServingProcess[] {
  const pids = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(/\s+/).filter(Boolean).map(Number)
  return pids.flatMap((child) => {
    try {
      const environment = readFileSync(`/proc/${child}/environ`, 'utf8')
      return [{ pid: child, role: /SLUICE_PROCESS=(\w+)/.exec(environment)?.[1] ?? '' }]
    } catch {
      // It has ended meanwhile.
      return []
    }
  })
}

/** Kills one process of that role, and waits until `count` serve again. */
export async function killOne(server: ServerProcess, role: string, count: number): Promise<void> {
  const victim = servingProcesses(server).findLast((process) => process.role === role)
  if (!victim) throw new Error(`No ${role} runs`)
  process.kill(victim.pid, 'SIGKILL')
  await until(() => servingProcesses(server).every(({ pid }) => pid !== victim.pid))
  await allServe(server, count)
}

/** Waits until `count` processes accept connections: each of them answers `/metrics` for all. */
export async function allServe({ url }: Pick<ServerProcess, 'url'>, count: number): Promise<void> {
  await until(async () => {
    const text = await readMetrics(url)
    return Number(/^sluice_processes (\d+)$/m.exec(text)?.[1]) === count
  })
}

/** Returns '' while no process accepts connections. */
async function readMetrics(url: string): Promise<string> {
  return fetch(`${url}/metrics`).then(
    (response) => response.text(),
    () => '',
  )
}

export async function allEnded(processes: readonly ServingProcess[]): Promise<void> {
  await until(() => processes.every(({ pid }) => !isRunning(pid)))
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** Long, because a busy machine starts processes slowly. */
const startsWithinMs = 60_000

function until(isSo: () => Promise<boolean> | boolean): Promise<unknown> {
  return vi.waitUntil(async () => (await isSo()) || undefined, { timeout: startsWithinMs, interval: 50 })
}
