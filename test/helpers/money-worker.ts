import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'
import type { TestDatabase } from './databases.ts'

const script = fileURLToPath(new URL('./money-worker.mjs', import.meta.url))

interface MoneyWork {
  /** An operation of `money-worker.mjs`, with its parameters. */
  readonly move: Record<string, unknown>
  /** Ids of the users, which are used in turn. */
  readonly users: readonly number[]
  readonly options: Record<string, string>
  readonly attempts: number
  /** The step at which the process ends. */
  readonly kill?: string
}

/** Starts a process that moves money on command. */
export async function startMoneyWorker(database: TestDatabase, { move, users, options, attempts, kill }: MoneyWork) {
  const given = JSON.stringify({ move, users, options, attempts, kill })
  const env = { PATH: process.env.PATH, ...database.env }
  const child = spawn(process.execPath, [script, given], { env, stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  expect((await lines.next()).value).toBe('ready')

  return {
    kill: () => void child.kill('SIGKILL'),
    /** The number of each outcome; undefined for a process that was killed before its report. */
    async go(): Promise<Record<string, number> | undefined> {
      const end = once(child, 'exit')
      child.stdin.on('error', () => {})
      child.stdin.write('go\n')
      const line = await lines.next()
      await end
      return line.done ? undefined : JSON.parse(line.value)
    },
  }
}
