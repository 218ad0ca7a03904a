import { describe, expect, it } from 'vitest'
import type { Budget } from '../../src/contract/entities/budget.ts'
import type { Drawing, Task } from '../../src/contract/entities/task.ts'
import { linkKey } from '../../src/server/gateway/tasks/links.ts'
import { startServer } from '../helpers/app.ts'
import { addChannel } from '../helpers/seed.ts'
import { startTaskPeer } from '../helpers/task-peer.ts'
import { describeTasks, drawingUnits, spentBy, taskStage, upstreamKey } from './stage.ts'

const lyricsUnits = 5_000

describeTasks('tasks', (suite) => {
  const compose = async (body: object = { prompt: 'la la', tags: 'pop', unknown: 1 }) =>
    String((await suite.stage.ask('POST /suno/submit/music', body)).json.data)

  it('music is ordered, charged once and followed to its end, one by one and together', async () => {
    const { peer, ask, poll } = suite.stage
    const id = await compose()
    expect(peer.asked.at(-1)).toMatchObject({
      path: '/suno/submit/MUSIC',
      body: { prompt: 'la la', tags: 'pop', mv: 'chirp-v3-0' },
    })
    expect(peer.asked.at(-1)?.headers.authorization).toBe(`Bearer ${upstreamKey}`)
    expect(peer.asked.at(-1)?.body).not.toHaveProperty('unknown')
    expect(await suite.since()).toEqual({ spent: drawingUnits, charges: 1, refunds: 0 })
    expect((await ask(`GET /suno/fetch/${id}`)).json).toMatchObject({
      code: 'success',
      data: { task_id: id, status: 'NOT_START' },
    })

    peer.tell(id, {
      status: 'SUCCESS',
      progress: '100%',
      finish_time: 7,
      data: [{ title: 'La', audio_url: 'https://cdn.example/a.mp3' }],
    })
    await poll()
    const done = { task_id: id, action: 'MUSIC', status: 'SUCCESS', progress: '100%', data: [{ title: 'La' }] }
    expect((await ask(`GET /suno/fetch/${id}`)).json).toMatchObject({ code: 'success', message: '', data: done })
    expect((await ask('POST /suno/fetch', { ids: [id, 'nobody'] })).json).toMatchObject({ code: 'success', data: [done] })

    const more = await ask('POST /suno/submit/music', { prompt: 'x', continue_clip_id: 'c1', task_id: id })
    expect(more.json.code).toBe('success')
    expect((await ask('POST /suno/submit/music', { prompt: 'x', continue_clip_id: 'c1', task_id: 'nobody' })).status).toBe(404)
  })

  it('counts in the budget of its channel, which refuses the next order until a refund', async () => {
    const { peer, ask, poll, server, musicChannel } = suite.stage
    const of = { scope: 'channel', subject: String(musicChannel), period: 'total', amount: drawingUnits }
    const { id: budgetId } = await server.call<Budget>('POST /api/budget/', of)
    const spent = async () => (await server.call<{ items: Budget[] }>('GET /api/budget/')).items.map((each) => each.spent)
    const id = await compose()
    expect(await spent()).toEqual([drawingUnits])
    const asked = peer.asked.length
    const refused = await ask('POST /suno/submit/lyrics', { prompt: 'about the sea' })
    expect([refused.status, refused.headers.get('x-ratelimit-limit-budget')]).toEqual([429, null])
    expect(peer.asked).toHaveLength(asked)
    peer.tell(id, { status: 'FAILURE', fail_reason: 'no' })
    await poll()
    expect(await spent()).toEqual([0])
    await compose()
    expect(await spent()).toEqual([drawingUnits])
    await server.call(`DELETE /api/budget/${budgetId}`)
  })

  it('music is sent with the model name that its channel maps to', async () => {
    const { peer, server, musicChannel } = suite.stage
    const map = (model_mapping: string) => server.call('PUT /api/channel/', { id: musicChannel, model_mapping })
    await map('{"chirp-v3-0":"chirp-v4","chirp-x":"chirp-x-2"}')
    await compose()
    expect(peer.asked.at(-1)?.body.mv).toBe('chirp-v4')
    await compose({ prompt: 'la', mv: 'chirp-x' })
    expect(peer.asked.at(-1)?.body.mv).toBe('chirp-x-2')
    await map('{}')
  })

  it('lyrics that fail are refunded once', async () => {
    const { peer, ask, poll, server } = suite.stage
    const id = String((await ask('POST /suno/submit/lyrics', { prompt: 'about the sea' })).json.data)
    expect(await suite.since()).toEqual({ spent: lyricsUnits, charges: 1, refunds: 0 })
    peer.tell(id, { status: 'IN_PROGRESS', fail_reason: 'copyright' })
    await Promise.all([poll(), poll(0), poll(0)])
    await poll(600)
    expect((await ask(`GET /suno/fetch/${id}`)).json).toMatchObject({ data: { status: 'FAILURE', fail_reason: 'copyright' } })
    const shown = await server.call<Task[]>(`GET /api/task/?p=0&task_id=${id}`)
    expect(shown).toMatchObject([{ status: 'FAILURE', quota: 0 }])
    expect(await suite.since()).toEqual({ spent: 0, charges: 1, refunds: 1 })
  })

  it('music that cannot be ordered costs nothing, and the refusal is in its dialect', async () => {
    const { peer, ask, server } = suite.stage
    expect((await ask('POST /suno/submit/opera', { prompt: 'x' })).json).toMatchObject({
      code: 'invalid_action',
      data: null,
    })
    expect((await ask('POST /suno/submit/lyrics', {})).json).toMatchObject({ code: 'prompt_empty', data: null })
    expect((await ask('GET /suno/fetch/nobody')).status).toBe(404)
    expect((await ask('POST /suno/fetch', { ids: Array(201).fill('x') })).status).toBe(400)
    peer.program = () => ({ json: { code: 'busy', message: `no account ${upstreamKey}` } })
    const busy = await ask('POST /suno/submit/music', { prompt: 'x' })
    expect([busy.status, busy.json.code, busy.text.includes(upstreamKey)]).toEqual([500, 'busy', false])
    peer.program = () => ({ json: { code: 'success', data: { evil: true } } })
    expect((await ask('POST /suno/submit/music', { prompt: 'x' })).status).toBe(502)
    expect(await suite.since()).toEqual({ spent: 0, charges: 0, refunds: 0 })
    server.app.traffic.forgive([...server.app.channels.current.byId.values()])
  })

  it('an order is tried with the other key of a channel whose first key is refused, and its attempts are counted', async () => {
    const { server, ask, set } = suite.stage
    const second = await startTaskPeer()
    const keys = ['a-refused-key-0123456789', 'a-valid-key-0123456789']
    const several = { key: keys.join('\n'), multi_key: true, setting: '{"key_mode":"round-robin"}' }
    const channel = { url: second.url, type: 5, models: 'mj_imagine', priority: 9, ...several }
    const extra = await addChannel(server, channel)
    await set('RetryTimes', 1)
    second.program = ({ headers }) =>
      headers['mj-api-secret'] === keys[0] ? { status: 401, json: { description: 'unknown key' } } : undefined
    const attempts = async (outcome: string) => {
      const line = new RegExp(`^sluice_upstream_attempts_total\\{outcome="${outcome}"\\} (\\d+)$`, 'm')
      return Number(line.exec(await server.app.metrics.registry.metrics())?.[1] ?? 0)
    }
    const [answered, refused] = [await attempts('answered'), await attempts('status')]
    for (let round = 0; round < 2; round++) expect((await ask('POST /mj/submit/imagine', { prompt: 'x' })).json.code).toBe(1)
    expect(new Set(second.asked.map(({ headers }) => headers['mj-api-secret']))).toEqual(new Set(keys))
    expect([(await attempts('answered')) - answered, (await attempts('status')) - refused]).toEqual([2, 1])
    await set('RetryTimes', 0)
    await server.call(`DELETE /api/channel/${extra}`)
    await second.stop()
  })

  it('an order is tried on another channel only when the first has certainly not accepted it', async () => {
    const { peer, server, ask, set } = suite.stage
    const second = await startTaskPeer()
    const extra = await addChannel(server, { url: second.url, type: 5, models: 'mj_imagine', priority: 9 })
    await set('RetryTimes', 2)
    second.program = () => ({ json: { code: 23, description: 'queue full' } })
    expect((await ask('POST /mj/submit/imagine', { prompt: 'x' })).json.code).toBe(1)
    second.program = () => 'cut'
    expect((await ask('POST /mj/submit/imagine', { prompt: 'x' })).json.code).toBe(1)
    expect(await suite.since()).toEqual({ spent: 2 * drawingUnits, charges: 2, refunds: 0 })
    const asked = peer.asked.length
    second.program = () => ({ json: ['what is this'] })
    expect((await ask('POST /mj/submit/imagine', { prompt: 'x' })).json.code).toBe(5)
    expect(peer.asked.length).toBe(asked)
    second.program = undefined
    server.app.traffic.forgive([...server.app.channels.current.byId.values()])
    const id = String((await ask('POST /mj/submit/imagine', { prompt: 'x' })).json.result)
    await set('MjActionCheckSuccessEnabled', false)
    await ask('POST /mj/submit/modal', { taskId: id, prompt: 'y' })
    expect(second.asked.at(-1)?.path).toBe('/mj/submit/modal')
    await set('MjActionCheckSuccessEnabled', true)
    await set('RetryTimes', 0)
    await server.call(`DELETE /api/channel/${extra}`)
    await second.stop()
  })

  it('an order whose process died is failed, and refunded if it was charged', async () => {
    const { server, ask, poll } = suite.stage
    const { db, ledger } = server.app
    const orderOf = async () => {
      const id = String((await ask('POST /mj/submit/imagine', { prompt: 'x' })).json.result)
      const row = await db
        .selectFrom('midjourneys')
        .selectAll()
        .where('mj_id', '=', id)
        .orderBy('id', 'desc')
        .executeTakeFirstOrThrow()
      await db.updateTable('midjourneys').set({ mj_id: '', status: '', ask_at: 1 }).where('id', '=', row.id).execute()
      return row
    }
    // The process died after the charge and before it stored the upstream's id.
    const charged = await orderOf()
    // The process died before the charge: there is no ledger row of that request.
    const uncharged = await orderOf()
    await db.updateTable('midjourneys').set({ request_id: 'never-charged' }).where('id', '=', uncharged.id).execute()
    // The process is alive, and its charge is not committed yet.
    const living = await orderOf()
    const hold = {
      request_id: living.request_id,
      user_id: 1,
      token_id: 0,
      amount: 1,
      node: 'other',
      lease_until: 1e10,
      created_at: 1,
    }
    await db.insertInto('holds').values(hold).execute()

    await Promise.all([poll(), poll(0)])
    const state = async ({ id }: { id: number }) =>
      (await db.selectFrom('midjourneys').select('status').where('id', '=', id).executeTakeFirstOrThrow()).status
    expect([await state(charged), await state(uncharged), await state(living)]).toEqual(['FAILURE', 'FAILURE', ''])
    expect(await suite.since()).toEqual({ spent: 2 * drawingUnits, charges: 3, refunds: 1 })
    await db.deleteFrom('holds').where('request_id', '=', living.request_id).execute()
    await poll()
    expect(await state(living)).toBe('FAILURE')
    expect(await suite.since()).toEqual({ spent: drawingUnits, charges: 3, refunds: 2 })
    void ledger
  })

  it('[T192] an image at an internal address is never fetched', async () => {
    const { peer, server, draw, ask } = suite.stage
    const id = await draw()
    const { db } = server.app
    const { id: row } = await db.selectFrom('midjourneys').select('id').where('mj_id', '=', id).executeTakeFirstOrThrow()
    const { port } = new URL(peer.url)
    const asked = peer.asked.length
    for (const host of inside) {
      for (const url of [`http://${host}:${port}/a.png`, `http://${host}/a.png`]) {
        await db.updateTable('midjourneys').set({ image_url: url }).where('id', '=', row).execute()
        const key = linkKey(server.app, 'drawing-image', row)
        expect((await ask(`GET /mj/image/${id}?key=${key}`, undefined, {})).status, url).toBe(502)
      }
    }
    expect(peer.asked.length).toBe(asked)
  })

  it('lists have the form of compatible consoles, filtered, in pages, and without members that only admins may see', async () => {
    const { server, ask, drawingChannel, clock } = suite.stage
    const ids: string[] = []
    for (let each = 0; each < 12; each++)
      ids.push(String((await ask('POST /mj/submit/imagine', { prompt: `p${each}` })).json.result))
    const [song] = [await compose()]
    const all = await server.call<Drawing[]>('GET /api/mj/?p=0&channel_id=&mj_id=&start_timestamp=0&end_timestamp=9999999999999')
    expect(all.map(({ mj_id }) => mj_id)).toEqual(ids.toReversed().slice(0, 10))
    expect(all[0]).toMatchObject({
      channel_id: drawingChannel,
      username: 'root',
      status: 'SUBMITTED',
      progress: '0%',
      quota: drawingUnits,
    })
    const second = await server.call<Drawing[]>('GET /api/mj/?p=1')
    expect(second.slice(0, 2).map(({ mj_id }) => mj_id)).toEqual([ids[1], ids[0]])
    const after = await server.call<Drawing[]>(`GET /api/mj/?before=${all.at(-1)?.id}`)
    expect(after.slice(0, 2)).toEqual(second.slice(0, 2))
    const own = await server.call<Drawing[]>(`GET /api/mj/self/?p=0&mj_id=${ids[3]}`)
    expect(own).toMatchObject([{ mj_id: ids[3], channel_id: 0, username: '', prompt: 'p3' }])
    expect(await server.call('GET /api/mj/?p=0&mj_id=nobody')).toEqual([])
    expect(await server.call(`GET /api/mj/?p=0&start_timestamp=${clock.nowMs + 1000}`)).toEqual([])
    expect(await server.call('GET /api/mj/?paged=true&page_size=5&username=root&action=imagine&status=submitted')).toMatchObject({
      page: 0,
      page_size: 5,
      total: expect.any(Number),
    })
    const seconds = Math.floor(clock.nowMs / 1000)
    const songs = await server.call<Task[]>(
      `GET /api/task/?p=0&channel_id=&task_id=${song}&start_timestamp=${seconds - 5}&end_timestamp=NaN`,
    )
    expect(songs).toMatchObject([
      { task_id: song, platform: 'suno', action: 'MUSIC', properties: { input: 'la la' }, progress: '0%' },
    ])
    expect(await server.call(`GET /api/task/self?p=0&task_id=${song}`)).toMatchObject([{ task_id: song, channel_id: 0 }])
    expect(await server.call('GET /api/task/?action=LYRICS&status=NOT_START')).toEqual([])
  })
})

describe('tasks of two nodes', () => {
  it('[T122] are refunded once when both nodes poll and the upstream reports at the same time', async () => {
    const stage = await taskStage('postgres')
    const other = await startServer('postgres', { database: stage.server.database, now: () => stage.clock.now() })
    const ids = await Promise.all(Array.from({ length: 20 }, () => stage.draw()))
    for (const id of ids) stage.peer.tell(id, { status: 'FAILURE', failReason: 'no' })
    await Promise.all([stage.poll(), stage.poll(0, other), stage.poll(0), stage.poll(0, other)])
    expect(await spentBy(stage.server)).toMatchObject({ spent: 0, charges: 20, refunds: 20, held: 0 })
    await other.stop()
    await stage.stop()
  })
})

/** Loopback, private, link-local and shared addresses, in the forms in which filters miss them. */
const inside = [
  ...['127.0.0.1', 'localhost', '0', '0.0.0.0', '127.1', '2130706433', '0x7f.1', '0177.0.0.1', '①②⑦.0.0.1', '[::1]', '[::]'],
  ...[
    '[::ffff:127.0.0.1]',
    '[64:ff9b::7f00:1]',
    '[2002:7f00:1::]',
    '[fe80::1]',
    '[fd00:ec2::254]',
    '169.254.169.254',
    '10.0.0.1',
  ],
  ...[
    '192.168.1.1',
    '172.16.0.1',
    '100.64.0.1',
    '198.18.0.1',
    '168.63.129.16',
    '224.0.0.1',
    '255.255.255.255',
    'user:pw@127.0.0.1',
  ],
]
