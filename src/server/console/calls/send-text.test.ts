import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { expect, it, onTestFinished, vi } from 'vitest'
import { startConsole } from '../../../../test/helpers/console.ts'

/** An admin who downloads an endless file, reading it or not. */
async function download({ isReading }: { isReading: boolean }) {
  const { promise: isOver, resolve: end } = Promise.withResolvers<void>()
  async function* pieces() {
    try {
      for (;;) {
        yield 'a line\n'.repeat(50_000)
        await new Promise((resolve) => setImmediate(resolve))
      }
    } finally {
      end()
    }
  }
  const console = await startConsole('sqlite', { handlers: { 'GET /api/log/export.csv': pieces } })
  onTestFinished(() => console.stop())
  const admin = await console.addUser('adm', { role: 10 })
  const { hostname, port } = new URL(await console.server.listen({ port: 0, host: '127.0.0.1' }))
  const accepted = once(console.server.server, 'connection') as Promise<[Socket]>
  const caller = connect(Number(port), hostname).on('error', () => {})
  const head = Object.entries(admin.headers).map(([name, value]) => `${name}: ${value}\r\n`)
  caller.write(`GET /api/log/export.csv HTTP/1.1\r\nhost: x\r\n${head.join('')}\r\n`)
  await once(caller, 'readable')
  if (isReading) caller.resume()
  const [connection] = await accepted
  return {
    /** Resolves when the response is ended and the connection closed. */
    ended: Promise.all([isOver, once(connection, 'close')]),
    connection,
    /** Resolves when the permission of the admin has been checked again. */
    async askedAgain() {
      const asked = vi.spyOn(console.app.sessions, 'find')
      await expect.poll(() => asked.mock.calls.length).toBeGreaterThan(0)
      await asked.mock.results[0]?.value
    },
    change: async (values: object) => {
      await console.app.db.updateTable('users').set(values).where('id', '=', admin.id).execute()
      console.app.bus.publish('user', admin.id)
    },
  }
}

it.each([
  ['banned', { status: 2 }, { isReading: true }],
  ['demoted', { role: 1 }, { isReading: false }],
])('[T069] aborts the file of an admin who is %s, whether it is read or not', async (_what, change, how) => {
  const file = await download(how)
  await file.change(change)
  await file.ended
})

it('[T069] aborts the file of an organisation with the membership of its reader', async () => {
  const { promise: isOver, resolve: end } = Promise.withResolvers<void>()
  async function* pieces() {
    try {
      for (;;) {
        yield 'a line\n'
        await new Promise((resolve) => setImmediate(resolve))
      }
    } finally {
      end()
    }
  }
  const console = await startConsole('sqlite', { handlers: { 'GET /api/log/self/export.csv': pieces } })
  onTestFinished(() => console.stop())
  const { db } = console.app
  const reader = await console.addUser('reader')
  const firm = { username: '@Firm', username_key: '@firm', display_name: 'Firm', kind: 'organisation', password_hash: '' }
  const { id } = await db
    .insertInto('users')
    .values({ ...firm, aff_code: '@x', created_time: 1 })
    .returning('id')
    .executeTakeFirstOrThrow()
  const membership = { organisation_id: id, user_id: reader.id, role: 'admin', created_at: 1 }
  await db.insertInto('organisation_members').values(membership).execute()
  const url = await console.server.listen({ port: 0, host: '127.0.0.1' })
  const file = await fetch(`${url}/api/log/self/export.csv`, {
    headers: { ...reader.headers, 'x-organisation-id': String(id) },
  })
  expect(file.status).toBe(200)
  await db.updateTable('organisation_members').set({ left_at: 2 }).execute()
  await isOver
  await expect(file.text()).rejects.toThrow()
})

it('[T069] continues for an admin who was renamed, and aborts when nothing was read for two minutes', async () => {
  const { connection, ended, change, askedAgain } = await download({ isReading: false })
  await change({ display_name: 'Boss' })
  await askedAgain()
  expect(connection.destroyed).toBe(false)
  expect(connection.timeout).toBe(120_000)
  // The event that Node emits at a timeout.
  connection.emit('timeout')
  await ended
})
