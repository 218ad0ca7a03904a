import OpenAI, { toFile } from 'openai'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { Budget } from '../../src/contract/entities/budget.ts'
import type { Video } from '../../src/contract/entities/task.ts'
import { pollTasks } from '../../src/server/gateway/tasks/poll.ts'
import { verifyCredits } from '../../src/server/money/ledger/verify-credits.ts'
import { startServer, type TestServer } from '../helpers/app.ts'
import { newClock } from '../helpers/clock.ts'
import type { DatabaseKind } from '../helpers/databases.ts'
import { member } from '../helpers/members.ts'
import { addChannel, addToken, setOptions } from '../helpers/seed.ts'
import { png } from '../helpers/task-peer.ts'
import { clipBytes, startVideoPeer } from '../helpers/video-peer.ts'
import { spentBy } from './stage.ts'

const key = 'video-peer-key-0123456789'
const usd = 500_000
const perSecond = (usual: number, longest: number, rates: readonly (readonly [string, string, number])[]) => ({
  per: 'second',
  seconds: { usual, longest },
  rates: rates.map(([resolution, sound, price]) => ({ resolution, sound, usd: price })),
})
const prices = {
  'veo-3.1-generate-*': perSecond(8, 8, [['720p', 'any', 0.4], ['4k', 'any', 0.6]]),
  'doubao-seedance-2-5': perSecond(5, 15, [['720p', 'without', 0.1], ['720p', 'with', 0.2], ['1080p', 'any', 0.5]]),
  'kling-v2-6': perSecond(5, 10, [['720p', 'any', 0.05], ['1080p', 'any', 0.1]]),
  'wan3.0-t2v': perSecond(5, 15, [['720p', 'any', 0.1]]),
  'MiniMax-H3': perSecond(6, 10, [['768p', 'any', 0.08]]),
  'MiniMax-Hailuo-02': { ...perSecond(6, 10, [['768p', 'any', 0.3]]), per: 'clip' },
  viduq2: perSecond(4, 8, [['720p', 'any', 0.1]]),
  'grok-imagine-video': perSecond(6, 15, [['480p', 'any', 0.08]]),
  'sora-2': perSecond(4, 12, [['720p', 'any', 0.1]]),
  'other-video': perSecond(4, 12, [['720p', 'any', 0.1]]),
} // biome-ignore format: a table

const channels: readonly (readonly [type: number, models: string])[] = [
  [24, 'veo-3.1-generate-preview'],
  [45, 'doubao-seedance-2-5'],
  [50, 'kling-v2-6'],
  [17, 'wan3.0-t2v'],
  [35, 'MiniMax-H3,MiniMax-Hailuo-02'],
  [52, 'viduq2'],
  [48, 'grok-imagine-video'],
  [1, 'sora-2'],
  [59, 'other-video'],
]

/** Each vendor's path for an order, the members that say what is sold, and the price of the order below in dollars. */
const vendors: readonly (readonly [model: string, path: string, body: object, dollars: number])[] = [
  ['veo-3.1-generate-preview', '/v1beta/models/veo-3.1-generate-preview:predictLongRunning', { parameters: { durationSeconds: 4, resolution: '720p' } }, 1.6],
  ['doubao-seedance-2-5', '/api/v3/contents/generations/tasks', { duration: 4, resolution: '720p', generate_audio: false }, 0.4],
  ['kling-v2-6', '/v1/videos/text2video', { model_name: 'kling-v2-6', duration: '4', mode: 'std' }, 0.2],
  ['wan3.0-t2v', '/api/v1/services/aigc/video-generation/video-synthesis', { parameters: { duration: 4, resolution: '720P' } }, 0.4],
  ['MiniMax-H3', '/v2/video_generation', { duration: 4, resolution: '768P' }, 0.32],
  ['MiniMax-Hailuo-02', '/v1/video_generation', { duration: 4, resolution: '768P' }, 0.3],
  ['viduq2', '/ent/v2/text2video', { duration: 4, resolution: '720p' }, 0.4],
  ['grok-imagine-video', '/v1/videos/generations', { duration: 4, resolution: '480p' }, 0.32],
  ['sora-2', '/v1/videos', { seconds: '4', size: '1280x720' }, 0.4],
  ['other-video', '/v1/video/generations', { duration: 4, width: 1280, height: 720 }, 0.4],
] // biome-ignore format: a table

/** The test's vendors and their files are on loopback. */
const anywhere = {
  allowsPort: () => true,
  allows: () => true,
  resolve: async () => [{ address: '127.0.0.1', family: 4 }],
}

describe.each(['sqlite', 'postgres'] as const)('videos (%s)', (kind: DatabaseKind) => {
  let peer: Awaited<ReturnType<typeof startVideoPeer>>
  let server: TestServer
  let token: { key: string }
  const clock = newClock(Date.now())

  beforeAll(async () => {
    peer = await startVideoPeer()
    server = await startServer(kind, { now: () => clock.now() })
    Object.assign(server.app.upstream, { untrusted: anywhere })
    await server.call('PUT /api/option/', { key: 'VideoPrice', value: JSON.stringify(prices) })
    for (const [type, models] of channels) await addChannel(server, { url: peer.url, type, models, key })
    token = await addToken(server)
  })
  afterAll(async () => {
    await server.stop()
    await peer.stop()
  })
  afterEach(async () => {
    peer.program = undefined
    await server.app.db.updateTable('videos').set({ ask_at: 0 }).execute()
    expect((await spentBy(server)).held).toBe(0)
    expect(await verifyCredits(server.app.db)).toEqual([])
  })

  const ask = async (
    line: string,
    body?: unknown,
    headers: Record<string, string> = { authorization: `Bearer ${token.key}` },
  ) => {
    const [method = 'GET', path = '/'] = line.split(' ')
    const response = await fetch(server.url + path, {
      method,
      headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const bytes = Buffer.from(await response.arrayBuffer())
    const isJson = response.headers.get('content-type')?.startsWith('application/json')
    return { status: response.status, headers: response.headers, bytes, json: isJson ? JSON.parse(bytes.toString()) : {} }
  }
  const poll = (seconds = 60) => {
    clock.passSeconds(seconds)
    return pollTasks(server.app, new AbortController().signal)
  }
  const spent = async () => (await spentBy(server)).spent
  const order = async (body: object) => {
    const { status, json } = await ask('POST /v1/videos', { prompt: 'a sluice', ...body })
    if (status !== 200) throw new Error(JSON.stringify(json))
    return String(json.id)
  }

  it.each(vendors)('%s is ordered, charged, followed, and served through this site', async (model, path, body, dollars) => {
    const before = await spent()
    const id = await order({ model, seconds: '4' })
    expect(id).toMatch(/^video_\w{32}$/)
    const sent = peer.orders().at(-1)
    expect(sent).toMatchObject({ path, body })
    expect(await spent()).toBe(before + dollars * usd)
    const job = peer.last()
    peer.tell(job, { state: 'running' })
    await poll()
    expect((await ask(`GET /v1/videos/${id}`)).json).toMatchObject({
      id,
      object: 'video',
      model,
      status: 'in_progress',
      seconds: '4',
    })
    expect((await ask(`GET /v1/videos/${id}/content`)).status).toBe(409)
    peer.tell(job, { state: 'done' })
    await poll()
    const done = (await ask(`GET /v1/videos/${id}`)).json
    expect(done).toMatchObject({ status: 'completed', progress: 100, error: null })
    const whole = await ask(`GET /v1/videos/${id}/content`)
    expect([whole.status, whole.headers.get('content-type')]).toEqual([200, 'video/mp4'])
    expect(whole.bytes.equals(clipBytes)).toBe(true)
    expect(whole.headers.get('x-vendor')).toBeNull()
    const part = await ask(`GET /v1/videos/${id}/content`, undefined, {
      authorization: `Bearer ${token.key}`,
      range: 'bytes=1000-1999',
    })
    expect([part.status, part.headers.get('content-range')]).toEqual([206, `bytes 1000-1999/${clipBytes.length}`])
    expect(part.bytes.equals(clipBytes.subarray(1000, 2000))).toBe(true)
    const family = await ask(`GET /v1/video/generations/${id}`)
    expect(family.json).toMatchObject({ task_id: id, status: 'completed', format: 'mp4', metadata: { duration: 4 } })
    expect((await ask(`GET ${family.json.url}`, undefined, {})).bytes.equals(clipBytes)).toBe(true)
    const told = JSON.stringify([done, family.json])
    expect([told.includes(job), told.includes(peer.url)]).toEqual([false, false])
    expect(await spent()).toBe(before + dollars * usd)
  })

  it.each(vendors)('%s is refunded once when its job fails', async (model) => {
    const before = await spent()
    const id = await order({ model, seconds: '4' })
    peer.tell(peer.last(), { state: 'failed', reason: `blocked by ${key}` })
    await Promise.all([poll(), poll(0), poll(0)])
    await poll(600)
    expect(await spent()).toBe(before)
    const { json } = await ask(`GET /v1/videos/${id}`)
    expect(json).toMatchObject({ status: 'failed', error: { code: 'video_failed' } })
    expect(JSON.stringify(json)).not.toContain(key)
    expect((await ask(`GET /v1/videos/${id}/content`)).status).toBe(410)
  })

  it('charges what was delivered where that is less than was ordered, once, and never more', async () => {
    const before = await spent()
    const budget = { scope: 'user', subject: '1', period: 'total', amount: 1_000_000_000 }
    const { id: budgetId } = await server.call<Budget>('POST /api/budget/', budget)
    const counted = async () => (await server.call<{ items: Budget[] }>('GET /api/budget/')).items[0]?.spent
    const id = await order({ model: 'doubao-seedance-2-5', seconds: 10, size: '1920x1080' })
    expect([await spent(), await counted()]).toEqual([before + 5 * usd, 5 * usd])
    peer.tell(peer.last(), { state: 'done', seconds: 6.2 })
    await Promise.all([poll(), poll(0)])
    expect([await spent(), await counted()]).toEqual([before + 3.5 * usd, 3.5 * usd])
    await order({ model: 'doubao-seedance-2-5', seconds: 5, size: '1920x1080' })
    peer.tell(peer.last(), { state: 'done', seconds: 50 })
    await poll()
    expect(await spent()).toBe(before + 6 * usd)
    const row = await server.app.db.selectFrom('videos').select('quota').where('public_id', '=', id).executeTakeFirstOrThrow()
    expect(row.quota).toBe(3.5 * usd)
    await order({ model: 'veo-3.1-generate-preview', n: 4 })
    peer.tell(peer.last(), { state: 'done', pieces: 3 })
    await poll()
    expect(await spent()).toBe(before + 6 * usd + 3 * 8 * 0.4 * usd)
    await server.call(`DELETE /api/budget/${budgetId}`)
  })

  it('lists them with what was ordered, paid and refunded, and with links to their clips, until their owner deletes them', async () => {
    const id = await order({ model: 'doubao-seedance-2-5', seconds: 10, size: '1920x1080' })
    peer.tell(peer.last(), { state: 'done', seconds: 6 })
    await poll()
    const failed = await order({ model: 'viduq2', seconds: 4 })
    peer.tell(peer.last(), { state: 'failed', reason: 'blocked' })
    await poll()
    const [own] = await server.call<Video[]>(`GET /api/video/self?video_id=${id}`)
    expect(own).toMatchObject({
      ...{ video_id: id, channel_id: 0, username: '', action: 'TEXT', model: 'doubao-seedance-2-5', status: 'SUCCESS' },
      ...{ seconds: 10, resolution: '1080p', sound: null, pieces: 1, quota: 3 * usd, refund: 2 * usd },
      ...{ has_ranges: true, deleted: false },
    })
    expect((await ask(`GET ${own?.clips[0]}`, undefined, {})).bytes.equals(clipBytes)).toBe(true)
    const all = await server.call<Video[]>('GET /api/video/?status=failure&username=root')
    expect(all[0]).toMatchObject({ video_id: failed, username: 'root', quota: 0, refund: 0.4 * usd, clips: [] })
    expect(all[0]?.channel_id).toBeGreaterThan(0)
    const csv = async (line: string) => (await (await server.raw(`GET /api/video/${line}`)).text()).split('\r\n')
    const [head = '', row = ''] = await csv(`self/export.csv?video_id=${id}`)
    expect(head).toContain('seconds,resolution,sound,pieces,delivered,quota,refund,prompt,fail_reason')
    expect(row).toContain(`,10,1080p,,1,1,${3 * usd},${2 * usd},a sluice,`)
    expect(await csv(`export.csv?video_id=${failed}`)).toHaveLength(3)
    const stranger = await member(server, `other-${kind.slice(0, 6)}`)
    expect((await stranger.call('GET /api/video/self')).json.data).toEqual([])
    await ask(`DELETE /v1/videos/${id}`)
    expect(await server.call(`GET /api/video/self?video_id=${id}`)).toEqual([])
    expect(await server.call(`GET /api/video/?video_id=${id}`)).toMatchObject([{ deleted: true, clips: [], prompt: '' }])
  })

  it('prices by resolution and sound, and sends what it sold, whatever else the request says', async () => {
    const model = 'doubao-seedance-2-5'
    const before = await spent()
    await order({
      model,
      metadata: { generate_audio: true, resolution: '720p', duration: 10, watermark: true, service_tier: 'flex' },
    })
    expect(await spent()).toBe(before + 10 * 0.2 * usd)
    const { body } = peer.orders().at(-1) ?? { body: {} }
    expect(body).toMatchObject({ duration: 10, resolution: '720p', generate_audio: true, watermark: true })
    expect(body).not.toHaveProperty('service_tier')
    const refusals: readonly (readonly [object, string])[] = [
      [{ seconds: 16 }, 'seconds'],
      [{ seconds: '-3' }, 'seconds'],
      [{ seconds: '1e9' }, 'seconds'],
      [{ size: '4k' }, 'resolution'],
      [{ size: 'huge' }, 'size'],
      [{ n: 2 }, 'n'],
      [{ n: 0 }, 'n'],
      [{ input_reference: 'no picture' }, 'input_reference'],
    ]
    for (const [more, param] of refusals) {
      const { status, json } = await ask('POST /v1/videos', { model, prompt: 'x', ...more })
      expect([status, json.error?.param], JSON.stringify(more)).toEqual([400, param])
    }
    expect((await ask('POST /v1/videos', { prompt: 'x' })).status).toBe(400)
    expect((await ask('POST /v1/videos', { model })).json.error.code).toBe('task_prompt_required')
    expect(await spent()).toBe(before + 10 * 0.2 * usd)
  })

  it('refuses a clip that the balance does not afford, before the vendor hears of it', async () => {
    const poor = await member(server, `poor-${kind.slice(0, 6)}`)
    await server.call(`POST /api/user/${poor.id}/quota`, { change: 0.3 * usd, reason: 'test' })
    const made = await poor.call('POST /api/token/', { name: 't', unlimited_quota: true })
    const own = { authorization: `Bearer sk-${(made.json.data as { key: string }).key}` }
    const count = peer.orders().length
    const body = { model: 'sora-2', prompt: 'x', seconds: '4' }
    const answers = await Promise.all(Array.from({ length: 5 }, () => ask('POST /v1/videos', body, own)))
    expect(answers.map(({ status }) => status)).toEqual(Array(5).fill(403))
    expect(peer.orders()).toHaveLength(count)
  })

  it("another user's video does not exist, in any call", async () => {
    const id = await order({ model: 'sora-2' })
    peer.tell(peer.last(), { state: 'done' })
    await poll()
    const eve = await member(server, `eve-${kind.slice(0, 6)}`)
    await server.call(`POST /api/user/${eve.id}/quota`, { change: usd, reason: 'test' })
    const made = await eve.call('POST /api/token/', { name: 't', unlimited_quota: true })
    const own = { authorization: `Bearer sk-${(made.json.data as { key: string }).key}` }
    const lines = [`GET /v1/videos/${id}`, `GET /v1/videos/${id}/content`, `DELETE /v1/videos/${id}`]
    for (const line of [...lines, `GET /v1/video/generations/${id}`, `GET /v1/videos?after=${id}`])
      expect((await ask(line, undefined, own)).status, line).toBe(404)
    expect((await ask('GET /v1/videos', undefined, own)).json.data).toEqual([])
    const link = String((await ask(`GET /v1/video/generations/${id}`)).json.url)
    const other = await order({ model: 'sora-2' })
    for (const forged of [link.replace(/key=.../, 'key=zzz'), link.replace(id, other), link.slice(0, -1)])
      expect((await ask(`GET ${forged}`, undefined, {})).status).toBe(404)
  })

  it('the playground orders in the group that it names, and not in one that its user may not use', async () => {
    await setOptions(server, {
      GroupRatio: { default: 1, vip: 0.5, staff: 0.1 },
      UserUsableGroups: { default: 'all', vip: 'paying' },
    })
    await addChannel(server, { url: peer.url, type: 1, models: 'sora-2', key, group: 'vip,staff' })
    const player = await member(server, `play-${kind.slice(0, 6)}`)
    await server.call(`POST /api/user/${player.id}/quota`, { change: usd, reason: 'test' })
    const play = (group: string) => ask('POST /pg/videos', { group, model: 'sora-2', prompt: 'x', seconds: '4' }, player.headers)
    expect((await play('vip')).status).toBe(200)
    expect(peer.orders().at(-1)?.body).not.toHaveProperty('group')
    expect((await play('staff')).status).toBe(403)
    const videos: Video[] = (await player.call('GET /api/video/self')).json.data
    expect(videos.map(({ model, quota }) => [model, quota])).toEqual([['sora-2', 4 * 0.1 * 0.5 * usd]])
  })

  it('an order whose process died before it knew the job is failed and refunded', async () => {
    const before = await spent()
    const id = await order({ model: 'sora-2' })
    await server.app.db
      .updateTable('videos')
      .set({ upstream_id: '', status: '', ask_at: 1 })
      .where('public_id', '=', id)
      .execute()
    await Promise.all([poll(), poll(0)])
    expect((await ask(`GET /v1/videos/${id}`)).json.status).toBe('failed')
    expect(await spent()).toBe(before)
  })

  it('an unknown job is asked for again, and refunded after a day', async () => {
    const before = await spent()
    const id = await order({ model: 'wan3.0-t2v' })
    peer.jobs.delete(peer.last())
    await poll()
    expect((await ask(`GET /v1/videos/${id}`)).json.status).toBe('queued')
    await poll(25 * 3600)
    expect((await ask(`GET /v1/videos/${id}`)).json.status).toBe('failed')
    expect(await spent()).toBe(before)
  })

  it('a vendor that refuses an order costs nothing, and its reason is told without the key', async () => {
    const before = await spent()
    peer.program = ({ method }) =>
      method === 'POST' ? { json: { base_resp: { status_code: 1026, status_msg: `sensitive ${key}` } } } : undefined
    const refused = await ask('POST /v1/videos', { model: 'MiniMax-H3', prompt: 'x' })
    expect([refused.status >= 400, refused.json.error.code]).toEqual([true, '1026'])
    expect(refused.bytes.toString()).not.toContain(key)
    peer.program = ({ method }) => (method === 'POST' ? { status: 400, json: { error: { message: 'bad prompt' } } } : undefined)
    expect((await ask('POST /v1/videos', { model: 'sora-2', prompt: 'x' })).status).toBe(400)
    expect(await spent()).toBe(before)
  })

  it("openai's SDK runs its own flow: create with a picture, wait, list, download, delete", async () => {
    const client = new OpenAI({ apiKey: token.key, baseURL: `${server.url}/v1`, maxRetries: 0 })
    const picture = await toFile(png, 'a.png', { type: 'image/png' })
    const video = await client.videos.create({
      model: 'sora-2',
      prompt: 'a cat',
      seconds: '8',
      size: '720x1280',
      input_reference: picture,
    })
    expect(video).toMatchObject({ object: 'video', status: 'queued', seconds: '8', size: '720x1280' })
    expect(peer.orders().at(-1)?.body).toMatchObject({
      size: '720x1280',
      input_reference: { image_url: `data:image/png;base64,${png.toString('base64')}` },
    })
    peer.tell(peer.last(), { state: 'done' })
    await poll()
    expect((await client.videos.retrieve(video.id)).status).toBe('completed')
    const listed = []
    for await (const each of client.videos.list({ limit: 2 })) listed.push(each.id)
    expect([listed[0], new Set(listed).size]).toEqual([video.id, listed.length])
    const content = await client.videos.downloadContent(video.id)
    expect(Buffer.from(await content.arrayBuffer()).equals(clipBytes)).toBe(true)
    expect(await client.videos.delete(video.id)).toMatchObject({ id: video.id, deleted: true })
    await expect(client.videos.retrieve(video.id)).rejects.toMatchObject({ status: 404 })
    const running = await client.videos.create({ model: 'sora-2', prompt: 'x' })
    await expect(client.videos.delete(running.id)).rejects.toMatchObject({ status: 409 })
  })
})
