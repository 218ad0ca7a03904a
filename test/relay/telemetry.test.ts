import { existsSync, mkdtempSync, readFileSync } from 'node:fs'
import type { IncomingHttpHeaders } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, vi } from 'vitest'
import { openTelemetry } from '../../src/server/usage/telemetry/open-telemetry.ts'
import type { ServerSettings } from '../helpers/app.ts'
import { testLogger } from '../helpers/logger.ts'
import { otlpCollector } from '../helpers/otlp.ts'
import { addChannel, setOptions } from '../helpers/seed.ts'
import { answering, caller, live, realtimeUpstream } from './realtime-stage.ts'
import {
  answeringUpstream,
  ask,
  chat,
  completion,
  event,
  eventually,
  httpUpstream,
  model,
  piece,
  stage,
  upstreamKey,
} from './stage.ts'

const usage = {
  prompt_tokens: 11,
  completion_tokens: 7,
  total_tokens: 18,
  prompt_tokens_details: { cached_tokens: 4, cache_write_tokens: 3 },
  completion_tokens_details: { reasoning_tokens: 5 },
}
const usageAttributes = {
  'gen_ai.usage.input_tokens': 11,
  'gen_ai.usage.output_tokens': 7,
  'gen_ai.usage.cache_read.input_tokens': 4,
  'gen_ai.usage.cache_creation.input_tokens': 3,
  'gen_ai.usage.reasoning.output_tokens': 5,
}
const streamed =
  piece('four') +
  piece('', 'stop') +
  event({ id: 'c', object: 'chat.completion.chunk', model, choices: [], usage }) +
  event('[DONE]')

/** An upstream that answers whole, in a stream, or with `refusal`, and records the headers that it received. */
async function upstream(refusal?: { status: number; body: string }) {
  const got: IncomingHttpHeaders[] = []
  const { url } = await answeringUpstream(({ headers, body }) => {
    got.push(headers)
    if (refusal) return { bytes: refusal.body, status: refusal.status }
    return body.stream === true ? streamed : completion()
  })
  return { url, got }
}

/** A server whose collector is at `endpoint`; the SDK reads some of its settings from the environment of the process. */
async function tracingStage(
  url: string,
  endpoint: string,
  { env, ...more }: ServerSettings = {},
  channel: Record<string, unknown> = {},
) {
  vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', endpoint)
  vi.stubEnv('OTEL_BSP_SCHEDULE_DELAY', '20')
  vi.stubEnv('OTEL_RESOURCE_ATTRIBUTES', 'deployment.environment.name=test')
  const own = { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_METRIC_EXPORT_INTERVAL: 200, ...env }
  return stage('sqlite', url, { server: { ...more, env: own }, channel: { priority: 2, name: 'first', ...channel } })
}

const conventions = (version: string) => {
  const url = 'https://opentelemetry.io/schemas/1.41.0'
  return { scope: `sluice ${version}`, url, resourceUrl: url }
}

const incoming = { trace: '0af7651916cd43dd8448eb211c80319c', span: 'b7ad6b7169203331' }
const traceparent = (flags: string) => `00-${incoming.trace}-${incoming.span}-${flags}`

it('a collector gets a span for each call, with one for each attempt, and the metrics of /metrics', async () => {
  const collector = await otlpCollector()
  const failing = await upstream({ status: 503, body: '{"error":{"message":"overloaded by planted-words"}}' })
  const headers = 'x-api-key=collector-key'
  const { server, token, channelId } = await tracingStage(failing.url, collector.url, {
    env: { OTEL_EXPORTER_OTLP_HEADERS: headers },
  })
  await setOptions(server, { RetryTimes: 1 })
  const answering = await upstream()
  const second = await addChannel(server, {
    url: answering.url,
    models: model,
    name: 'second',
    model_mapping: JSON.stringify({ [model]: 'gpt-mapped' }),
  })
  const prompt = { messages: [{ role: 'user', content: 'planted-words' }] }
  const callers = { traceparent: traceparent('01'), tracestate: 'vendor=opaque', 'user-agent': 'test/1' }
  const whole = await ask(server, token.key, chat(prompt), '/v1/chat/completions?key=planted-words', callers)
  const stream = await ask(server, token.key, chat({ ...prompt, stream: true }))
  const refused = await ask(server, token.key, chat({ ...prompt, model: 'made-up' }))
  const unsampled = await ask(server, token.key, chat(prompt), undefined, { traceparent: traceparent('00') })
  expect([whole, stream, refused, unsampled].map(({ status }) => status)).toEqual([200, 200, 404, 200])
  const { spans } = collector
  await eventually('seven spans came', () => spans.length >= 7)

  const call = (answer: { headers: Headers }) => {
    const span = spans.find(({ attributes }) => attributes['sluice.request.id'] === answer.headers.get('x-request-id'))
    if (!span) throw new Error('there is no span of the call')
    return { span, attempts: spans.filter(({ parentId }) => parentId === span.spanId) }
  }
  const first = call(whole)
  expect(first.span).toMatchObject({
    traceId: incoming.trace,
    parentId: incoming.span,
    traceState: 'vendor=opaque',
    name: `chat ${model}`,
    kind: 2,
    status: 0,
    attributes: {
      'gen_ai.operation.name': 'chat',
      'gen_ai.request.model': model,
      'gen_ai.response.model': model,
      'gen_ai.response.finish_reasons': ['stop'],
      'gen_ai.usage.input_tokens': 11,
      'gen_ai.usage.output_tokens': 7,
      'http.request.method': 'POST',
      'http.response.status_code': 200,
      'url.path': '/v1/chat/completions',
      'user_agent.original': 'test/1',
      'sluice.user.id': 1,
      'sluice.token.id': token.id,
      'sluice.group': 'default',
      'sluice.channel.id': second,
      'sluice.attempts': 2,
      'sluice.format': 'openai.chat',
    },
    resource: {
      'service.name': 'sluice',
      'service.instance.id': server.app.node,
      'sluice.process.role': 'single',
      'deployment.environment.name': 'test',
      'telemetry.sdk.language': 'nodejs',
    },
  })
  const quota = Number(first.span.attributes['sluice.quota'])
  const row = await server.app.db.selectFrom('logs').select('quota').where('type', '=', 2).executeTakeFirstOrThrow()
  expect(quota).toBe(Number(row.quota))
  expect(first.attempts).toMatchObject([
    {
      traceId: incoming.trace,
      name: `chat ${model}`,
      kind: 3,
      status: 2,
      attributes: { 'error.type': '503', 'http.response.status_code': 503, 'sluice.channel.id': channelId },
    },
    {
      traceId: incoming.trace,
      name: 'chat gpt-mapped',
      kind: 3,
      status: 0,
      attributes: {
        'gen_ai.operation.name': 'chat',
        'gen_ai.provider.name': 'openai',
        'gen_ai.request.model': 'gpt-mapped',
        'gen_ai.response.model': model,
        'gen_ai.response.finish_reasons': ['stop'],
        'gen_ai.usage.input_tokens': 11,
        'gen_ai.usage.output_tokens': 7,
        'http.response.status_code': 200,
        'server.address': '127.0.0.1',
        'server.port': Number(new URL(answering.url).port),
        'sluice.channel.id': second,
        'sluice.channel.name': 'second',
      },
    },
  ])
  const [failed, answered] = first.attempts
  expect(failed?.startMs).toBeGreaterThanOrEqual(first.span.startMs)
  expect(answered?.startMs).toBeGreaterThanOrEqual(failed?.endMs ?? Number.NaN)
  expect(answered?.endMs).toBeLessThanOrEqual(first.span.endMs + 1)
  expect(failing.got[0]).toMatchObject({ traceparent: `00-${incoming.trace}-${failed?.spanId}-01`, tracestate: 'vendor=opaque' })
  expect(answering.got[0]).toMatchObject({ traceparent: `00-${incoming.trace}-${answered?.spanId}-01` })

  const flowing = call(stream)
  expect(flowing.span).toMatchObject({
    parentId: '',
    attributes: {
      'gen_ai.request.stream': true,
      'gen_ai.response.time_to_first_chunk': expect.any(Number),
      'gen_ai.response.model': model,
      'gen_ai.response.finish_reasons': ['stop'],
      ...usageAttributes,
    },
  })
  expect(flowing.attempts[1]?.attributes).toMatchObject(usageAttributes)
  for (const name of Object.keys(usageAttributes).slice(2)) expect(first.span.attributes).not.toHaveProperty([name])
  for (const { schema } of spans) expect(schema).toEqual(conventions(server.app.version))
  expect(flowing.span.traceId).toMatch(/^[0-9a-f]{32}$/)
  expect(answering.got[1]).toMatchObject({ traceparent: `00-${flowing.span.traceId}-${flowing.attempts[1]?.spanId}-01` })
  expect(call(refused)).toMatchObject({
    span: { name: 'chat', status: 0, attributes: { 'http.response.status_code': 404, 'error.type': 'model_not_found' } },
    attempts: [],
  })
  expect(call(refused).span.attributes).not.toHaveProperty('gen_ai.request.model')
  expect(spans).toHaveLength(7)
  expect(answering.got[2]?.traceparent).toMatch(new RegExp(`^00-${incoming.trace}-(?!${incoming.span})[0-9a-f]{16}-00$`))
  const text = JSON.stringify(spans)
  for (const secret of [token.key, upstreamKey, 'planted-words', 'four']) expect(text).not.toContain(secret)

  const pointOf = (name: string, attributes: Record<string, string>) =>
    collector.metrics.get(name)?.find((point) => Object.entries(attributes).every(([key, is]) => point.attributes[key] === is))
  const labels = { model, channel: String(second) }
  await eventually('the metrics of the last call came', () => pointOf('sluice_calls_total', labels)?.value === 3)
  const duration = pointOf('sluice_call_duration_seconds', labels)
  expect(duration).toMatchObject({ count: 3, sum: expect.any(Number), bounds: expect.arrayContaining([0.1, 600]) })
  expect(duration?.bucketCounts).toHaveLength((duration?.bounds?.length ?? 0) + 1)
  expect(duration?.bucketCounts?.reduce((sum, count) => sum + count, 0)).toBe(3)
  expect(pointOf('sluice_channel_info', { name: 'second' })?.value).toBe(1)
  for (const name of server.app.metrics.registry.getMetricsAsArray().map((metric) => metric.name))
    expect(collector.metrics.has(name), name).toBe(true)
  for (const { schema } of collector.described.values()) expect(schema).toEqual(conventions(server.app.version))
  for (const each of collector.headers)
    expect(each).toMatchObject({ 'x-api-key': 'collector-key', 'content-type': 'application/x-protobuf' })
})

const durationBounds = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92]

it.each(['otlp', 'none'])(
  'a collector gets the metrics of the conventions for generative AI, with OTEL_TRACES_EXPORTER=%s',
  async (traces) => {
    const collector = await otlpCollector()
    const failing = await upstream({ status: 503, body: '{"error":{"message":"overloaded"}}' })
    const { server, token } = await tracingStage(failing.url, collector.url, { env: { OTEL_TRACES_EXPORTER: traces } })
    await setOptions(server, { RetryTimes: 1 })
    const answering = await upstream()
    const mapping = JSON.stringify({ [model]: 'gpt-mapped' })
    await addChannel(server, { url: answering.url, models: model, name: 'second', model_mapping: mapping })
    await ask(server, token.key, chat())
    await ask(server, token.key, chat({ stream: true }))
    await ask(server, token.key, chat({ model: 'made-up' }))

    const { metrics, described } = collector
    const seriesOf = (name: string) => metrics.get(name) ?? []
    const counts = () => seriesOf('gen_ai.server.request.duration').reduce((sum, { count = 0 }) => sum + count, 0)
    await eventually('the metrics of the last call came', () => counts() === 3)
    const at = (url: string) => ({ 'server.address': '127.0.0.1', 'server.port': Number(new URL(url).port) })
    const operation = { 'gen_ai.operation.name': 'chat', 'gen_ai.provider.name': 'openai' }
    const answered = { ...operation, ...at(answering.url), 'gen_ai.request.model': 'gpt-mapped', 'gen_ai.response.model': model }
    const failed = { ...operation, ...at(failing.url), 'gen_ai.request.model': model, 'error.type': '503' }
    expect(seriesOf('gen_ai.client.operation.duration')).toEqual([
      { attributes: failed, count: 2, sum: expect.any(Number), bucketCounts: expect.any(Array), bounds: durationBounds },
      { attributes: answered, count: 2, sum: expect.any(Number), bucketCounts: expect.any(Array), bounds: durationBounds },
    ])
    const tokenBounds = Array.from({ length: 14 }, (_, power) => 4 ** power)
    expect(seriesOf('gen_ai.client.token.usage')).toMatchObject([
      { attributes: { ...answered, 'gen_ai.token.type': 'input' }, count: 2, sum: 22, bounds: tokenBounds },
      { attributes: { ...answered, 'gen_ai.token.type': 'output' }, count: 2, sum: 14, bounds: tokenBounds },
    ])

    const asked = { ...operation, 'gen_ai.request.model': model, 'gen_ai.response.model': model }
    const refused = { 'gen_ai.operation.name': 'chat', 'gen_ai.provider.name': 'sluice', 'error.type': '404' }
    expect(seriesOf('gen_ai.server.request.duration')).toMatchObject([
      { attributes: asked, count: 2, bounds: durationBounds },
      { attributes: refused, count: 1 },
    ])
    const firstTokenBounds = [0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10]
    expect(seriesOf('gen_ai.server.time_to_first_token')).toMatchObject([
      { attributes: asked, count: 1, bounds: firstTokenBounds },
    ])
    const perTokenBounds = [0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5]
    expect(seriesOf('gen_ai.server.time_per_output_token')).toMatchObject([
      { attributes: asked, count: 1, bounds: perTokenBounds },
    ])
    const units = [...described].filter(([name]) => name.startsWith('gen_ai.')).map(([name, { unit }]) => [name, unit])
    expect(Object.fromEntries(units)).toEqual({
      'gen_ai.client.operation.duration': 's',
      'gen_ai.client.token.usage': '{token}',
      'gen_ai.server.request.duration': 's',
      'gen_ai.server.time_to_first_token': 's',
      'gen_ai.server.time_per_output_token': 's',
    })
    for (const { schema } of described.values()) expect(schema).toEqual(conventions(server.app.version))

    if (traces === 'otlp') return
    expect(collector.spans).toEqual([])
    expect(answering.got[0]).not.toHaveProperty('traceparent')
  },
)

it('a collector that refuses or never answers is logged once, and no call waits for it', async () => {
  const collector = await otlpCollector()
  collector.refuse()
  const { url } = await upstream()
  const told: string[] = []
  const logger = testLogger('warn', (line) => void told.push(JSON.parse(line).msg))
  const { ask: asks } = await tracingStage(url, collector.url, { logger })
  for (let calls = 0; calls < 3; calls++) {
    expect((await asks(chat())).status).toBe(200)
    const before = collector.headers.length
    await eventually('another batch was refused', () => collector.headers.length > before + 1)
  }
  expect(told).toEqual(['the collector of traces and metrics does not take them'])

  const silent = await httpUpstream(() => {})
  const other = await tracingStage(url, silent, { logger })
  expect((await other.ask(chat())).status).toBe(200)
  await openTelemetry(other.server.app).close()
  expect(told).toContain('the last traces and metrics were not sent in time')
})

it('realtime sessions and orders are traced too, and the access log has the id of the trace', async () => {
  const collector = await otlpCollector()
  const path = join(mkdtempSync(join(tmpdir(), 'sluice-traces-')), 'access.log')
  const realtime = await realtimeUpstream(answering())
  const { server, token } = await tracingStage(
    realtime.url,
    collector.url,
    { env: { ACCESS_LOG: path, OTEL_METRICS_EXPORTER: 'none' } },
    { models: live },
  )
  const talk = caller(server.url, token.key, {
    headers: { authorization: `Bearer ${token.key}`, traceparent: traceparent('01') },
  })
  await talk.hears('session.created')
  talk.say({ type: 'response.create' })
  await talk.hears('response.done')
  talk.socket.close()
  const { spans } = collector
  await eventually('both spans came', () => spans.length >= 2)
  const [attempt, session] = spans.toSorted((one, other) => other.kind - one.kind)
  expect(session).toMatchObject({
    traceId: incoming.trace,
    parentId: incoming.span,
    name: `realtime ${live}`,
    attributes: { 'http.response.status_code': 101, 'gen_ai.usage.output_tokens': expect.any(Number) },
  })
  expect(attempt).toMatchObject({ parentId: session?.spanId, name: `realtime ${live}`, status: 0 })
  expect(realtime.handshakes[0]?.headers.traceparent).toBe(`00-${incoming.trace}-${attempt?.spanId}-01`)
  await eventually('its line is written', () => existsSync(path) && readFileSync(path, 'utf8').endsWith('\n'))
  expect(JSON.parse(readFileSync(path, 'utf8'))).toMatchObject({ trace_id: incoming.trace })

  const taking = await upstream({ status: 200, body: '{"code":"success","message":"","data":"task-1"}' })
  const musicChannel = await addChannel(server, { url: taking.url, type: 36, models: 'suno_music', key: upstreamKey })
  const order = await ask(server, token.key, { prompt: 'a song' }, '/suno/submit/music', { traceparent: traceparent('01') })
  expect(order.status).toBe(200)
  await eventually('both spans of the order came', () => spans.length >= 4)
  const [ordering, ordered] = spans.slice(2).toSorted((one, other) => other.kind - one.kind)
  expect(ordered).toMatchObject({
    name: 'POST task suno_music',
    parentId: incoming.span,
    attributes: { 'sluice.channel.id': musicChannel },
  })
  expect(ordering).toMatchObject({ name: 'attempt suno_music', parentId: ordered?.spanId })
  expect(taking.got[0]?.traceparent).toBe(`00-${incoming.trace}-${ordering?.spanId}-01`)
  expect(collector.metrics.size).toBe(0)
})

it('without a collector the trace headers of callers are not passed on to upstreams', async () => {
  const { url, got } = await upstream()
  const { ask: asks, server } = await stage('sqlite', url)
  await asks(chat(), undefined, { traceparent: traceparent('01'), tracestate: 'vendor=opaque' })
  expect(got[0]).not.toHaveProperty('traceparent')
  expect(got[0]).not.toHaveProperty('tracestate')
  expect(server.app.callTracer).toBeUndefined()
})

it('without a collector no package of the SDK is loaded: the files that a start loads import none', () => {
  const folder = new URL('../../dist/server/', import.meta.url)
  const read = (path: string) => readFileSync(new URL(path, folder), 'utf8')
  const loaded = new Map<string, string>()
  const visit = (path: string) => {
    if (loaded.has(path)) return
    const text = read(path)
    loaded.set(path, text)
    for (const [, file = ''] of text.matchAll(/(?:from|^import) ?["']\.\/(?:chunks\/)?([\w.-]+\.js)["']/gm))
      visit(`chunks/${file}`)
  }
  visit('main.js')
  const [, serving = ''] = /import\(["']\.\/(chunks\/serve-[\w-]+\.js)["']\)/.exec(read('main.js')) ?? []
  visit(serving)
  expect(loaded.size).toBeGreaterThan(3)
  const mentions = (text: string) => text.includes('BatchSpanProcessor')
  expect([...loaded].filter(([, text]) => mentions(text)).map(([path]) => path)).toEqual([])
  const [, later = ''] = /import\(["']\.\/(open-telemetry-[\w-]+\.js)["']\)/.exec(read(serving)) ?? []
  expect(mentions(read(`chunks/${later}`))).toBe(true)
})
