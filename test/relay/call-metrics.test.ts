import { expect, it } from 'vitest'
import { mergedMetrics } from '../../src/server/base/lib/process/metrics.ts'
import { serverOfTest, type TestServer } from '../helpers/app.ts'
import { anyDatabase } from '../helpers/databases.ts'
import { endedCall } from '../helpers/ended-call.ts'
import { addChannel, setOptions } from '../helpers/seed.ts'
import { answeringUpstream, ask, chat, completion, event, eventually, model, piece, stage } from './stage.ts'

/** The values of `/metrics` by their series. */
async function read({ url }: Pick<TestServer, 'url'>) {
  return valuesIn(await (await fetch(`${url}/metrics`)).text())
}

function valuesIn(text: string): ReadonlyMap<string, number> {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))]))
}

const chunks =
  piece('four') +
  piece('', 'stop') +
  event({
    id: 'c',
    object: 'chat.completion.chunk',
    model,
    choices: [],
    usage: { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 },
  }) +
  event('[DONE]')

anyDatabase('/metrics', (_fresh, kind) => {
  it('has calls, errors, tokens, cost, retries and times by model and channel', async () => {
    let failures = 2
    const { url: failing } = await answeringUpstream(() =>
      failures-- > 0
        ? { bytes: '{"error":{"message":"overloaded"}}', status: 503 }
        : { bytes: '{"error":{"message":"no","code":"refused_here"}}', status: 400 },
    )
    const { server, token, channelId } = await stage(kind, failing, { channel: { name: 'first "one"', priority: 2 } })
    await setOptions(server, { RetryTimes: 1 })
    const { url } = await answeringUpstream(({ body }) => (body.stream ? chunks : completion()))
    const second = await addChannel(server, { url, models: model, name: 'second' })
    expect((await ask(server, token.key, chat())).status).toBe(200)
    expect((await ask(server, token.key, chat({ stream: true }))).status).toBe(200)
    expect((await ask(server, token.key, chat())).status).toBe(400)
    expect((await ask(server, token.key, chat({ model: 'made-up' }))).status).toBe(404)

    const of = (name: string, channel: number | 'none', more = '', named = model) =>
      `sluice_${name}{model="${named}",channel="${channel}"${more}}`
    await eventually('the last call has ended', async () => (await read(server)).has(of('calls_total', 'none', '', 'none')))
    const values = await read(server)
    expect(values.get(of('calls_total', second))).toBe(2)
    expect(values.get(of('calls_total', channelId))).toBe(1)
    expect(values.get(of('call_errors_total', channelId, ',status="400",code="refused_here"'))).toBe(1)
    expect(values.get(of('call_errors_total', 'none', ',status="404",code="model_not_found"', 'none'))).toBe(1)
    expect(values.get(of('call_tokens_total', second, ',direction="in"'))).toBe(22)
    expect(values.get(of('call_tokens_total', second, ',direction="out"'))).toBe(14)
    expect(values.get(of('call_retries_total', second))).toBe(2)
    expect(values.get(of('attempts_total', channelId, ',status="503"'))).toBe(2)
    expect(values.get(of('attempts_total', channelId, ',status="400"'))).toBe(1)
    expect(values.get(of('attempts_total', second, ',status="200"'))).toBe(2)
    expect(values.get(of('call_duration_seconds_count', second))).toBe(2)
    expect(values.get(of('call_duration_seconds_bucket', second, ',le="+Inf"'))).toBe(2)
    expect(values.get(of('call_duration_seconds_count', channelId))).toBe(0)
    expect(values.get(of('call_first_token_seconds_count', second))).toBe(1)
    for (const step of ['hold', 'commit', 'queue']) expect(values.get(`sluice_call_${step}_seconds_count`)).toBeGreaterThan(1)
    const { quota } = await server.app.db
      .selectFrom('logs')
      .select(({ fn }) => fn.sum('quota').as('quota'))
      .where('type', '=', 2)
      .executeTakeFirstOrThrow()
    expect(values.get(of('call_cost_usd_total', second))).toBeCloseTo(Number(quota) / server.app.options.current.QuotaPerUnit, 9)
    expect(values.get(`sluice_channel_info{channel="${channelId}",name="first \\"one\\""}`)).toBe(1)
    expect(values.get(`sluice_channel_keys{channel="${second}"}`)).toBe(1)
    expect(values.get(`sluice_channel_running{channel="${second}"}`)).toBe(0)
    expect(values.get('sluice_ledger_waiting')).toBe(0)
    expect([...values.keys()].filter((name) => name.startsWith('nodejs_eventloop_lag'))).not.toEqual([])
  })

  it('shows the circuit breaker of a channel that fails', async () => {
    const { url: failing } = await answeringUpstream({ bytes: '{}', status: 500 })
    const { server, ask, channelId } = await stage(kind, failing)
    await setOptions(server, { RetryTimes: 0 })
    const line = `sluice_channel_breakers_open{channel="${channelId}"}`
    expect((await read(server)).get(line)).toBe(0)
    for (let calls = 0; calls < 5; calls++) await ask(chat())
    expect((await read(server)).get(line)).toBe(1)
  })
})

it('/metrics has a bounded number of series, and counts the rest in one', async () => {
  const server = await serverOfTest('sqlite')
  const { callObservers } = server.app
  const message = { zh: 'x', en: 'x' }
  for (let nth = 0; nth < 2_000; nth++) callObservers.callEnded(endedCall({ model: `model-${nth}` }))
  for (let nth = 0; nth < 100; nth++)
    callObservers.callEnded(
      endedCall({ model: 'model-0', status: 400, failure: { code: `code-${nth}`, message, inStream: false } }),
    )
  const values = await read(server)
  const calls = [...values].filter(([name]) => name.startsWith('sluice_calls_total'))
  expect(calls).toHaveLength(501)
  expect(values.get('sluice_calls_total{model="other",channel="other"}')).toBe(1_500)
  const errors = [...values].filter(([name]) => name.startsWith('sluice_call_errors_total'))
  expect(errors).toHaveLength(21)
  expect(errors.reduce((sum, [, count]) => sum + count, 0)).toBe(100)
})

it('/metrics of several processes are summed by series, also the buckets of histograms', async () => {
  const one = await serverOfTest('sqlite')
  const two = await serverOfTest('sqlite')
  for (const [{ app }, durationMs] of [[one, 200], [two, 2_000]] as const) app.callObservers.callEnded(endedCall({ durationMs })) // biome-ignore format: one line
  two.app.callObservers.callEnded(endedCall({ model: 'other-model' }))
  const measured = [one, two].map(({ app }) => app.metrics.registry.getMetricsAsJSON())
  const values = valuesIn(await mergedMetrics(await Promise.all(measured)))
  const of = (name: string) => values.get(`sluice_${name}`)
  expect(of(`calls_total{model="${model}",channel="none"}`)).toBe(2)
  expect(of('calls_total{model="other-model",channel="none"}')).toBe(1)
  const bucket = (le: string) => of(`call_duration_seconds_bucket{model="${model}",channel="none",le="${le}"}`)
  expect(['0.1', '0.25', '1', '2.5', '+Inf'].map(bucket)).toEqual([0, 1, 1, 2, 2])
  expect(of(`call_duration_seconds_sum{model="${model}",channel="none"}`)).toBeCloseTo(2.2)
})
