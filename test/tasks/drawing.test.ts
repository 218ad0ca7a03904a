import { expect, it } from 'vitest'
import type { Budget } from '../../src/contract/entities/budget.ts'
import type { Drawing } from '../../src/contract/entities/task.ts'
import { purgeTasks } from '../../src/server/gateway/tasks/purge.ts'
import { addToken } from '../helpers/seed.ts'
import { describeTasks, drawingUnits, smallUnits, spentBy, upstreamKey } from './stage.ts'

describeTasks('drawings', (suite) => {
  it('are ordered, charged once, followed to their end, and their image is served through this site', async () => {
    const { peer, ask, poll, fetched, server } = suite.stage
    const ordered = await ask('POST /mj/submit/imagine', {
      prompt: 'a cat',
      notifyHook: 'https://me.example/hook',
      state: 's1',
    })
    expect(ordered.json).toMatchObject({ code: 1, description: 'Submit success' })
    const id = String(ordered.json.result)
    const sent = peer.asked.at(-1)
    expect(sent?.headers['mj-api-secret']).toBe(upstreamKey)
    expect(sent?.body).toEqual({ prompt: 'a cat', state: 's1' })
    expect(await suite.since()).toEqual({ spent: drawingUnits, charges: 1, refunds: 0 })

    peer.tell(id, { status: 'IN_PROGRESS', progress: '47%', imageUrl: `${peer.url}/half.png`, startTime: 5 })
    await poll()
    expect(await fetched(id)).toMatchObject({
      id,
      status: 'IN_PROGRESS',
      progress: '47%',
      action: 'IMAGINE',
      prompt: 'a cat',
      state: 's1',
    })
    peer.tell(id, {
      status: 'SUCCESS',
      progress: '100%',
      imageUrl: `${peer.url}/whole.png`,
      promptEn: 'a cat',
      buttons: [{ customId: 'MJ::JOB::upsample::1::x', label: 'U1' }],
    })
    await poll()
    const done = await fetched(id)
    expect(done).toMatchObject({ status: 'SUCCESS', progress: '100%', promptEn: 'a cat', buttons: [{ label: 'U1' }] })
    expect(done.imageUrl).toMatch(new RegExp(`/mj/image/${id}\\?key=`))
    expect(JSON.stringify(done)).not.toContain(peer.url)

    const path = String(done.imageUrl).replace(/^.*?(?=\/mj\/image)/, '')
    expect((await ask(`GET ${path}`, undefined, {})).status).toBe(502)
    Object.assign(server.app.upstream, { untrusted: anywhere })
    const picture = await ask(`GET ${path}`, undefined, {})
    expect([picture.status, picture.headers.get('content-type')]).toEqual([200, 'image/png'])
    expect(picture.headers.get('content-security-policy')).toContain('sandbox')
    expect(picture.headers.get('x-content-type-options')).toBe('nosniff')

    peer.program = ({ path }) =>
      path.endsWith('.png') ? { bytes: Buffer.from('<svg onload="alert(1)"/>'), type: 'image/png' } : undefined
    expect((await ask(`GET ${path}`, undefined, {})).status).toBe(502)
    // [T197] For ambiguous content the first bytes decide; content that a browser would execute is never served.
    const page = '<!doctype html><script>alert(1)</script>'
    const twoTypes: readonly (readonly [Buffer, string, number | string])[] = [
      [Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), Buffer.from(page)]), 'text/html', 'image/png'],
      [Buffer.from(`GIF89a/*${page}*/=1;alert(1)`), 'application/javascript', 'image/gif'],
      [
        Buffer.concat([Buffer.from('\xff\xd8\xff\xe0', 'latin1'), Buffer.from('PK\x03\x04'), Buffer.from(page)]),
        'application/zip',
        'image/jpeg',
      ],
      [Buffer.from(`${page}\x89PNG\r\n\x1a\n`, 'latin1'), 'image/png', 502],
      [Buffer.from(`%PDF-1.7\n${page}`), 'image/png', 502],
      [
        Buffer.from('<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'),
        'image/gif',
        502,
      ],
      [Buffer.from('BM'), 'image/png', 502],
      [Buffer.alloc(0), 'image/png', 502],
    ]
    for (const [bytes, type, expected] of twoTypes) {
      peer.program = ({ path }) => (path.endsWith('.png') ? { bytes, type } : undefined)
      const { status, headers } = await ask(`GET ${path}`, undefined, {})
      expect(status === 200 ? headers.get('content-type') : status, `${type} ${bytes.subarray(0, 12)}`).toBe(expected)
      if (status === 200)
        expect([headers.get('x-content-type-options'), headers.get('content-security-policy')]).toEqual([
          'nosniff',
          expect.stringContaining('sandbox'),
        ])
    }
    peer.program = ({ path }) => (path.endsWith('.png') ? { bytes: Buffer.alloc(25 * 1024 * 1024, 137) } : undefined)
    expect((await ask(`GET ${path}`, undefined, {})).status).toBe(502)
  })

  it('count in the budgets of channel and token from the order on, need room in both, and are subtracted by a refund', async () => {
    const { peer, ask, draw, poll, server, drawingChannel, token } = suite.stage
    const add = (scope: string, subject: number, amount: number) =>
      server.call<Budget>('POST /api/budget/', { scope, subject: String(subject), period: 'month', amount })
    const ofChannel = await add('channel', drawingChannel, drawingUnits * 1.5)
    const ofToken = await add('token', token.id, drawingUnits * 2)
    const counted = async () => {
      const { items } = await server.call<{ items: Budget[] }>('GET /api/budget/')
      return items.map(({ spent, held }) => [spent, held])
    }
    const ordered = await ask('POST /mj/submit/imagine', { prompt: 'a cat' })
    // In dollars: 0.1 of 0.2.
    expect(['limit', 'remaining'].map((name) => ordered.headers.get(`x-ratelimit-${name}-budget`))).toEqual(['0.2', '0.1'])
    expect(await counted()).toEqual(Array(2).fill([drawingUnits, 0]))

    const asked = peer.asked.length
    const refused = await ask('POST /mj/submit/imagine', { prompt: 'a dog' })
    expect([refused.status, refused.headers.get('x-should-retry')]).toEqual([429, 'false'])
    expect(refused.text).toContain('budget')
    expect(peer.asked).toHaveLength(asked)
    expect(await suite.since()).toMatchObject({ spent: drawingUnits })
    expect(await counted()).toEqual(Array(2).fill([drawingUnits, 0]))
    const given = await server.app.db.selectFrom('midjourneys').select('id').where('status', '=', '').execute()
    expect(given).toEqual([])

    peer.tell(String(ordered.json.result), { status: 'FAILURE', failReason: 'no' })
    await poll()
    expect(await counted()).toEqual(Array(2).fill([0, 0]))
    expect(await draw()).not.toBe('undefined')
    expect(await counted()).toEqual(Array(2).fill([drawingUnits, 0]))
    await server.call(`PUT /api/budget/${ofChannel.id}`, { amount: drawingUnits * 9 })
    await draw()
    const beyond = await ask('POST /mj/submit/imagine', { prompt: 'a bird' })
    expect([beyond.status, beyond.headers.get('x-ratelimit-remaining-budget')]).toEqual([429, '0'])
    for (const { id } of [ofChannel, ofToken]) await server.call(`DELETE /api/budget/${id}`)
  })

  it('[T062] show their image only to the holder of its link', async () => {
    const { peer, ask, draw, poll, fetched } = suite.stage
    const [mine, other] = [await draw(), await draw()]
    for (const id of [mine, other]) peer.tell(id, { status: 'SUCCESS', imageUrl: `${peer.url}/a.png` })
    await poll()
    const key = new URL(String((await fetched(mine)).imageUrl), 'http://x').searchParams.get('key')
    const asked = peer.asked.length
    for (const path of [`${mine}`, `${mine}?key=`, `${other}?key=${key}`, `${mine}?key=${key}0`, `nobody?key=${key}`])
      expect((await ask(`GET /mj/image/${path}`, undefined, {})).status, path).toBe(404)
    expect(peer.asked.length).toBe(asked)
  })

  it('offer every action, at the price of each, with the key in the header of the proxies', async () => {
    const { peer, ask, draw, poll, token } = suite.stage
    const id = await draw()
    peer.tell(id, { status: 'SUCCESS', imageUrl: 'https://cdn.example/a.png' })
    await poll()
    const orders: [string, object, number][] = [
      ['submit/change', { taskId: id, action: 'UPSCALE', index: 1 }, smallUnits],
      ['submit/simple-change', { content: `${id} V2` }, drawingUnits],
      ['submit/action', { taskId: id, customId: 'MJ::JOB::reroll::0::abc' }, drawingUnits],
      ['submit/action', { taskId: id, customId: 'MJ::Inpaint::1::abc' }, 0],
      ['submit/blend', { base64Array: ['data:image/png;base64,AA', 'data:image/png;base64,BB'] }, drawingUnits],
      ['submit/describe', { base64: 'data:image/png;base64,AA' }, smallUnits],
      ['submit/shorten', { prompt: 'a long cat' }, drawingUnits],
      ['submit/modal', { taskId: id, prompt: 'more' }, drawingUnits],
      ['insight-face/swap', { sourceBase64: 'AA', targetBase64: 'BB' }, smallUnits],
      ['submit/upload-discord-images', { base64Array: ['data:image/png;base64,AA'] }, smallUnits],
    ]
    let spent = (await suite.since()).spent
    for (const [path, body, units] of orders) {
      const { json, text } = await ask(`POST /mj/${path}`, body, {
        authorization: 'Bearer midjourney-proxy',
        'mj-api-secret': token.key,
      })
      expect(json.code, `${path} ${text}`).toBe(1)
      expect(peer.asked.at(-1)?.path).toBe(`/mj/${path}`)
      spent += units
      expect((await suite.since()).spent, path).toBe(spent)
    }
    const fast = await ask('POST /mj-fast/mj/submit/imagine', { prompt: 'x' })
    expect([fast.json.code, peer.asked.at(-1)?.path]).toEqual([1, '/mj/submit/imagine'])
    expect((await ask(`GET /mj/task/${id}/image-seed`)).json).toEqual({ code: 1, description: 'ok', result: '777' })
    const listed = await ask('POST /mj/task/list-by-condition', { ids: [id, 'nobody'] })
    expect(listed.json).toMatchObject([{ id }])
  })

  it('request a mode from the upstream only if it has its own price', async () => {
    const { peer, ask, server, set } = suite.stage
    const prices = { ...server.app.options.current.ModelPrice }
    await set('ModelPrice', JSON.stringify({ ...prices, mj_turbo_imagine: 0.2 }))
    await ask('POST /mj-turbo/submit/imagine', { prompt: 'x' })
    expect(peer.asked.at(-1)?.path).toBe('/mj-turbo/mj/submit/imagine')
    expect((await suite.since()).spent).toBe(2 * drawingUnits)
  })

  it('follow the options for drawings', async () => {
    const { peer, ask, draw, set } = suite.stage
    const id = await draw()
    const early = await ask('POST /mj/submit/change', { taskId: id, action: 'UPSCALE', index: 1 })
    expect([early.status, early.json.code]).toEqual([400, 4])
    await set('MjActionCheckSuccessEnabled', false)
    await set('MjModeClearEnabled', true)
    await set('MjAccountFilterEnabled', true)
    await set('MjNotifyEnabled', true)
    expect((await ask('POST /mj/submit/change', { taskId: id, action: 'UPSCALE', index: 1 })).json.code).toBe(1)
    const wish = { prompt: 'cat --fast --v 6', accountFilter: { instanceId: '1' }, notifyHook: 'https://me.example/hook' }
    await ask('POST /mj/submit/imagine', wish)
    expect(peer.asked.at(-1)?.body).toEqual({ ...wish, prompt: 'cat --v 6' })
    for (const key of ['MjModeClearEnabled', 'MjAccountFilterEnabled', 'MjNotifyEnabled']) await set(key, false)
    await set('MjActionCheckSuccessEnabled', true)
  })

  it('[T122] that fail are refunded once to user and token, after any number of reports', async () => {
    const { peer, server, ask, poll, fetched, set } = suite.stage
    const limited = await addToken(server, { unlimited_quota: false, remain_quota: drawingUnits })
    const bearer = { authorization: `Bearer ${limited.key}` }
    await set('ServerAddress', 'https://site.example')
    await set('MjNotifyEnabled', true)
    const id = String((await ask('POST /mj/submit/imagine', { prompt: 'x' }, bearer)).json.result)
    const hook = String(peer.asked.at(-1)?.body.notifyHook).replace('https://site.example', '')
    await set('MjNotifyEnabled', false)
    const tokenRow = () => server.app.db.selectFrom('tokens').selectAll().where('id', '=', limited.id).executeTakeFirstOrThrow()
    expect(await tokenRow()).toMatchObject({ remain_quota: 0, used_quota: drawingUnits, status: 4 })
    expect((await ask('POST /mj/submit/imagine', { prompt: 'x' }, bearer)).status).toBe(401)

    peer.tell(id, { status: 'FAILURE', failReason: `no: ${upstreamKey}` })
    const report = () => ask(`POST ${hook}`, { id, status: 'FAILURE', failReason: 'no' }, {})
    const all = await Promise.all([...Array.from({ length: 20 }, report), poll(), poll(0), poll(0)])
    expect(all.slice(0, 20).map((answer) => typeof answer === 'object' && answer.status)).toEqual(Array(20).fill(200))
    expect(await suite.since()).toEqual({ spent: 0, charges: 1, refunds: 1 })
    expect(await tokenRow()).toMatchObject({ remain_quota: drawingUnits, used_quota: 0, status: 1 })

    // Neither success after failure nor a step back changes an ended task.
    await ask(`POST ${hook}`, { id, status: 'SUCCESS', imageUrl: 'https://cdn.example/late.png' }, {})
    await ask(`POST ${hook}`, { id, status: 'NOT_START', submitTime: 0, progress: '0%' }, {})
    await poll(7200)
    expect((await ask(`GET /mj/task/${id}/fetch`, undefined, bearer)).json).toMatchObject({
      status: 'FAILURE',
      progress: '100%',
    })
    expect(JSON.stringify(await fetched(id))).not.toContain(upstreamKey)
    expect(await suite.since()).toEqual({ spent: 0, charges: 1, refunds: 1 })
    expect((await ask('POST /mj/submit/imagine', { prompt: 'x' }, bearer)).json.code).toBe(1)
  })

  it('that fail show no cost in lists and files', async () => {
    const { peer, draw, poll, server } = suite.stage
    const [failed, drawn] = [await draw(), await draw()]
    const costs = async (list: string) => {
      const [rows, file] = await Promise.all([
        server.call<Drawing[]>(`GET ${list}/?p=0`),
        server.raw(`GET ${list}/export.csv`).then((response) => response.text()),
      ])
      const [head = [], ...lines] = file
        .replace('\ufeff', '')
        .trim()
        .split('\r\n')
        .map((line) => line.split(','))
      const inFile = (id: string) => lines.find((line) => line[head.indexOf('mj_id')] === id)?.[head.indexOf('quota')]
      return [failed, drawn].map((id) => [rows.find(({ mj_id }) => mj_id === id)?.quota, inFile(id)])
    }
    const charged = [drawingUnits, String(drawingUnits)]
    expect(await costs('/api/mj')).toEqual([charged, charged])
    peer.tell(failed, { status: 'FAILURE', failReason: 'no' })
    peer.tell(drawn, { status: 'SUCCESS', imageUrl: 'https://cdn.example/cat.png' })
    await poll()
    for (const list of ['/api/mj', '/api/mj/self']) expect(await costs(list)).toEqual([[0, '0'], charged])
  })

  it('that have succeeded are never refunded, and never go back', async () => {
    const { peer, draw, poll, fetched } = suite.stage
    const id = await draw()
    peer.tell(id, { status: 'IN_PROGRESS', progress: '60%' })
    await poll()
    peer.tell(id, { status: 'SUBMITTED', progress: '10%' })
    await poll()
    expect(await fetched(id)).toMatchObject({ status: 'IN_PROGRESS', progress: '60%' })
    peer.tell(id, { status: 'SUCCESS', imageUrl: 'https://cdn.example/a.png' })
    await poll()
    peer.tell(id, { status: 'FAILURE', failReason: 'changed my mind' })
    await poll(7200)
    expect(await fetched(id)).toMatchObject({ status: 'SUCCESS', failReason: '' })
    expect(await suite.since()).toEqual({ spent: drawingUnits, charges: 1, refunds: 0 })
  })

  it('[T062] accept reports only at their secret address, and only about themselves', async () => {
    const { peer, ask, draw, fetched, set, token } = suite.stage
    await set('MjNotifyEnabled', true)
    const [mine, other] = [await draw(), await draw()]
    const hook = String(peer.asked.at(-1)?.body.notifyHook).replace('https://site.example', '')
    await set('MjNotifyEnabled', false)
    const failure = { id: mine, status: 'FAILURE', failReason: 'x' }
    const bearer = { authorization: `Bearer ${token.key}` }
    expect((await ask('POST /mj/notify', failure, bearer)).status).toBe(403)
    expect((await ask('POST /mj/notify?key=1.00', failure, bearer)).status).toBe(403)
    expect((await ask(`POST ${hook}`, failure, {})).status).toBe(403)
    expect(await fetched(mine)).toMatchObject({ status: 'SUBMITTED' })
    expect((await ask(`POST ${hook}`, { id: other, status: 'IN_PROGRESS', progress: '5%' }, {})).status).toBe(200)
    expect(await fetched(other)).toMatchObject({ status: 'IN_PROGRESS', progress: '5%' })
    expect((await suite.since()).refunds).toBe(0)
  })

  it('[T050] of other users are treated as missing', async () => {
    const { server, ask, draw } = suite.stage
    const id = await draw()
    const user = {
      username: 'second',
      username_key: 'second',
      display_name: '',
      password_hash: '',
      aff_code: 'second',
      created_time: 0,
    }
    const row = await server.app.db.insertInto('users').values(user).returning('id').executeTakeFirstOrThrow()
    const token = await addToken(server)
    await server.app.db.updateTable('tokens').set({ user_id: row.id }).where('id', '=', token.id).execute()
    server.app.bus.publish('token', token.id)
    const bearer = { authorization: `Bearer ${token.key}` }
    for (const path of [`task/${id}/fetch`, `task/${id}/image-seed`])
      expect((await ask(`GET /mj/${path}`, undefined, bearer)).status).toBe(404)
    expect((await ask('POST /mj/task/list-by-condition', { ids: [id] }, bearer)).json).toEqual([])
    expect((await ask('POST /mj/submit/modal', { taskId: id, prompt: 'x' }, bearer)).status).toBe(404)
    const poor = await ask('POST /mj/submit/imagine', { prompt: 'x' }, bearer)
    expect([poor.status, poor.json.code, poor.json.description]).toEqual([403, 4, expect.stringContaining('quota')])
  })

  it('that no upstream accepts are free, with the reason in the dialect of the proxies', async () => {
    const { peer, ask, server } = suite.stage
    const order = () => ask('POST /mj/submit/imagine', { prompt: 'x' })
    peer.program = () => ({
      json: { code: 24, description: `banned by ${upstreamKey}`, properties: { bannedWord: 'x', secret: 'y' } },
    })
    const banned = await order()
    expect([banned.status, banned.json]).toEqual([
      200,
      { code: 24, description: 'banned by …', result: '', properties: { bannedWord: 'x' } },
    ])
    peer.program = () => ({ json: { code: 1, description: 'ok' } })
    expect((await order()).json).toMatchObject({ code: 5 })
    peer.program = () => ({ json: { code: 1, description: 'ok', result: { $ne: 1 } } })
    expect((await order()).json).toMatchObject({ code: 5 })
    peer.program = () => ({ bytes: Buffer.alloc(2 * 1024 * 1024, 32), type: 'application/json' })
    expect((await order()).status).toBe(502)
    peer.program = () => 'cut'
    expect((await order()).json).toMatchObject({ code: 5 })
    peer.program = () => ({ status: 429, json: { code: 23, description: 'slow down' } })
    const busy = await order()
    expect([busy.status, busy.json.code]).toEqual([429, 30])
    peer.program = undefined
    expect((await ask('POST /mj/submit/imagine', { prompt: ' ' })).json).toMatchObject({ code: 4 })
    expect((await ask('POST /mj/submit/action', { taskId: '1', customId: 'x' })).status).toBe(400)
    expect((await ask('POST /mj/submit/imagine', { prompt: 'x' }, {})).status).toBe(401)
    expect(await suite.since()).toEqual({ spent: 0, charges: 0, refunds: 0 })
    const rows = await server.app.db.selectFrom('midjourneys').select('id').where('status', '=', '').execute()
    expect(rows).toEqual([])
    server.app.traffic.forgive([...server.app.channels.current.byId.values()])
  })

  it('that the upstream had made before for the same user are not charged again', async () => {
    const { peer, ask, draw, poll, fetched } = suite.stage
    const id = await draw()
    peer.program = ({ path }) =>
      path.includes('submit')
        ? { json: { code: 21, description: 'exists', result: id, properties: { status: 'SUCCESS' } } }
        : undefined
    expect((await ask('POST /mj/submit/imagine', { prompt: 'a cat' })).json).toMatchObject({ code: 21, result: id })
    expect(await suite.since()).toEqual({ spent: drawingUnits, charges: 1, refunds: 0 })
    // Two rows with one upstream id, as for a modal dialog and its `modal` order, both end.
    peer.program = ({ path }) => (path.includes('submit') ? { json: { code: 1, description: '', result: id } } : undefined)
    await ask('POST /mj/submit/modal', { taskId: id, prompt: 'x' })
    peer.program = undefined
    peer.tell(id, { status: 'FAILURE', failReason: 'no' })
    await poll()
    expect(await suite.since()).toEqual({ spent: 0, charges: 2, refunds: 2 })
    expect(await fetched(id)).toMatchObject({ status: 'FAILURE' })
  })

  it('that are ordered twice at once are charged once, whichever is reported as a repetition', async () => {
    const { peer, ask } = suite.stage
    for (const codes of [
      [1, 21],
      [21, 1],
    ]) {
      const result = `twin-${codes[0]}`
      const left = [...codes]
      peer.program = ({ path }) =>
        path.includes('submit') ? { json: { code: left.shift(), description: '', result, properties: {} } } : undefined
      const order = () => ask('POST /mj/submit/imagine', { prompt: 'twins' })
      const answers = await Promise.all([order(), order()])
      expect(answers.map(({ json }) => json.result)).toEqual([result, result])
    }
    expect(await suite.since()).toEqual({ spent: 2 * drawingUnits, charges: 2, refunds: 0 })
  })

  it('are subtracted from the hour buckets of the dashboard when they fail', async () => {
    const { peer, draw, poll, server } = suite.stage
    const sums = async () => {
      const { db } = server.app
      const rows = await db
        .selectFrom('quota_data')
        .select(['model_name', 'quota', 'count'])
        .where('channel_id', '>', 0)
        .execute()
      const drawn = rows.filter(({ model_name }) => model_name === 'mj_imagine')
      return {
        quota: drawn.reduce((sum, { quota }) => sum + quota, 0),
        count: drawn.reduce((sum, { count }) => sum + count, 0),
      }
    }
    const earlier = await sums()
    const id = await draw()
    expect(await sums()).toEqual({ quota: earlier.quota + drawingUnits, count: earlier.count + 1 })
    peer.tell(id, { status: 'FAILURE', failReason: 'no' })
    await poll()
    expect(await sums()).toEqual({ quota: earlier.quota, count: earlier.count + 1 })
  })

  it('are sent with the header overrides of their channel, and polled with them too', async () => {
    const { peer, draw, poll, server, drawingChannel } = suite.stage
    const set = (header_override: object) =>
      server.call('PUT /api/channel/', { id: drawingChannel, setting: JSON.stringify({ header_override }) })
    await set({ 'x-tenant': 'blue', 'mj-api-secret': null, authorization: 'Bearer {api_key}' })
    peer.asked.length = 0
    await draw()
    await poll()
    expect(peer.asked.map(({ path }) => path)).toEqual(['/mj/submit/imagine', '/mj/task/list-by-condition'])
    for (const { headers } of peer.asked)
      expect([headers['x-tenant'], headers.authorization, headers['mj-api-secret']]).toEqual([
        'blue',
        `Bearer ${upstreamKey}`,
        undefined,
      ])
    await set({})
  })

  it('that have ended are deleted when they are older than the option allows, and their charges stay', async () => {
    const { peer, draw, poll, server, set } = suite.stage
    const [ended, running] = [await draw('ended'), await draw('running')]
    peer.tell(ended, { status: 'SUCCESS', progress: '100%' })
    await poll()
    const charges = (await spentBy(server)).charges
    const kept = async () =>
      (await server.app.db.selectFrom('midjourneys').select('mj_id').where('mj_id', 'in', [ended, running]).execute()).map(
        ({ mj_id }) => mj_id,
      )
    const twoDaysMs = 2 * 86_400_000
    await server.app.db
      .updateTable('midjourneys')
      .set((eb) => ({ submit_time: eb('submit_time', '-', twoDaysMs) }))
      .where('mj_id', 'in', [ended, running])
      .execute()
    expect(await purgeTasks(server.app)).toBe(0)
    await set('TaskRetentionDays', 3)
    expect(await purgeTasks(server.app)).toBe(0)
    await set('TaskRetentionDays', 1)
    expect(await purgeTasks(server.app)).toBeGreaterThan(0)
    expect([await kept(), (await spentBy(server)).charges]).toEqual([[running], charges])
    await set('TaskRetentionDays', 0)
  })

  it('whose upstream is dead are polled less and less often, end in time, and are refunded', async () => {
    const { peer, draw, poll, fetched } = suite.stage
    const id = await draw()
    for (const bad of [
      'cut',
      { status: 500, json: {} },
      { json: { nonsense: true } },
      { bytes: Buffer.alloc(13 * 1024 * 1024, 32) },
    ] as const) {
      peer.program = () => bad
      await poll(300)
      expect(await fetched(id)).toMatchObject({ status: 'SUBMITTED' })
    }
    const asked = peer.asked.length
    await poll(10)
    expect(peer.asked.length).toBe(asked)
    peer.program = () => ({ json: [null, 1, { id: 'of somebody else', status: 'FAILURE' }, { id, status: 7, progress: {} }] })
    await poll(300)
    expect(await fetched(id)).toMatchObject({ status: 'SUBMITTED' })
    peer.program = () => 'cut'
    await poll(3600)
    expect(await fetched(id)).toMatchObject({ status: 'FAILURE', failReason: expect.stringContaining('in time') })
    expect(await suite.since()).toEqual({ spent: 0, charges: 1, refunds: 1 })
  })

  it('outlive the disabling of their channel, and end with its removal', async () => {
    const { peer, server, draw, poll, fetched, drawingChannel } = suite.stage
    const [done, lost] = [await draw(), await draw()]
    await server.call('PUT /api/channel/', { id: drawingChannel, status: 2 })
    peer.tell(done, { status: 'SUCCESS', imageUrl: 'https://cdn.example/a.png' })
    await poll()
    expect(await fetched(done)).toMatchObject({ status: 'SUCCESS' })
    expect(await fetched(lost)).toMatchObject({ status: 'SUBMITTED' })
    expect(await server.raw(`GET /api/channel/test/${drawingChannel}`).then((answer) => answer.json())).toMatchObject({
      success: false,
      code: 'channel_not_testable',
    })
    await server.call(`DELETE /api/channel/${drawingChannel}`)
    await poll()
    expect(await fetched(lost)).toMatchObject({ status: 'FAILURE' })
    expect((await suite.since()).refunds).toBe(1)
  })
})

const anywhere = {
  allows: () => true,
  allowsPort: () => true,
  resolve: async () => [{ address: '127.0.0.1', family: 4 }],
}
