import { expect, it } from 'vitest'
import { serverOfTest, type TestServer } from '../helpers/app.ts'
import { eachDatabase } from '../helpers/databases.ts'
import { seedFile } from '../helpers/files.ts'
import { type Member, member } from '../helpers/members.ts'
import { addChannel, requireBalancedBooks, setOptions } from '../helpers/seed.ts'
import {
  answered,
  batchStage,
  bill,
  charges,
  dueNow,
  follow,
  generated,
  google,
  mapped,
  message,
  order,
  request,
  upload,
} from './batch-stage.ts'
import { fileVendor } from './file-vendor.ts'
import { claude, eventually, model } from './stage.ts'

/** Files and batches of users in the console. */

interface Listed {
  readonly items: readonly Record<string, unknown>[]
  readonly total: number
}

eachDatabase('files in the console', (_fresh, kind) => {
  async function stage() {
    const server = await serverOfTest(kind)
    const vendor = await fileVendor(() => ({}))
    const channelId = await addChannel(server, { url: vendor.url, models: model, key: 'key-openai' })
    const [ada, admin] = await Promise.all([member(server, 'ada'), member(server, 'admin', 10)])
    return { server, vendor, channelId, ada, admin }
  }

  const listOf = async (who: Member, path: string) => (await who.call(`GET /api/file/${path}`)).json.data as Listed
  const idsOf = async (who: Member, path: string) => (await listOf(who, path)).items.map(({ file_id }) => file_id)

  async function change({ app }: TestServer, id: string, values: object): Promise<void> {
    await app.db.updateTable('files').set(values).where('id', '=', id).execute()
  }

  it('are listed to their owner without the channel, and to admins with it, by every filter', async () => {
    const { server, channelId, ada, admin } = await stage()
    for (const id of ['file-one', 'file-two', 'file-old', 'file-gone']) await seedFile(server, { id, channelId, userId: ada.id })
    await seedFile(server, { id: 'file-roots', channelId })
    await change(server, 'file-one', { created_at: 1000, purpose: 'batch', filename: 'Night_100%.jsonl', bytes: 70 })
    await change(server, 'file-two', { created_at: 2000, channel_id: 999 })
    await change(server, 'file-old', { expires_at: 5 })
    await change(server, 'file-gone', { state: 'removed' })

    const own = await listOf(ada, 'self')
    expect(own.total).toBe(2)
    expect(own.items).toMatchObject([
      { file_id: 'file-two', state: 'lost', channel_id: 0, username: '', purpose: 'user_data' },
      { file_id: 'file-one', state: 'kept', bytes: 70, filename: 'Night_100%.jsonl', created_at: 1000, expires_at: 0 },
    ])
    for (const query of ['purpose=batch', 'filename=night_100%25', 'file_id=file-one'])
      expect(await idsOf(ada, `self?${query}`)).toEqual(['file-one'])
    expect(await idsOf(ada, 'self?filename=nightx')).toEqual([])
    expect(await idsOf(ada, 'self?page_size=1&p=2')).toEqual(['file-one'])

    const [first] = (await listOf(admin, '?username=root')).items
    expect(first).toMatchObject({ file_id: 'file-roots', username: 'root', channel_id: channelId })
    expect(await idsOf(admin, `?username=ada&channel_id=${channelId}`)).toEqual(['file-one'])
    expect((await listOf(admin, '')).total).toBe(3)
  })

  it('count in the quota that the console shows, and their file has every row', async () => {
    const { server, channelId, ada, admin } = await stage()
    await setOptions(server, { 'files.count_max': 9, 'files.megabytes_max': 3 })
    for (const id of ['file-one', 'file-two']) await seedFile(server, { id, channelId, userId: ada.id })
    await seedFile(server, { id: 'file-roots', channelId })
    await change(server, 'file-one', { bytes: 70, filename: '=cmd.txt' })
    const limits = { count_max: 9, bytes_max: 3 * 1024 ** 2 }
    const usageOf = async (who: Member, path: string) => (await who.call(`GET /api/file/${path}`)).json.data
    expect(await usageOf(ada, 'self/usage')).toEqual({ count: 2, bytes: 71, ...limits })
    expect(await usageOf(admin, 'usage')).toEqual({ count: 3, bytes: 72, ...limits })
    expect(await usageOf(admin, 'usage?username=root')).toEqual({ count: 1, bytes: 1, ...limits })

    const own = (await ada.call('GET /api/file/self/export.csv')).text
    expect(own.trim().split(/\r?\n/)).toHaveLength(3)
    expect(own).not.toContain('username')
    // A spreadsheet must not take a name for a formula.
    expect(own).toContain("'=cmd.txt")
    expect((await admin.call('GET /api/file/export.csv?username=ada')).text).toContain('username,channel_id')
    expect((await ada.call('GET /api/file/export.csv')).json.code).toBe('permission_denied')
  })

  it('are deleted here and at their vendor by their owner, and by an admin above the owner', async () => {
    const { server, vendor, channelId, ada, admin } = await stage()
    for (const id of ['file-one', 'file-two']) await seedFile(server, { id, channelId, userId: ada.id })
    await seedFile(server, { id: 'file-roots', channelId })
    const atVendor = { name: 'a.txt', purpose: 'user_data', key: 'key-openai', bytes: Buffer.from('x') }
    for (const id of ['file-one', 'file-two', 'file-roots']) vendor.files.set(id, { id, ...atVendor })
    const rows = async () => (await server.app.db.selectFrom('files').select('id').execute()).map(({ id }) => id)

    expect((await ada.call('DELETE /api/file/self/file-roots')).json.code).toBe('file_unknown')
    expect((await ada.call('DELETE /api/file/self/file-one')).json.success).toBe(true)
    expect((await ada.call('DELETE /api/file/self/file-one')).json.code).toBe('file_unknown')
    expect((await ada.call('DELETE /api/file/file-two')).json.code).toBe('permission_denied')
    expect((await admin.call('DELETE /api/file/file-roots')).json.code).toBe('user_protected')
    expect((await admin.call('DELETE /api/file/file-two')).json.success).toBe(true)
    await eventually('the vendor has deleted them', async () => (await rows()).length === 1)
    expect(await rows()).toEqual(['file-roots'])
    expect([...vendor.files.keys()]).toEqual(['file-roots'])
    const audited = await server.app.db
      .selectFrom('audit')
      .select(['action', 'target', 'actor_name'])
      .orderBy('id', 'desc')
      .execute()
    expect(audited.filter(({ action }) => action === 'file.delete')).toEqual([
      { action: 'file.delete', target: 'file:file-two', actor_name: 'admin' },
    ])
  })
})

eachDatabase('batches from the console', (_fresh, kind) => {
  it('are ordered from an own file and charged by the same books as by a key, and their results are downloaded', async () => {
    const { server, vendor, openai } = await batchStage(kind)
    const ask = (line: string, body?: unknown, headers?: Record<string, string>) => server.raw(line, body, headers)
    const input = await upload(openai, [request('a'), request('b', { model: mapped })])
    const begun = { input_file_id: input, ...order }
    const made = (await (await ask('POST /pg/batches', begun)).json()) as { id: string; status: string }
    expect(made.status).toBe('in_progress')
    const heldOf = async () =>
      (await server.app.db.selectFrom('users').select('held').where('id', '=', 1).executeTakeFirstOrThrow()).held
    expect(await heldOf()).toBeGreaterThan(bill(model) + bill(mapped))
    const early = await ask(`GET /pg/batches/${made.id}/results`, undefined, { 'accept-language': 'en' })
    expect([early.status, await early.text()]).toEqual([400, expect.stringContaining('has not ended yet')])

    vendor.end(vendor.only(), { reply: (body, id) => (id === 'b' ? answered(body) : undefined) })
    await dueNow(server)
    await follow(server)
    expect(await charges(server)).toEqual([{ reference: `charge:${made.id}.2`, amount: bill(mapped) }])
    expect(await heldOf()).toBe(0)
    await requireBalancedBooks(server)

    const results = await (await ask(`GET /pg/batches/${made.id}/results`)).text()
    expect(JSON.parse(results.trim())).toMatchObject({ custom_id: 'b', response: { body: { model: mapped } } })
    const [row] = (await server.call<Listed>('GET /api/batch/self')).items
    expect(await (await ask(`GET /pg/files/${row?.error_file}/content`)).text()).toContain('"a"')
    expect(await (await ask(`GET /pg/files/${input}/content`)).text()).toContain('"custom_id":"a"')

    const eve = await member(server, 'eve')
    for (const line of [`GET /pg/batches/${made.id}/results`, `GET /pg/files/${input}/content`]) {
      const theirs = await eve.call(line)
      expect([theirs.status, theirs.text], line).toEqual([404, expect.not.stringContaining('custom_id')])
    }
    expect((await eve.call('POST /pg/batches', begun)).status).toBe(404)
    expect((await fetch(`${server.url}/pg/files/${input}/content`)).status).toBe(401)
  })

  it('are refused as by a key: beyond the balance before the vendor has them, and with every request at fault', async () => {
    const { server, vendor, openai } = await batchStage(kind)
    const ada = await member(server, 'ada')
    const input = await upload(openai, [request('a'), request('a')])
    await server.app.db.updateTable('files').set({ user_id: ada.id }).execute()
    const refused = JSON.parse((await ada.call('POST /pg/batches', { input_file_id: input, ...order })).text)
    expect(refused).toMatchObject({ status: 'failed', errors: { data: [{ line: 2 }] } })

    const poor = await upload(openai, [request('a')])
    await server.app.db.updateTable('files').set({ user_id: ada.id }).where('id', '=', poor).execute()
    await server.app.db.updateTable('users').set({ quota: 1 }).where('id', '=', ada.id).execute()
    const unaffordable = await ada.call('POST /pg/batches', { input_file_id: poor, ...order })
    expect(unaffordable.json).toMatchObject({ error: { code: 'batch_unaffordable' } })
    expect(vendor.batches.size).toBe(0)
  })

  it('of Anthropic and Gemini give their results too', async () => {
    const { server, vendor, anthropic, gemini } = await batchStage(kind)
    const params = { model: claude, max_tokens: 50, messages: [{ role: 'user' as const, content: 'say' }] }
    const { id } = await anthropic.messages.batches.create({ requests: [{ custom_id: 'a', params }] })
    vendor.end(vendor.only(), { reply: (body) => message(body) })
    const src = [{ contents: [{ role: 'user', parts: [{ text: 'say' }] }] }]
    const { name = '' } = await gemini.batches.create({ model: google, src })
    const theirs = [...vendor.batches.values()].at(-1)
    if (!theirs) throw new Error('The vendor has no batch')
    vendor.end(theirs, { reply: () => generated() })
    await dueNow(server)
    await follow(server)
    const results = async (of: string) => (await server.raw(`GET /pg/batches/${of}/results`)).text()
    expect(JSON.parse(await results(id))).toMatchObject({ custom_id: 'a', result: { type: 'succeeded' } })
    expect(await results(name.replace('batches/', ''))).toContain('"four"')
  })
})
