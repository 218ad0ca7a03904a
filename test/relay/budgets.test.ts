import { expect, it, onTestFinished } from 'vitest'
import { type Budget, budgetInput, budgetLimits } from '../../src/contract/entities/budget.ts'
import { role } from '../../src/contract/roles.ts'
import { createBudget, deleteBudget, listBudgets } from '../../src/server/gateway/limits/manage-budgets.ts'
import { serverOfTest, startServer, type TestServer } from '../helpers/app.ts'
import { newClock } from '../helpers/clock.ts'
import { eachDatabase } from '../helpers/databases.ts'
import { member } from '../helpers/members.ts'
import { addChannel, addToken, books, requireBalancedBooks, setOptions } from '../helpers/seed.ts'
import { askWithRetry, chat, completion, eventually, httpUpstream, model, settledCharges, stage } from './stage.ts'

const answering = () =>
  httpUpstream((_request, response) => response.setHeader('content-type', 'application/json').end(completion()))

/** One unit for each token: a call of 11 and 7 tokens costs 18. */
async function atOneUnit(server: TestServer): Promise<void> {
  const ones = JSON.stringify({ [model]: 1, 'gpt-4o-gizmo-*': 1 })
  for (const key of ['ModelRatio', 'CompletionRatio']) await server.call('PUT /api/option/', { key, value: ones })
}

const add = (server: TestServer, budget: object) =>
  server.call<Budget>('POST /api/budget/', { period: 'day', amount: 1000, ...budget })
const small = (more: object = {}) => chat({ max_tokens: 7, ...more })
const usd = 500_000

/** The sums of budgets are those of their charges, and nothing is held. */
async function requireBalancedBudgets(server: TestServer): Promise<void> {
  const { db } = server.app
  const rows = await db.selectFrom('budget_sums').selectAll().execute()
  const charges = await db.selectFrom('budget_charges').selectAll().execute()
  for (const { budget_id, start, charged, held } of rows) {
    const own = charges.filter((row) => row.budget_id === budget_id && row.start === start)
    expect({ held, charged }).toEqual({ held: 0, charged: own.reduce((sum, row) => sum + row.amount, 0) })
  }
}

eachDatabase('budgets', (_fresh, kind) => {
  it('refuse in the dialect of the caller, name the budget and its renewal, and renew at midnight in the time zone of the site', async () => {
    const clock = newClock(Date.parse('2026-03-28T22:30:00Z'))
    const { server, token, ask } = await stage(kind, await answering(), { server: { now: () => clock.now() } })
    await atOneUnit(server)
    await setOptions(server, { SiteTimeZone: 'Europe/Berlin' })
    const budget = await add(server, { scope: 'token', subject: String(token.id), amount: 600 })
    // Budgets that are shared with others, and those that only notify, are not disclosed.
    const others = [
      { scope: 'model', subject: model, amount: 599 },
      { scope: 'group', subject: 'default', amount: 599 },
      { scope: 'user', subject: '1', amount: 500, is_hard: false },
      { scope: 'user', subject: '1', amount: 500_000 },
    ]
    const ids = []
    for (const other of others) ids.push((await add(server, other)).id)
    const first = await ask(small())
    expect(first.status, first.text).toBe(200)
    const left = Number(first.headers.get('x-ratelimit-remaining-budget'))
    expect(told(first.headers, 'x-ratelimit-limit-budget', 'x-ratelimit-reset-budget')).toEqual(['0.0012', '30m0s'])
    expect(left).toBeGreaterThan(0)
    expect(left).toBeLessThan(0.0012)
    await settledCharges(server)
    for (const id of ids) await server.call(`DELETE /api/budget/${id}`)

    const refused = await ask(small({ max_tokens: 900 }))
    expect(refused.status).toBe(429)
    expect(refused.headers.get('retry-after')).toBe(null)
    expect(refused.headers.get('x-should-retry')).toBe('false')
    expect(refused.headers.get('x-ratelimit-remaining-budget')).toBe('0.001164')
    const { error } = JSON.parse(refused.text)
    expect(error).toMatchObject({ code: 'budget_exceeded', type: 'budget_exceeded' })
    expect(error.message).toContain('this API key')
    expect(error.message).toContain('renews at 2026-03-29T00:00:00+01:00')
    expect(error.message).toContain('the wait is about 30 minutes')

    const inMessages = await ask(small({ max_tokens: 900 }), '/v1/messages')
    expect([inMessages.status, JSON.parse(inMessages.text).error.type], inMessages.text).toEqual([429, 'billing_error'])
    const family = ['limit', 'remaining', 'reset'].map((name) => `anthropic-ratelimit-budget-${name}`)
    expect(told(inMessages.headers, ...family)).toEqual(['0.0012', '0.001164', '2026-03-28T23:00:00Z'])
    const inGemini = await ask(
      { contents: [{ parts: [{ text: 'hi' }] }], generationConfig: { maxOutputTokens: 900 } },
      `/v1beta/models/${model}:generateContent`,
    )
    expect([inGemini.status, JSON.parse(inGemini.text).error.status], inGemini.text).toEqual([429, 'RESOURCE_EXHAUSTED'])
    expect(inGemini.text).not.toContain('RetryInfo')
    const inResponses = await ask({ model, input: 'hi', max_output_tokens: 900 }, '/v1/responses')
    expect([inResponses.status, JSON.parse(inResponses.text).error.code], inResponses.text).toEqual([429, 'budget_exceeded'])
    for (const { headers } of [inMessages, inGemini, inResponses]) {
      expect(headers.get('retry-after')).toBe(null)
      expect(headers.get('x-should-retry')).toBe('false')
    }

    await eventually('the refusals are in the log', async () => (await failures(server)).length === 4)
    const [row] = await failures(server)
    expect(JSON.parse(row?.other ?? '')).toMatchObject({
      limit: { kind: 'budget', scope: 'token', period: 'day', renews_at: Date.parse('2026-03-28T23:00:00Z') / 1000 },
      admin_info: { budget: budget.id },
    })

    // Daylight saving time begins on that day, which has 23 hours.
    clock.passSeconds(1800)
    expect((await ask(small())).status).toBe(200)
    await settledCharges(server)
    const { items } = await server.call<{ items: Budget[] }>('GET /api/budget/')
    expect(items).toMatchObject([{ spent: 18, renews_at: Date.parse('2026-03-29T22:00:00Z') / 1000 }])
    await requireBalancedBooks(server)
    await requireBalancedBudgets(server)
  })

  it('of $1 a day are not exceeded by 200 parallel calls, on two nodes where the database serves several', async () => {
    const url = await answering()
    const { server, token } = await stage(kind, url)
    const other = kind === 'postgres' ? await startServer('postgres', { database: server.database }) : undefined
    if (other) onTestFinished(() => other.stop())
    // A call costs 1.8 cents, so that 55 fit.
    const prices = { ModelRatio: { [model]: 500 }, CompletionRatio: { [model]: 1 } }
    await setOptions(server, prices)
    await add(server, { scope: 'user', subject: '1', amount: usd })
    if (other) {
      const knows = () => other.app.budgets.windowsOf({ userId: 1, tokenId: 0 }, '', []) !== undefined
      await eventually('the other node knows the budget and the price', () => {
        return knows() && other.app.options.current.ModelRatio[model] === 500 && other.app.channels.current.byId.size > 0
      })
    }
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, at) => askWithRetry(at % 2 && other ? other : server, token.key, small())),
    )
    const statuses = new Set(answers.map(({ status }) => status))
    expect([...statuses].filter((status) => status !== 200 && status !== 429)).toEqual([])
    await settledCharges(server)
    const spent = (await books(server)).ledger.filter((row) => row.kind === 'charge').reduce((sum, row) => sum - row.amount, 0)
    expect(spent).toBeLessThanOrEqual(usd)
    expect(spent).toBeGreaterThan(0)

    // No call is running now, so sequential calls use the budget until less than the cost of one call is left.
    for (let status = 200; status === 200; ) ({ status } = await askWithRetry(server, token.key, small()))
    await settledCharges(server)
    const [{ spent: counted }] = (await server.call<{ items: [Budget] }>('GET /api/budget/')).items
    const all = (await books(server)).ledger.filter((row) => row.kind === 'charge').reduce((sum, row) => sum - row.amount, 0)
    expect(counted).toBe(all)
    expect(all).toBeLessThanOrEqual(usd)
    await requireBalancedBooks(server)
    await requireBalancedBudgets(server)
  })

  it('of a channel send calls to another channel, and refuse them when there is none', async () => {
    const { server, channelId, token, ask } = await stage(kind, await answering())
    await atOneUnit(server)
    const budget = await add(server, { scope: 'channel', subject: String(channelId), amount: 900 })
    const first = await ask(small())
    expect(first.status, first.text).toBe(200)
    expect(told(first.headers, 'x-ratelimit-limit-budget')).toEqual([null])
    await settledCharges(server)
    const counted = async () => (await server.call<{ items: Budget[] }>('GET /api/budget/')).items[0]?.spent
    expect(await counted()).toBe(18)

    const refused = await ask(small({ max_tokens: 1200 }))
    expect([refused.status, JSON.parse(refused.text).error.code]).toEqual([429, 'budget_exceeded'])
    expect(refused.headers.get('x-should-retry')).toBe('false')
    expect(refused.text).not.toContain('left beside')
    const pinned = await ask(small({ max_tokens: 1200 }), undefined, { authorization: `Bearer ${token.key}-${channelId}` })
    expect([pinned.status, JSON.parse(pinned.text).error.code]).toEqual([429, 'budget_exceeded'])
    await eventually('the refusals are in the log', async () => (await failures(server)).length === 2)
    expect(JSON.parse((await failures(server))[0]?.other ?? '')).toMatchObject({
      limit: { kind: 'budget', scope: 'channel' },
      admin_info: { budget: budget.id },
    })
    const considered = (await failures(server)).map(({ other }) => JSON.parse(other).admin_info.candidates)
    expect(considered).toContainEqual({ listed: [{ channel: channelId, excluded: 'budget' }] })

    const other = await addChannel(server, { url: await answering(), models: model, key: 'another-key-0123456789' })
    const answers = await Promise.all(Array.from({ length: 12 }, () => ask(small({ max_tokens: 20 }))))
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
    await settledCharges(server)
    const charges = await server.app.db.selectFrom('logs').select(['channel_id', 'quota']).where('type', '=', 2).execute()
    const of = (id: number) => charges.filter((row) => row.channel_id === id).reduce((sum, { quota }) => sum + quota, 0)
    expect(of(channelId)).toBeLessThanOrEqual(900)
    expect(of(other)).toBeGreaterThan(0)
    expect(await counted()).toBe(of(channelId))
    await requireBalancedBooks(server)
    await requireBalancedBudgets(server)
  })

  it('of users, groups and models count all tokens, by week, month and in total, and renew with their window', async () => {
    const clock = newClock(Date.parse('2026-11-29T23:00:00Z'))
    const { server, token, ask } = await stage(kind, await answering(), { server: { now: () => clock.now() } })
    await atOneUnit(server)
    const other = await addToken(server)
    // The session of the test expires before the windows end.
    const root = { id: 1, role: role.root, username: 'root', address: '127.0.0.1' }
    const tries = async () => {
      let answered = 0
      while (answered < 60 && (await askWithRetry(server, (answered % 2 ? other : token).key, small())).status === 200) answered++
      await settledCharges(server)
      return answered
    }
    for (const [scope, subject, period, renews] of [
      ['group', 'default', 'week', '2026-11-30T00:00:00Z'],
      ['model', model, 'month', '2026-12-01T00:00:00Z'],
      ['user', '1', 'total', undefined],
    ] as const) {
      const input = budgetInput.parse({ scope, subject, period, amount: 600 })
      const { id } = await createBudget(server.app, root, input)
      const answered = await tries()
      expect(answered, period).toBeGreaterThan(1)
      const refused = await ask(small())
      expect([refused.status, JSON.parse(refused.text).error.code]).toEqual([429, 'budget_exceeded'])
      expect(refused.text.includes('left beside'), scope).toBe(scope === 'user')
      const lists = { filter: { scope: '', subject: '' }, page: { limit: 10, offset: 0 } } as const
      const { items } = await listBudgets(server.app, root, lists)
      expect(items).toMatchObject([{ spent: answered * 18, renews_at: renews ? Date.parse(renews) / 1000 : 0 }])
      const left = renews ? (Date.parse(renews) - clock.now()) / 1000 : 86_400
      expect(refused.headers.get('retry-after')).toBe(renews && left <= 120 ? String(left) : null)
      clock.passSeconds(left - 1)
      expect((await ask(small())).status, `${period}, before its end`).toBe(429)
      clock.passSeconds(1)
      expect(await tries(), `${period}, after its end`).toBe(renews ? answered : 0)
      await deleteBudget(server.app, root, id)
    }
    await requireBalancedBooks(server)
    await requireBalancedBudgets(server)
  })

  it('set an output limit that the budget affords on a call without one, and count a model by the name of its price too', async () => {
    const { server, token, ask } = await stage(kind, await answering())
    await atOneUnit(server)
    await add(server, { scope: 'token', subject: String(token.id), amount: 6000 })
    const answer = await ask(chat())
    expect(answer.status).toBe(200)
    expect(Number(answer.headers.get('x-sluice-output-limit'))).toBeGreaterThan(256)
    expect(Number(answer.headers.get('x-sluice-output-limit'))).toBeLessThanOrEqual(6000)

    // A model that is charged under another name than the requested one counts in the budgets of both names.
    const asked = 'gpt-4o-gizmo-g-1'
    await addChannel(server, { url: await answering(), models: asked })
    expect((await ask(small({ model: asked }))).status).toBe(200)
    await add(server, { scope: 'model', subject: 'gpt-4o-gizmo-*', amount: 1 })
    expect((await ask(small({ model: asked }))).status).toBe(429)
  })

  it('of admins cannot be loosened by owners, who can have budgets of their own tokens', async () => {
    const server = await serverOfTest(kind, { env: { TRUSTED_PROXIES: '127.0.0.0/8' } })
    const [ada, eve, admin] = [await member(server, 'ada'), await member(server, 'eve'), await member(server, 'admin', 10)]
    const made = await ada.call('POST /api/token/', { name: 'mine', unlimited_quota: true })
    const subject = String((made.json.data as { id: number }).id)
    const of = (scope: string, named: string) => ({ scope, subject: named, period: 'day', amount: 5 })
    const codes = async (who: typeof ada, line: string, body?: unknown) => (await who.call(line, body)).json.code ?? 'ok'

    const byAdmin = (await admin.call('POST /api/budget/', of('token', subject))).json.data as Budget
    expect(byAdmin).toMatchObject({ set_by: 'admin', subject_name: 'mine' })
    expect(await codes(ada, `PUT /api/budget/${byAdmin.id}`, { amount: 1e6 })).toBe('budget_of_admin')
    expect(await codes(ada, `DELETE /api/budget/${byAdmin.id}`)).toBe('budget_of_admin')
    expect(await codes(ada, `POST /api/budget/${byAdmin.id}/reset`)).toBe('permission_denied')
    expect(await codes(ada, 'POST /api/budget/', of('user', String(ada.id)))).toBe('user_protected')
    expect(await codes(ada, 'POST /api/budget/', of('group', 'default'))).toBe('permission_denied')
    expect(await codes(eve, 'POST /api/budget/', of('token', subject))).toBe('budget_subject_unknown')
    expect(await codes(eve, `PUT /api/budget/${byAdmin.id}`, { amount: 1 })).toBe('not_found')
    expect(await codes(admin, 'POST /api/budget/', of('user', '1'))).toBe('user_protected')
    expect(await codes(admin, 'POST /api/budget/', of('user', String(admin.id)))).toBe('user_protected')

    const own = (await ada.call('POST /api/budget/', { ...of('token', subject), amount: 1e9 })).json.data as Budget
    expect(own.set_by).toBe('owner')
    expect(await codes(ada, `PUT /api/budget/${own.id}`, { amount: 2e9 })).toBe('ok')
    const listed = async (who: typeof ada) => ((await who.call('GET /api/budget/')).json.data as { items: Budget[] }).items
    expect((await listed(ada)).map(({ id }) => id)).toEqual([own.id, byAdmin.id])
    expect(await listed(eve)).toEqual([])
    expect((await listed(admin)).map(({ id }) => id)).toEqual([own.id, byAdmin.id])
    expect(await codes(ada, `DELETE /api/budget/${own.id}`)).toBe('ok')
    const room = budgetLimits.ofTokenMax - 1
    const added = await Promise.all(Array.from({ length: room + 3 }, () => codes(ada, 'POST /api/budget/', of('token', subject))))
    expect(added.filter((code) => code === 'budgets_too_many')).toHaveLength(3)
    const { items } = await server.call<{ items: { action: string }[] }>('GET /api/audit/?search=budget')
    expect(items.map(({ action }) => action)).toEqual(['budget.create'])
  })

  it('can be reset, and overridden for a number of windows, by admins', async () => {
    const clock = newClock(Date.parse('2026-11-24T12:00:00Z'))
    const { server, token, ask } = await stage(kind, await answering(), { server: { now: () => clock.now() } })
    await atOneUnit(server)
    const { id } = await add(server, { scope: 'token', subject: String(token.id), amount: 600 })
    const tries = async () => {
      let answered = 0
      while (answered < 60 && (await ask(small())).status === 200) answered++
      await settledCharges(server)
      return answered
    }
    const once = await tries()
    expect(once).toBeGreaterThan(0)
    expect(await tries()).toBe(0)
    expect(await server.call<Budget>(`POST /api/budget/${id}/reset`)).toMatchObject({ spent: 0 })
    expect(await tries()).toBe(once)

    const until = Date.parse('2026-11-26T00:00:00Z') / 1000
    const overridden = await server.call<Budget>(`POST /api/budget/${id}/override`, { amount: 1200, windows: 2 })
    expect(overridden.override).toEqual({ amount: 1200, until })
    const more = await tries()
    expect(more).toBeGreaterThan(once)
    clock.passSeconds(86_400)
    expect(await tries()).toBeGreaterThan(more)
    clock.passSeconds(86_400)
    expect(await tries()).toBe(once)
    await requireBalancedBudgets(server)
  })
})

function told(headers: Headers, ...names: readonly string[]): (string | null)[] {
  return names.map((name) => headers.get(name))
}

async function failures({ app }: TestServer) {
  return app.db.selectFrom('logs').select('other').where('type', '=', 5).orderBy('id').execute()
}
