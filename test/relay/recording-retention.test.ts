import { expect, it, onTestFinished } from 'vitest'
import { seconds } from '../../src/server/base/lib/time/clock.ts'
import { serverOfTest, startServer, type TestServer } from '../helpers/app.ts'
import { newClock } from '../helpers/clock.ts'
import { type DatabaseKind, eachDatabase } from '../helpers/databases.ts'
import { type Member, member } from '../helpers/members.ts'
import { setOptions } from '../helpers/seed.ts'
import { answeringUpstream, chat, completion, stage } from './stage.ts'

const day = 86_400
const megabyte = 1024 * 1024

const namesOf = async ({ app }: TestServer) =>
  (await app.db.selectFrom('recordings').select('request_id').orderBy('request_id').execute()).map(({ request_id }) => request_id)

const numbered = (name: string, count: number) => Array.from({ length: count }, (_, index) => `${name}-${index + 100}`)

/** Rows as recordings leave them, each a second older than the one before it. */
async function store({ app }: TestServer, names: readonly string[], more: { user: number; at: number; bytes?: number }) {
  const sealed = { caller_sealed: '', upstream_sealed: '' }
  const rows = names.map((request_id, index) => ({
    request_id,
    user_id: more.user,
    created_at: more.at - index,
    bytes: more.bytes ?? 10,
    ...sealed,
  }))
  for (let at = 0; at < rows.length; at += 100)
    await app.db
      .insertInto('recordings')
      .values(rows.slice(at, at + 100))
      .execute()
}

/** A second node on the database of a server. Only one may use a file of SQLite: there the job runs in that one twice. */
async function nodeBeside(kind: DatabaseKind, server: TestServer, now: () => number): Promise<TestServer> {
  if (kind === 'sqlite') return server
  const node = await startServer(kind, { database: server.database, now })
  onTestFinished(() => node.stop())
  return node
}

const codeOf = async (owner: Member, id: string) => (await owner.call(`GET /api/recording/self/${id}`)).json.code

eachDatabase('the retention of recordings', (_fresh, kind) => {
  it('by age: of 250 older than 3 days and 40 that are not, of two users, the 250 go, whether the job runs twice or on two nodes', async () => {
    const clock = newClock()
    const now = () => clock.now()
    const server = await serverOfTest(kind, { now })
    await setOptions(server, { RecordingRetentionDays: 3 })
    const [ada, eve] = [await member(server, 'ada'), await member(server, 'eve')]
    const oldest = seconds(clock.now()) - 3 * day
    await store(server, numbered('old-of-ada', 130), { user: ada.id, at: oldest - 1 })
    await store(server, numbered('old-of-eve', 120), { user: eve.id, at: oldest - 1 })
    const kept = [...numbered('kept-of-ada', 20), ...numbered('kept-of-eve', 20)]
    await store(server, kept.slice(0, 20), { user: ada.id, at: oldest + 19 })
    await store(server, kept.slice(20), { user: eve.id, at: oldest + 19 })

    const node = await nodeBeside(kind, server, now)
    const removed = await Promise.all([server.app.recordings.purge(), node.app.recordings.purge()])
    expect(removed.reduce((sum, count) => sum + count)).toBe(250)
    expect(await namesOf(server)).toEqual(kept)
    expect(await server.app.recordings.purge()).toBe(0)
    expect(await namesOf(server)).toEqual(kept)

    clock.passSeconds(1)
    expect(await node.app.recordings.purge()).toBe(2)
    expect(await namesOf(server)).toEqual(kept.filter((name) => !name.endsWith('-119')))
  })

  it('by size: of 40 of 50 kB each and a limit of 1 MB, the 22 oldest go down to 0.9 MB, once, whoever they belong to', async () => {
    const server = await serverOfTest(kind)
    const [ada, eve] = [await member(server, 'ada'), await member(server, 'eve')]
    await setOptions(server, { RecordingMegabytes: 1 })
    const at = seconds(server.app.now())
    // Every second one is of the same user; the first of each is the youngest.
    await store(server, numbered('ada', 20), { user: ada.id, at, bytes: 51_200 })
    await store(server, numbered('eve', 20), { user: eve.id, at, bytes: 51_200 })
    const left = Math.floor((0.9 * megabyte) / 51_200)
    expect(left).toBe(18)
    for (let run = 0; run < 2; run++) {
      expect(await server.app.recordings.purge()).toBe(0)
      expect(await namesOf(server)).toEqual([...numbered('ada', 9), ...numbered('eve', 9)])
    }
  })

  it('by size on two nodes at once: of 40 of 50 kB each and a limit of 1 MB, the 22 oldest go, and no more', async () => {
    const server = await serverOfTest(kind)
    await setOptions(server, { RecordingMegabytes: 1 })
    await store(server, numbered('r', 40), { user: 1, at: seconds(server.app.now()), bytes: 51_200 })
    const node = await nodeBeside(kind, server, Date.now)
    await Promise.all([server.app.recordings.purge(), node.app.recordings.purge()])
    expect(await namesOf(server)).toEqual(numbered('r', 18))
  })

  it('of a deleted user: nobody opens the 3 recordings from then on, the job deletes them, and those of another user stay', async () => {
    const server = await serverOfTest(kind)
    const [ada, eve] = [await member(server, 'ada'), await member(server, 'eve')]
    const at = seconds(server.app.now())
    await store(server, numbered('ada', 3), { user: ada.id, at })
    await store(server, numbered('eve', 3), { user: eve.id, at })
    expect(await server.app.recordings.recorded(numbered('ada', 3))).toHaveLength(3)
    await server.call('DELETE /api/user/:id'.replace(':id', String(ada.id)))
    expect(await server.app.recordings.recorded([...numbered('ada', 3), ...numbered('eve', 3)])).toEqual(
      new Set(numbered('eve', 3)),
    )
    expect((await (await server.raw(`GET /api/recording/call/ada-100`)).json()).code).toBe('not_found')
    expect(await server.app.recordings.purge()).toBe(3)
    expect(await namesOf(server)).toEqual(numbered('eve', 3))
    // Written by another node after the deletion.
    await store(server, ['late'], { user: ada.id, at })
    expect(await server.app.recordings.purge()).toBe(1)
    expect(await namesOf(server)).toEqual(numbered('eve', 3))
  })

  it('of a deleted token: its 2 recordings stay with the log of their owner, and only with them, until their age', async () => {
    const clock = newClock()
    const { url } = await answeringUpstream(completion())
    const { server } = await stage(kind, url, { server: { now: () => clock.now() } })
    await setOptions(server, { RecordingRetentionDays: 1 })
    const [ada, eve] = [await member(server, 'ada'), await member(server, 'eve')]
    await server.call(`POST /api/user/${ada.id}/quota`, { change: 500_000, reason: 'test' })
    const { id, key } = (await ada.call('POST /api/token/', { name: 'own', unlimited_quota: true })).json.data as {
      id: number
      key: string
    }
    const until = seconds(clock.now()) + day
    await ada.call(`PUT /api/token/${id}/recording`, { until })
    await server.app.recordings.rules.refresh()
    const ids: string[] = []
    for (let call = 0; call < 2; call++) {
      const headers = { authorization: `Bearer sk-${key}`, 'content-type': 'application/json' }
      const response = await fetch(`${server.url}/v1/chat/completions`, { method: 'POST', headers, body: JSON.stringify(chat()) })
      await response.text()
      ids.push(response.headers.get('x-request-id') ?? '')
    }
    await expect.poll(() => namesOf(server)).toHaveLength(2)
    await ada.call(`DELETE /api/token/${id}`)
    expect(await server.app.recordings.purge()).toBe(0)
    for (const call of ids) expect([await codeOf(ada, call), await codeOf(eve, call)]).toEqual([undefined, 'not_found'])

    clock.passSeconds(day + 1)
    for (const call of ids) expect(await codeOf(ada, call)).toBe('not_found')
    expect(await server.app.recordings.purge()).toBe(2)
    expect(await namesOf(server)).toEqual([])
    expect(await server.app.db.selectFrom('recording_rules').selectAll().execute()).toEqual([])
  })
})
