import { existsSync, mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, vi } from 'vitest'
import { testLogger } from '../helpers/logger.ts'
import { otlpCollector } from '../helpers/otlp.ts'
import { answeringUpstream, chat, completion, eventually, requestBytes, speak, stage, upstreamKey } from './stage.ts'

const [esc, csi] = ['\u001b[2J\u001b[31m', '\u009b31m']
const secret = 'sk-plantedsecretplantedsecretplanted'
const long = 'x'.repeat(6000)

/** Values of headers as bytes that a caller may send: control characters, invalid UTF-8, JSON, lines, secrets, great length. */
const values = [
  ...['', esc, csi, '\u0085', '\u0000', '\r\n{"status":200}', '"},{"status":200', '\\u000a', '\u2028', '\xff\xfe\xc0\x80', '\xed\xa0\x80'],
  ...['%0a%0d', '\u202e', long, secret, `Bearer ${secret}`, '{{7*7}}', `\${jndi:ldap://x}`, '=cmd|x', '中文 😀', '\t\t'],
] // biome-ignore format: one line reads as the list that it is

const headerNames = [
  'user-agent',
  'host',
  'x-forwarded-for',
  'x-real-ip',
  'forwarded',
  'x-request-id',
  'content-language',
  'referer',
]

it('[T252] the access log has one line of JSON for each call that was let in, whatever bytes its path, host and headers have, and no secret', async () => {
  const path = join(mkdtempSync(join(tmpdir(), 'sluice-access-')), 'access.log')
  const output: string[] = []
  const logger = testLogger('trace', (line) => void output.push(line))
  const url = await answering([])
  const { server, token } = await stage('sqlite', url, {
    server: { env: { ACCESS_LOG: path, TRUSTED_PROXIES: '127.0.0.1' }, logger },
  })
  const body = JSON.stringify(chat())
  const variants = [
    ...headerNames.flatMap((name) => values.map((value) => requestBytes(token.key, body, { [name]: value }))),
    ...values.map((value) => requestBytes(token.key, body, {}, `/v1/chat/completions?key=${value.replaceAll(' ', '')}`)),
    ...values.map((value) => requestBytes(token.key, body, {}, `/v1/chat/completions/${value.replaceAll(' ', '')}`)),
    ...values.map((value) => requestBytes(token.key, body).replace('POST', value.replaceAll(' ', ''))),
    ...values.map((value) => requestBytes(token.key, inAscii(chat({ model: value })))),
    ...values.map((value) => requestBytes(token.key, inAscii(chat({ user: value })))),
  ]
  const letIn = new Set<string>()
  const statuses: Record<string, number> = {}
  for (const bytes of variants) {
    const closing = Buffer.from(
      bytes.replace('host: x', 'connection: close\r\nhost: x').replace(/^host: (?!x)/m, 'connection: close\r\nhost: '),
      'latin1',
    )
    const answer = await speak(server, closing).until(() => false)
    const [, status = ''] = /^HTTP\/1\.1 (\d{3})/.exec(answer) ?? []
    statuses[status] = (statuses[status] ?? 0) + 1
    // 501 is the answer to paths that this server does not offer.
    expect(status, answer.slice(0, 200)).toMatch(/^(?:[234]\d\d|501)$/)
    const [, id] = /\r\nx-request-id: (\S+)/i.exec(answer) ?? []
    if (id && status === '200') letIn.add(id)
  }
  expect(letIn.size).toBeGreaterThan(variants.length / 3)
  const lines = () => readFileSync(path, 'utf8').split('\n').slice(0, -1)
  const told = () => new Set(lines().map((line) => JSON.parse(line).request_id))
  await eventually('every call has its line', () => [...letIn].every((id) => told().has(id)))
  expect(told().size).toBe(lines().length)
  for (const line of [...lines(), ...output.flatMap((text) => text.split('\n').filter(Boolean))]) {
    expect(JSON.parse(line), line).toBeTypeOf('object')
    expect(line).not.toMatch(/\p{Cc}|[\u2028\u2029]/u)
    expect(line.length).toBeLessThan(5000)
    for (const hidden of [secret, token.key, upstreamKey]) expect(line).not.toContain(hidden)
  }
  console.log(`${variants.length} requests, ${lines().length} lines, ${JSON.stringify(statuses)}`)
})

it('[T253] trace headers of callers cannot break a trace, reach a collector whole only when they are valid, and the secret of the collector is shown nowhere', async () => {
  const collector = await otlpCollector()
  const key = 'canary-of-the-collector-0123456789'
  vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', collector.url)
  vi.stubEnv('OTEL_BSP_SCHEDULE_DELAY', '20')
  const path = join(mkdtempSync(join(tmpdir(), 'sluice-access-')), 'access.log')
  const output: string[] = []
  const logger = testLogger('trace', (line) => void output.push(line))
  const got: string[] = []
  const env = {
    ...{ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_METRIC_EXPORT_INTERVAL: 200, ACCESS_LOG: path },
    OTEL_EXPORTER_OTLP_HEADERS: `x-api-key=${key},authorization=Bearer%20${key}`,
  }
  const { server, token } = await stage('sqlite', await answering(got), { server: { env, logger } })
  const good = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
  const zeros = '00-00000000000000000000000000000000-0000000000000000-01'
  const parents = [
    ...[
      '',
      'x',
      good.toUpperCase(),
      zeros,
      good.replace('00-', 'ff-'),
      `${good}-more`,
      good.slice(0, -1),
      `${good}, ${good}`,
      long,
    ],
    ...[csi, '\xff\xfe', `${good}\u0085`, '__proto__', `00-${'g'.repeat(32)}-${'1'.repeat(16)}-01`, good, good],
  ]
  const states = [
    '',
    'a=b',
    long,
    `${'k'.repeat(300)}=v`,
    Array.from({ length: 200 }, (_, at) => `k${at}=v`).join(),
    '\xff=\xfe',
    '=,=,=',
    `a=${csi}`,
  ]
  const body = JSON.stringify(chat())
  let answered = 0
  for (const [at, traceparent] of [...parents, ...states.map(() => good)].entries()) {
    const tracestate = at < parents.length ? 'a=b' : (states[at - parents.length] ?? '')
    const headers = { connection: 'close', traceparent, tracestate, baggage: `user=${csi},${long},secret=${secret}` }
    const answer = await speak(server, Buffer.from(requestBytes(token.key, body, headers), 'latin1')).until(() => false)
    expect(answer).toMatch(/^HTTP\/1\.1 200/)
    answered++
  }
  const { spans } = collector
  await eventually('a span of each call and of its attempt came', () => spans.length >= 2 * answered)
  expect(spans).toHaveLength(2 * answered)
  for (const { traceId, spanId, traceState } of spans) {
    expect(traceId).toMatch(/^(?!0{32})[\da-f]{32}$/)
    expect(spanId).toMatch(/^(?!0{16})[\da-f]{16}$/)
    expect(traceState.length).toBeLessThanOrEqual(512)
  }
  // Calls with an invalid header begin a trace of their own.
  const calls = spans.filter(({ kind }) => kind === 2)
  expect(calls.filter(({ traceId }) => good.includes(traceId))).toHaveLength(2 + states.length)
  expect(got).toHaveLength(answered)
  for (const sent of got) expect(sent).not.toMatch(/baggage|planted|[^\x20-\x7e]/)

  // It is sent to the collector, and stands nowhere else.
  expect(JSON.stringify(collector.headers)).toContain(key)
  const pages = await Promise.all(
    ['/metrics', '/api/option/', '/api/system/', '/api/audit/', '/api/log/', '/api/status'].map(async (page) =>
      (await server.raw(`GET ${page}`)).text(),
    ),
  )
  await eventually('its lines are written', () => existsSync(path))
  const shown = [...pages, ...output, readFileSync(path, 'utf8'), JSON.stringify(spans), JSON.stringify(process.env)]
  for (const text of shown) expect(text).not.toContain(key)
})

/** JSON that has as many bytes as characters. */
const inAscii = (value: unknown) =>
  JSON.stringify(value).replace(/[^\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)

/** An upstream that answers, and notes the headers that it got. */
async function answering(got: string[]): Promise<string> {
  const { url } = await answeringUpstream(({ headers }) => {
    got.push(JSON.stringify(headers))
    return completion()
  })
  return url
}
