import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import { expect, it, onTestFinished } from 'vitest'
import { startServer } from './helpers/app.ts'
import { freshDatabase } from './helpers/databases.ts'
import { startProcess } from './helpers/process.ts'
import { books, requireBalancedBooks } from './helpers/seed.ts'
import { answerBytes, ask, chat, completion, eventually, model, tcpUpstream } from './relay/stage.ts'

// A suspended process: a virtual machine that is migrated, a laptop that is closed.

const headersTimeoutMs = 5000
const stillMs = 7000

it('a process suspended beside PostgreSQL reads its input before it applies timeouts', async () => {
  const database = await freshDatabase('postgres', 'started')
  const waiting: (() => void)[] = []
  const url = await tcpUpstream((socket) => {
    socket.on('data', (data) => {
      if (data.toString().includes('POST')) waiting.push(() => socket.write(answerBytes(completion())))
    })
  })
  const server = await startProcess(database)
  onTestFinished(async () => void (await server.kill('SIGKILL')))
  const setting = JSON.stringify({ headers_timeout_ms: headersTimeoutMs })
  await server.call('POST /api/channel/', { name: 'x', type: 1, key: 'k', base_url: url, models: model, setting })
  const { key } = await server.call<{ key: string }>('POST /api/token/', { name: 'x', unlimited_quota: true })
  const client = new pg.Client({ connectionString: database.env.DATABASE_URL })
  await client.connect()
  const callFive = () => Promise.all(Array.from({ length: 5 }, () => ask(server, `sk-${key}`, chat())))
  const answer = () => {
    for (const one of waiting.splice(0)) one()
  }
  // Afterwards everything that a first request loads is in memory.
  const first = callFive()
  await eventually('the first are asked', () => waiting.length === 5)
  answer()
  await first

  const atUpstream = callFive()
  await eventually('five wait for the upstream', () => waiting.length === 5)
  await client.query('begin; select 1 from users where id = 1 for update')
  const isLockWaitedFor = async () => {
    const { rowCount } = await client.query(`select 1 from pg_stat_activity where wait_event_type = 'Lock'`)
    return rowCount === 1
  }
  let atDatabase = callFive()
  for (;;) {
    let isRefused = false
    void atDatabase.then(() => {
      isRefused = true
    })
    await eventually('five wait for the database', async () => isRefused || (await isLockWaitedFor()))
    process.kill(server.pid, 'SIGSTOP')
    if (await isLockWaitedFor()) break
    // Callers wait only briefly for a lock: on a busy machine these were refused before the process was suspended.
    process.kill(server.pid, 'SIGCONT')
    await atDatabase
    atDatabase = callFive()
  }
  await client.query('rollback')
  answer()
  await wait(stillMs)
  process.kill(server.pid, 'SIGCONT')
  expect((await atUpstream).map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
  await eventually('the upstream is asked by those who waited for the database', () => waiting.length === 5)
  answer()
  expect((await atDatabase).map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])

  await client.end()
  await server.kill('SIGTERM')
  const next = await startServer('postgres', { database })
  expect((await books(next)).logs).toHaveLength(15)
  await requireBalancedBooks(next)
  await next.stop()
  await database.drop()
})
