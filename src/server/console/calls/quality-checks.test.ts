import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type FakeUpstream, startFakeUpstream } from '../../../../scripts/fake-upstream.mjs'
import { startServer, type TestServer } from '../../../../test/helpers/app.ts'
import { newClock } from '../../../../test/helpers/clock.ts'
import { addChannel, books } from '../../../../test/helpers/seed.ts'
import type { AlertPreview, AlertRule } from '../../../contract/entities/alert.ts'
import type { ChannelHealth } from '../../../contract/entities/call-statistics.ts'
import { type QualityCheck, type QualityResult, qualityLimits } from '../../../contract/entities/quality-check.ts'
import type { Job } from '../../watch/jobs/runner.ts'
import { jobNamed } from '../../watch/jobs/table.ts'

const model = 'gpt-4o-mini'
const hourSeconds = 3600

describe.each(['sqlite', 'postgres'] as const)('quality checks over %s', (kind) => {
  const clock = newClock()
  let server: TestServer
  let upstream: FakeUpstream
  let east: number
  beforeAll(async () => {
    ;[server, upstream] = await Promise.all([startServer(kind, { now: () => clock.now() }), startFakeUpstream()])
  })
  afterAll(async () => {
    await server.stop()
    await upstream.stop()
  })
  beforeEach(async () => {
    const { db } = server.app
    for (const table of [
      'quality_checks',
      'quality_results',
      'quality_standings',
      'channels',
      'site_cost_days',
      'site_costs',
    ] as const)
      await db.deleteFrom(table).execute()
    await db.deleteFrom('logs').execute()
    await server.app.channels.refresh()
    upstream.program('*', {})
    await option('QualityCheckDailyQuota', 500_000)
    east = await addChannel(server, { url: upstream.url, models: model, name: 'east' })
  })

  const option = (key: string, value: number) => server.call('PUT /api/option/', { key, value: String(value) })
  const run = (job: Job = jobNamed('run-quality-checks'), signal = new AbortController().signal) =>
    job.run(server.app, signal, () => {})
  const pass = async (seconds: number) => {
    clock.passSeconds(seconds)
    const at = Math.floor(clock.nowMs / 1000)
    await server.app.db.updateTable('sessions').set({ created_at: at, seen_at: at }).execute()
  }
  // The simulated provider repeats the last line of the prompt.
  const input = (more: object = {}) => ({
    ...{
      name: 'Echo',
      models: [model],
      prompt: 'Repeat the word.\n391',
      expectations: [{ kind: 'exact', value: 'You said: 391' }],
    },
    ...{ samples: 1, window_runs: 2, ...more },
  })
  const create = (more: object = {}) => server.call<QualityCheck>('POST /api/quality_check/', input(more))
  const get = (id: number) => server.call<QualityCheck>(`GET /api/quality_check/${id}`)
  const results = async (id: number, query = '') =>
    (await server.call<{ items: QualityResult[] }>(`GET /api/quality_check/${id}/results?page_size=100${query}`)).items
  const says = (text: string) =>
    upstream.program('*', {
      body: {
        ...{ id: 'c', object: 'chat.completion', created: 1, model },
        choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: text } }],
        usage: { prompt_tokens: 12, completion_tokens: 7, total_tokens: 19 },
      },
    })
  const code = async (line: string, body?: unknown) => ((await (await server.raw(line, body)).json()) as { code?: string }).code

  it('are sent on their schedule, at the cost of the site', async () => {
    const before = await books(server)
    const asked = upstream.journal.length
    const { id } = await create({ system: 'Be brief.', max_output_tokens: 20, samples: 2 })
    expect(await run()).toBe('1 checks, 2 answers')
    expect(await run()).toBe('0 checks, 0 answers')
    const [first] = upstream.journal.slice(asked)
    expect(first?.json).toEqual({
      model,
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Repeat the word.\n391' },
      ],
      max_tokens: 20,
    })
    const listed = await results(id)
    expect(listed.map(({ sample, outcome }) => [sample, outcome]).sort()).toEqual([
      [0, 'passed'],
      [1, 'passed'],
    ])
    expect(listed[0]).toMatchObject({ channel_id: east, channel_name: 'east', model, faults: [], error: '' })
    expect(await server.call(`GET /api/quality_check/result/${listed[0]?.id}`)).toEqual({
      answer: 'You said: 391',
      is_cut: false,
    })
    const [sealed] = await server.app.db.selectFrom('quality_results').select('answer_sealed').execute()
    expect(sealed?.answer_sealed).toMatch(/^v1\./)

    const cost = listed.reduce((sum, one) => sum + one.cost, 0)
    expect(cost).toBeGreaterThan(0)
    const sums = await server.call<{ reason: string; channel_id: number; all: object }[]>('GET /api/system/site_cost')
    expect(sums).toMatchObject([{ reason: 'quality_check', channel_id: east, all: { count: 2, quota: cost } }])
    const logs = await server.app.db.selectFrom('logs').selectAll().execute()
    expect(logs).toMatchObject(
      Array.from({ length: 2 }, () => ({ type: 4, user_id: 0, quota: 0, channel_id: east, model_name: model })),
    )
    expect({ ...(await books(server)), channels: [] }).toEqual({ ...before, channels: [] })

    await pass(hourSeconds)
    expect(await run()).toBe('1 checks, 2 answers')
    expect(await get(id)).toMatchObject({
      is_running: false,
      standings: [{ state: 'ok', share: 100, runs: 2, passed: 2, total: 2 }],
    })
    await pass(31 * 24 * hourSeconds)
    expect(await run(jobNamed('purge-quality-results'))).toBe('removed 4 results')
  })

  it('report what is wrong with an answer, or that there was none', async () => {
    const expectations = [
      { kind: 'json', members: ['city'] },
      { kind: 'tokens', min: 1, max: 5 },
    ]
    const { id } = await create({ expectations })
    says('{"town":"Paris"}')
    await run()
    const [failed] = await results(id)
    expect(failed).toMatchObject({ outcome: 'failed', input_tokens: 12, output_tokens: 7 })
    expect(failed?.faults).toEqual([
      { index: 0, kind: 'json', reason: 'no_member', detail: 'city' },
      { index: 1, kind: 'tokens', reason: 'too_many', detail: '7' },
    ])
    upstream.program('*', { status: 500 })
    await pass(hourSeconds)
    await run()
    expect((await results(id, '&outcome=error')).map(({ error }) => error)).toEqual([
      expect.stringMatching(/The upstream failed: .* \(status 500: server_error: Simulated status 500\)$/),
    ])
    expect(await get(id)).toMatchObject({ standings: [{ state: 'below', share: 0 }] })
  })

  it('fire an alert when a channel fails the check, and resolve it when the channel passes again', async () => {
    const west = await addChannel(server, { url: upstream.url, models: 'other', name: 'west' })
    const { id } = await create({ name: 'Arithmetic' })
    const settings = { enabled: true, params: {}, scope: [], destinations: [], repeat_seconds: 0, notify_recovery: true }
    await server.call('PUT /api/alert/rule/quality-check', settings)
    const evaluate = async () => {
      await run(jobNamed('evaluate-alerts'))
      return (await server.call<AlertRule[]>('GET /api/alert/rule/')).find(({ rule }) => rule === 'quality-check')?.firing
    }
    const runs = async (times: number) => {
      for (let done = 0; done < times; done++) {
        await pass(hourSeconds)
        await run()
      }
      return evaluate()
    }
    expect(await runs(3)).toEqual([])
    says('You said: 392')
    expect(await runs(2)).toMatchObject([{ subject: `channel:${east}`, name: `east (#${east}): Arithmetic`, value: 1 }])
    expect((await get(id)).standings).toMatchObject([{ channel_id: east, state: 'below', share: 0, baseline: 100 }])
    const departures = async () => (await server.call<ChannelHealth[]>(`GET /api/channel/health?ids=${east}`))[0]?.departures
    expect(await departures()).toEqual([{ check_id: id, check_name: 'Arithmetic', model, state: 'below' }])
    await server.call(`PUT /api/quality_check/${id}/enabled`, { enabled: false })
    expect(await departures()).toEqual([])
    await server.call(`PUT /api/quality_check/${id}/enabled`, { enabled: true })
    expect(await server.call('PUT /api/alert/rule/quality-check', { ...settings, scope: ['west', String(west)] })).toBeNull()
    expect(await evaluate()).toEqual([])
    await server.call('PUT /api/alert/rule/quality-check', { ...settings, scope: ['east'] })
    expect(await evaluate()).toHaveLength(1)
    says('You said: 391')
    expect(await runs(2)).toEqual([])
    const preview = await server.call<AlertPreview>('POST /api/alert/rule/quality-check/preview', { params: {}, scope: [] })
    expect(preview).toMatchObject({ count: 1, firings: [{ subject: `channel:${east}`, value: 1 }] })
    const [fired] = preview.firings
    expect((fired?.to ?? 0) - (fired?.from ?? 0)).toBe(3 * hourSeconds)
  })

  it('skip channels that are disabled, not chosen or do not serve the model', async () => {
    const west = await addChannel(server, { url: upstream.url, models: `${model},gpt-*`, name: 'west' })
    await addChannel(server, { url: upstream.url, models: 'mj_imagine', type: 2 })
    const { id } = await create({ models: [model, 'gpt-5'] })
    await run()
    expect((await results(id)).map((one) => `${one.channel_id} ${one.model}`).sort()).toEqual(
      [`${east} ${model}`, `${west} ${model}`, `${west} gpt-5`].sort(),
    )
    await server.call(`PUT /api/quality_check/${id}`, input({ channels: [east] }))
    await server.call('PUT /api/channel/', { id: east, status: 2 })
    await pass(hourSeconds)
    await run()
    expect(await get(id)).toMatchObject({ standings: [], next_run_at: Math.floor(clock.nowMs / 1000) + hourSeconds })
  })

  it('cost no more than their daily limit, and do not run when it is 0', async () => {
    const asked = upstream.journal.length
    await option('QualityCheckDailyQuota', 1)
    const { id } = await create({ samples: 3 })
    await run()
    expect(await get(id)).toMatchObject({ last_skipped: 3, last_skip_code: 'daily_limit', standings: [], is_running: false })
    expect(upstream.journal.length).toBe(asked)
    await option('QualityCheckDailyQuota', 0)
    expect(await code(`POST /api/quality_check/${id}/run`)).toBe('quality_checks_off')
    expect(jobNamed('run-quality-checks').everyMs(server.app.options.current)).toBe(0)
  })

  it('continue an interrupted run, and send no prompt twice', async () => {
    const { id } = await create({ samples: 6, enabled: false })
    const ending = new AbortController()
    const asked = upstream.journal.length
    upstream.program('*', () => {
      if (upstream.journal.length - asked === 5) ending.abort(new Error('The server is stopping'))
      return {}
    })
    await server.app.db.updateTable('quality_checks').set({ is_requested: 1 }).execute()
    await expect(run(jobNamed('run-quality-checks'), ending.signal)).rejects.toThrow()
    const kept = await results(id)
    expect(kept.length).toBeLessThan(6)
    expect(await get(id)).toMatchObject({ is_running: true })
    expect(await run()).toBe(`1 checks, ${6 - kept.length} answers`)
    const whole = await results(id)
    expect(new Set(whole.map(({ sample }) => sample)).size).toBe(6)
    expect(new Set(whole.map(({ run_at }) => run_at)).size).toBe(1)
    expect(await get(id)).toMatchObject({ is_running: false, standings: [{ passed: 6, total: 6 }] })
  })

  it('begin a new history when the question changes, and are deleted with all their results', async () => {
    const { id } = await create()
    await run()
    await server.call(`PUT /api/quality_check/${id}`, input({ name: 'Same question', threshold: 90 }))
    expect((await get(id)).standings).toHaveLength(1)
    await server.call(`PUT /api/quality_check/${id}`, input({ prompt: 'Repeat.\n391' }))
    expect((await get(id)).standings).toEqual([])
    await run()
    expect((await get(id)).standings).toMatchObject([{ runs: 1, state: 'waiting' }])
    expect(await results(id)).toHaveLength(2)

    await server.call(`PUT /api/quality_check/${id}`, input({ prompt: 'Repeat.\n391', name: 'Übersicht' }))
    for (const keyword of ['Übersicht', 'SICHT'])
      expect((await server.call<{ total: number }>(`GET /api/quality_check/?keyword=${encodeURIComponent(keyword)}`)).total).toBe(
        1,
      )

    await server.call(`PUT /api/quality_check/${id}/enabled`, { enabled: false })
    await pass(24 * hourSeconds)
    expect(await run()).toBe('0 checks, 0 answers')
    await server.call(`DELETE /api/quality_check/${id}`)
    expect(await code(`GET /api/quality_check/${id}`)).toBe('not_found')
    expect(await server.app.db.selectFrom('quality_results').select('id').execute()).toEqual([])
    const { db } = server.app
    const ofCheck = db.selectFrom('audit').select('action').where('target', '=', `quality_check:${id}`)
    const audit = await ofCheck.orderBy('id').execute()
    const actions = ['create', 'update', 'update', 'update', 'disable', 'delete'].map((action) => ({
      action: `quality_check.${action}`,
    }))
    expect(audit).toEqual(actions)
  })

  it('respect their limit, no matter how many are added at the same time', async () => {
    const row = { name: 'Kept', settings: '{}', question: '{}', next_run_at: 0, created_by: 'root', created_at: 1 }
    await server.app.db
      .insertInto('quality_checks')
      .values(Array(qualityLimits.checksMax - 1).fill({ ...row, enabled: 0 }))
      .execute()
    const codes = await Promise.all(Array.from({ length: 6 }, () => code('POST /api/quality_check/', input())))
    expect(codes.filter((each) => each === 'quality_checks_too_many')).toHaveLength(5)
  })

  it.each([
    ['no expectation', { expectations: [] }],
    ['tools that are none', { tools: '[{"name":"x"}]' }],
    ['arguments that are no object', { expectations: [{ kind: 'tool', name: 'x', arguments: '[1]' }] }],
    ['a band that is upside down', { expectations: [{ kind: 'tokens', min: 5, max: 4 }] }],
    ['an interval of a minute', { interval_minutes: 1 }],
  ])('are refused with %s', async (_name, more) => {
    expect(await code('POST /api/quality_check/', input(more))).toBe('field_invalid')
  })
})
