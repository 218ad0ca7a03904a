import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Routes } from '../src/contract/route.ts'
import { allRoutes } from '../src/contract/routes/index.ts'
import { seconds } from '../src/server/base/lib/time/clock.ts'
import { startServer, type TestServer } from './helpers/app.ts'
import { spreadText } from './helpers/canaries.ts'
import { anyDatabase } from './helpers/databases.ts'
import { seedFile } from './helpers/files.ts'
import { type Member, member } from './helpers/members.ts'
import { addChannel } from './helpers/seed.ts'
import { type FakeUpstream, startFakeUpstream } from './helpers/upstream.ts'

/** Resources of one user do not exist for another: part C of docs/reference/trust-cases.md, on complete servers. */

const missingFile = `file-${'z'.repeat(24)}`
/** The name of everything that a user owns. */
const canaryOf = ({ username }: Member) => spreadText(`canary-of-${username}`)
type Call = readonly [line: string, body?: unknown]
/** A call that names a resource, and the resource. */
type Attempt = readonly [(id: number | string) => Call, number | string]

anyDatabase('a server', (_fresh, kind) => {
  let server: TestServer
  let upstream: FakeUpstream
  let ada: Member
  let eve: Member
  let admin: Member
  let keyOfGuest: string

  beforeAll(async () => {
    ;[upstream, server] = await Promise.all([startFakeUpstream(), startServer(kind, { env: { TRUSTED_PROXIES: '127.0.0.0/8' } })])
    // A channel without stored responses, so that this server stores them.
    await addChannel(server, { url: upstream.url, type: 43, models: 'gpt-4o-mini' })
    ;[ada, eve, admin] = await Promise.all([member(server, 'ada'), member(server, 'eve'), member(server, 'admin', 10)])
    // Not eve's: the rows of failed calls quote the ids that were sent, and would be in her log, where the lists are searched for them.
    keyOfGuest = await fundedKey(await member(server, 'guest'), 'own')
  })
  afterAll(async () => {
    await server.stop()
    await upstream.stop()
  })

  /** The key of a new token of a user with quota. */
  async function fundedKey(who: Member, name: string): Promise<string> {
    await admin.call(`POST /api/user/${who.id}/quota`, { change: 500_000, reason: 'test' })
    const made = await who.call('POST /api/token/', { name, unlimited_quota: true })
    return `sk-${(made.json.data as { key: string }).key}`
  }

  async function relay(key: string, [line, body]: Call) {
    const [method = '', path = ''] = line.split(' ')
    const response = await fetch(server.url + path, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    return { status: response.status, text: await response.text() }
  }

  /** One resource of every kind that a user may own, all with one name. */
  async function oneOfEverything(who: Member) {
    const { db } = server.app
    const at = seconds(server.app.now())
    const canary = canaryOf(who)
    const key = await fundedKey(who, canary)
    const token = await db.selectFrom('tokens').select('id').where('user_id', '=', who.id).executeTakeFirstOrThrow()
    const view = await who.call('POST /api/user/self/views', { list: 'log', name: canary, search: {}, hidden: null })
    const passkey = { user_id: who.id, credential_id: canary, public_key: 'x', name: canary, created_at: 1 }
    const order = { user_id: who.id, provider: 'epay', method: 'alipay', trade_no: canary, quota: 5, amount: 5 }
    const paid = { money_minor: 5, currency: 'CNY', status: 'pending', created_time: 1 }
    const done = { user_id: who.id, channel_id: 1, status: 'SUCCESS', action: 'MUSIC', submit_time: at }
    const drawing = {
      ...done,
      action: 'IMAGINE',
      code: 1,
      mj_id: canary,
      prompt: canary,
      image_url: `https://cdn.example/${canary}`,
    }
    const song = {
      ...done,
      platform: 'suno',
      task_id: canary,
      created_at: at,
      updated_at: at,
      data: JSON.stringify({ title: canary }),
    }
    const answer = await relay(key, ['POST /v1/responses', { model: 'gpt-4o-mini', input: canary }])
    const interaction = await relay(key, ['POST /v1beta/interactions', { model: 'gpt-4o-mini', input: canary }])
    await db
      .insertInto('top_ups')
      .values({ ...order, ...paid })
      .execute()
    await db.insertInto('midjourneys').values(drawing).execute()
    await db.insertInto('tasks').values(song).execute()
    const [session] = (await who.call('GET /api/user/sessions')).json.data as { id: number }[]
    const limit = { scope: 'token', subject: String(token.id), name: canary, period: 'day', amount: 100_000 }
    return {
      token: token.id,
      file: await fileOf(who),
      budget: ((await who.call('POST /api/budget/', limit)).json.data as { id: number }).id,
      view: (view.json.data as { id: number }).id,
      passkey: (await db.insertInto('passkeys').values(passkey).returning('id').executeTakeFirstOrThrow()).id,
      session: session?.id ?? 0,
      organisation: ((await admin.call('POST /api/organisation/', { name: canary })).json.data as { id: number }).id,
      response: (JSON.parse(answer.text) as { id: string }).id,
      interaction: (JSON.parse(interaction.text) as { id: string }).id,
    }
  }

  async function fileOf({ id: userId, username }: Member): Promise<string> {
    const id = `file-${spreadText(`file-of-${username}`)}`
    await seedFile(server, { id, channelId: 1, userId })
    return id
  }

  /** All these resources as stored in the database. */
  async function everything(who: Member) {
    const { db } = server.app
    const tables = [
      'tokens',
      'saved_views',
      'passkeys',
      'top_ups',
      'midjourneys',
      'tasks',
      'own_responses',
      'files',
      'logs',
      'ledger',
    ] as const
    const rows = tables.map(async (table) => [
      table,
      await db.selectFrom(table).selectAll().where('user_id', '=', who.id).execute(),
    ])
    const sessions = await db.selectFrom('sessions').select('id').where('user_id', '=', who.id).execute()
    return { ...Object.fromEntries(await Promise.all(rows)), sessions }
  }

  it('[T050] answers for a resource of another user exactly as for one that does not exist', async () => {
    const { token, file, budget, view, passkey, session, organisation, response, interaction } = await oneOfEverything(ada)
    const canary = canaryOf(ada)
    const before = await everything(ada)
    const inConsole: Record<string, readonly Attempt[]> = {
      'DELETE /api/file/self/:file_id': [[(id) => [`DELETE /api/file/self/${id}`], file]],
      'GET /api/token/:id': [[(id) => [`GET /api/token/${id}`], token]],
      'DELETE /api/token/:id': [[(id) => [`DELETE /api/token/${id}`], token]],
      'PUT /api/token/:id/recording': [
        [(id) => [`PUT /api/token/${id}/recording`, { until: seconds(server.app.now()) + 60 }], token],
        [(id) => [`PUT /api/token/${id}/recording`, { until: 0 }], token],
      ],
      'POST /api/token/:id/key': [[(id) => [`POST /api/token/${id}/key`], token]],
      'POST /api/token/:id/move': [[(id) => [`POST /api/token/${id}/move`, { member_id: 0, team_id: 0 }], token]],
      'DELETE /api/user/sessions/:id': [[(id) => [`DELETE /api/user/sessions/${id}`], session]],
      'PUT /api/user/self/views/:id': [[(id) => [`PUT /api/user/self/views/${id}`, { name: 'stolen' }], view]],
      'DELETE /api/user/self/views/:id': [[(id) => [`DELETE /api/user/self/views/${id}`], view]],
      'PUT /api/user/passkey/:id': [[(id) => [`PUT /api/user/passkey/${id}`, { name: 'stolen' }], passkey]],
      'DELETE /api/user/passkey/:id': [[(id) => [`DELETE /api/user/passkey/${id}`], passkey]],
      'PUT /api/budget/:id': [[(id) => [`PUT /api/budget/${id}`, { amount: 1 }], budget]],
      'DELETE /api/budget/:id': [[(id) => [`DELETE /api/budget/${id}`], budget]],
      'by bodies': [
        [(id) => ['POST /api/budget/', { scope: 'token', subject: String(id), period: 'day', amount: 1 }], token],
        [(id) => ['PUT /api/token/', { id, name: 'stolen', unlimited_quota: true }], token],
        [(id) => ['PUT /api/token/?status_only=true', { id, status: 2 }], token],
        ...['delete', 'disable', 'enable'].map(
          (action): Attempt => [(id) => ['POST /api/token/batch', { ids: [id], action }], token],
        ),
      ],
    }
    const own = Object.entries(allRoutes as Routes).filter(([line, { access }]) => access === 'user' && line.includes('/:id'))
    // Who calls for an organisation is asked before what is sent.
    for (const [line] of own.filter(([each]) => each.includes(' /api/organisation/:id')))
      inConsole[line] = [
        [
          (id) => {
            const asked = line.replace(':id', String(id)).replaceAll(/:\w+/g, '1')
            return line.startsWith('GET ') ? [asked] : [asked, {}]
          },
          organisation,
        ],
      ]
    expect(own.map(([line]) => line).filter((line) => !(line in inConsole))).toEqual([])
    for (const [attempt, id] of Object.values(inConsole).flat()) {
      const nobodysId = typeof id === 'number' ? 987_654 : missingFile
      const [theirs, nobodys] = [await eve.call(...attempt(id)), await eve.call(...attempt(nobodysId))]
      // The answer about a file names it.
      const text = theirs.text.replaceAll(file, missingFile)
      expect([theirs.status, text], attempt(id)[0]).toEqual([nobodys.status, nobodys.text])
    }

    const missing = 'x'.repeat(canary.length)
    const unknownOf = (id: string) => id.replace(/\w{6}$/, 'zzzzzz')
    const stored = new Map([response, interaction].map((id): [unknown, string] => [id, unknownOf(id)]))
    const overRelay: readonly Attempt[] = [
      ...['task/:id/fetch', 'task/:id/image-seed', 'image/:id'].map(
        (path): Attempt => [(id) => [`GET /mj/${path.replace(':id', String(id))}`], canary],
      ),
      [(id) => ['POST /mj/task/list-by-condition', { ids: [id] }], canary],
      [(id) => ['POST /mj/submit/modal', { taskId: id, prompt: 'x' }], canary],
      [(id) => [`GET /suno/fetch/${id}`], canary],
      [(id) => ['POST /suno/fetch', { ids: [id], action: 'MUSIC' }], canary],
      ...[
        'GET /v1/responses/:id',
        'GET /v1/responses/:id/input_items',
        'POST /v1/responses/:id/cancel',
        'DELETE /v1/responses/:id',
      ].map((line): Attempt => [(id) => [line.replace(':id', String(id))], response]),
      [(id) => ['POST /v1/responses', { model: 'gpt-4o-mini', input: 'hi', previous_response_id: id }], response],
      ...['GET /v1beta/interactions/:id', 'POST /v1beta/interactions/:id/cancel', 'DELETE /v1beta/interactions/:id'].map(
        (line): Attempt => [(id) => [line.replace(':id', String(id))], interaction],
      ),
      [(id) => ['POST /v1beta/interactions', { model: 'gpt-4o-mini', input: 'hi', previous_interaction_id: id }], interaction],
    ]
    for (const [attempt, id] of overRelay) {
      const other = stored.get(id) ?? missing
      const [theirs, nobodys] = [await relay(keyOfGuest, attempt(id)), await relay(keyOfGuest, attempt(other))]
      // Removes the requested name and the request id.
      const bare = (text: string) =>
        text
          .replaceAll(String(id), '')
          .replaceAll(other, '')
          .replace(/\d{17}\w{12}/g, '')
      expect([theirs.status, bare(theirs.text)], attempt(id)[0]).toEqual([nobodys.status, bare(nobodys.text)])
    }
    expect(await everything(ada)).toEqual(before)
  })

  it('[T050] lists no resources of another user, for any query', async () => {
    const canary = canaryOf(ada)
    const asked = Object.entries(allRoutes as Routes).filter(
      ([line, { access, writes, params }]) => access === 'user' && line.startsWith('GET ') && !writes && !params,
    )
    const named = /^(keyword|token|group|mj_id|task_id|token_name|model_name|request_id)$/
    expect(JSON.stringify(await Promise.all(asked.map(([line]) => ada.call(line))))).toContain(canary)
    for (const [line, { query }] of asked) {
      const names = Object.keys(query?.shape ?? {}).filter((name) => named.test(name))
      for (const sought of ['', ...names.map((name) => `?${name}=${canary}`), `?user_id=${ada.id}&username=ada`]) {
        expect((await eve.call(line + sought)).text, line + sought).not.toContain(canary)
      }
    }
  })

  it('[T050] uses the id of the path, not an id in the body', async () => {
    const before = await everything(ada)
    const mine = await oneOfEverything(eve)
    const [view] = before.saved_views as { id: number }[]
    const [passkey] = before.passkeys as { id: number }[]
    await eve.call(`PUT /api/user/self/views/${mine.view}`, { id: view?.id, user_id: ada.id, name: 'renamed' })
    await eve.call(`PUT /api/user/passkey/${mine.passkey}`, { id: passkey?.id, user_id: ada.id, name: 'renamed' })
    const after = await everything(eve)
    expect([after.saved_views, after.passkeys]).toMatchObject([[{ name: 'renamed' }], [{ name: 'renamed' }]])
    const { quota } = await server.app.db.selectFrom('users').select('quota').where('id', '=', eve.id).executeTakeFirstOrThrow()
    await admin.call(`POST /api/user/${eve.id}/quota`, { id: ada.id, change: 5, reason: 'test' })
    const row = await server.app.db.selectFrom('users').select('quota').where('id', '=', eve.id).executeTakeFirstOrThrow()
    expect([row.quota, await everything(ada)]).toEqual([quota + 5, before])
  })
})
