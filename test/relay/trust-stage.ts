import { afterAll, beforeAll, expect } from 'vitest'
import { logType } from '../../src/contract/entities/log.ts'
import { type ServerSettings, startServer, type TestServer } from '../helpers/app.ts'
import type { DatabaseKind } from '../helpers/databases.ts'
import { addChannel, addToken, books, requireBalancedBooks, setOptions } from '../helpers/seed.ts'
import { isTorture, sampled } from '../helpers/torture.ts'
import { type FakeUpstream, startFakeUpstream } from '../helpers/upstream.ts'
import { askWithRetry, eventually, upstreamKey } from './stage.ts'

export type PairFormat = 'openai' | 'anthropic'

/** The format of the caller, and that of the upstream. */
export interface FormatPair {
  readonly name: string
  readonly asks: PairFormat
  readonly speaks: PairFormat
}

export const formatPairs: readonly FormatPair[] = [
  { name: 'Chat as it is', asks: 'openai', speaks: 'openai' },
  { name: 'Messages as they are', asks: 'anthropic', speaks: 'anthropic' },
  { name: 'Chat on a Messages upstream', asks: 'openai', speaks: 'anthropic' },
  { name: 'Messages on a Chat upstream', asks: 'anthropic', speaks: 'openai' },
]

export const paths: Readonly<Record<PairFormat, string>> = { openai: '/v1/chat/completions', anthropic: '/v1/messages' }

interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

/** A separate channel with its own model and token, so that the effects of one case can be distinguished from all others. */
export interface CaseChannel {
  readonly channelId: number
  readonly model: string
  readonly key: string
  readonly tokenId: number
  readonly pair: FormatPair
  body(stream: boolean, more?: Record<string, unknown>): Record<string, unknown>
  ask(stream: boolean, more?: Record<string, unknown>): Promise<Answer>
  /** The charges of the token of this channel: complete once the caller has its complete answer. */
  charged(): Promise<Charged[]>
  /** The same after everything on the server has ended. */
  settled(): Promise<Charged[]>
  /** Resets the failures of the channel, so that it serves for many cases. */
  forgive(): void
}

interface Charged {
  readonly prompt: number
  readonly completion: number
  readonly quota: number
  readonly other: Record<string, unknown>
}

const casesMax = 2000

/**
 * One server for all cases of a suite, with a healthy upstream of either format. Every model costs one unit for each token, so that
 * every charge can be verified by counting words.
 */
export function trustOfSuite(kind: DatabaseKind, settings: () => Promise<ServerSettings> = async () => ({})) {
  let server: TestServer
  let healthy: FakeUpstream
  let load: { key: string; models: Record<PairFormat, string> }
  let cases = 0
  let asked = 0
  const set = new Map([['RetryTimes', '0']])

  beforeAll(async () => {
    server = fromManyAddresses(await startServer(kind, { env: { TRUSTED_PROXIES: '127.0.0.1' }, ...(await settings()) }))
    healthy = await startFakeUpstream()
    const models = { openai: 'load-chat', anthropic: 'load-messages' }
    const names = [...Object.values(models), ...Array.from({ length: casesMax }, (_, index) => `case-${index}`)]
    const ones = JSON.stringify(Object.fromEntries(names.map((name) => [name, 1])))
    await setOptions(server, { ModelRatio: ones, CompletionRatio: ones })
    await addChannel(server, { url: healthy.url, models: models.openai })
    await addChannel(server, { url: healthy.url, type: 14, models: models.anthropic })
    load = { key: (await addToken(server)).key, models }
  })

  afterAll(async () => {
    await server.stop()
    await healthy.stop()
  })

  return {
    get server() {
      return server
    },

    async setOption(key: string, value: string): Promise<void> {
      if (set.get(key) === value) return
      set.set(key, value)
      await server.call('PUT /api/option/', { key, value })
    },

    /** Adds a channel with `url` for a model that no other channel serves, or for the model of another path. */
    async lane(pair: FormatPair, url: string, more: Record<string, unknown> = {}, beside?: CaseChannel): Promise<CaseChannel> {
      const model = beside?.model ?? `case-${cases++}`
      const { setting, ...rest } = more
      const channelId = await addChannel(server, {
        url,
        type: pair.speaks === 'anthropic' ? 14 : 1,
        models: model,
        key: upstreamKey,
        ...(setting ? { setting: JSON.stringify(setting) } : {}),
        ...rest,
      })
      const token = beside ? { id: beside.tokenId, key: beside.key } : await addToken(server)
      const charged = () => chargedTo(server, token.id)
      const body = (stream: boolean, other: Record<string, unknown> = {}) => bodyOf(model, 'one two three', { stream, ...other })
      return {
        channelId,
        model,
        key: token.key,
        tokenId: token.id,
        pair,
        body,
        ask: (stream, other) => post(server, token.key, pair.asks, body(stream, other)),
        charged,
        forgive: () => server.app.traffic.forgive(server.app.channels.current.keysOf(channelId)),
        async settled() {
          await idle(server)
          return charged()
        },
      }
    },

    /**
     * Runs a case while ordinary requests of all format pairs go through the same server. In the end each of them must have had its
     * answer and its charge to the unit, the books must balance, and nothing may be held or open.
     */
    async underLoad(work: () => Promise<void>, loadMax = ordinaryMax): Promise<void> {
      const wanted = new Map<string, number>()
      const problems: string[] = []
      let isOver = false
      const worker = async (first: number) => {
        for (let index = first; index < loadMax && (!isOver || index < loadLeast); index += workers) {
          await askOrdinary(server, load, asked++, wanted).catch((error: unknown) => problems.push(String(error)))
          await new Promise((resolve) => setTimeout(resolve, 20))
        }
      }
      const running = Promise.all(Array.from({ length: workers }, (_, index) => worker(index)))
      try {
        await work()
      } finally {
        isOver = true
        await running
      }
      expect(problems).toEqual([])
      await idle(server)
      const { ledger, holds } = await books(server)
      const charges = new Map(ledger.map((row) => [row.reference, -row.amount]))
      expect([...wanted].filter(([id, amount]) => charges.get(`charge:${id}`) !== amount)).toEqual([])
      expect([holds.length, server.app.ledger.openHolds]).toEqual([0, 0])
      await requireBalancedBooks(server)
    },
  }
}

/** The console limits how often one address calls it; a suite sets up more channels than a person in a quarter of an hour. */
function fromManyAddresses(server: TestServer): TestServer {
  let calls = 0
  return {
    ...server,
    async call<Data>(line: string, body?: unknown): Promise<Data> {
      const response = await server.raw(line, body, { 'x-forwarded-for': `10.0.${(calls++ >> 6) & 255}.1` })
      const answer = (await response.json()) as { success: boolean; message: string; data: Data }
      if (!answer.success) throw new Error(`${line}: ${answer.message}`)
      return answer.data
    },
  }
}

export type Trust = ReturnType<typeof trustOfSuite>

const workers = 3
let turns = 0
/** The number of pairs for which `forEachPair` runs. */
export const pairsAtOnce = sampled(formatPairs, formatPairs.length).length
/** Ordinary requests beside each case. */
const loadLeast = 12
const ordinaryMax = isTorture ? 120 : 24

async function askOrdinary(
  server: TestServer,
  { key, models }: { key: string; models: Record<PairFormat, string> },
  index: number,
  wanted: Map<string, number>,
): Promise<void> {
  // The remainder is a valid index of the list.
  const pair = formatPairs[index % formatPairs.length] as FormatPair
  const words = `load ${index}${' more'.repeat(index % 7)}`
  const answer = await post(server, key, pair.asks, bodyOf(models[pair.speaks], words, { stream: index % 8 < 4 }))
  const { said, ending } = readAnswer(pair.asks, answer)
  if (answer.status !== 200 || said !== `You said: ${words}` || ending !== 'done')
    throw new Error(`${pair.name} ${index}: ${answer.status} ${ending} ${answer.text.slice(-300)}`)
  const promptWords = 2 + (index % 7)
  wanted.set(answer.headers.get('x-oneapi-request-id') ?? '', promptWords + promptWords + 2)
}

export function bodyOf(model: string, content: string, more: Record<string, unknown> = {}): Record<string, unknown> {
  return { model, max_tokens: 100_000, messages: [{ role: 'user', content }], ...more }
}

export function post(server: { url: string }, key: string, asks: PairFormat, body: unknown): Promise<Answer> {
  return askWithRetry(server, key, body, paths[asks])
}

async function chargedTo(server: TestServer, tokenId: number): Promise<Charged[]> {
  const rows = await server.app.db
    .selectFrom('logs')
    .selectAll()
    .where('token_id', '=', tokenId)
    .where('type', '=', logType.consume)
    .orderBy('id')
    .execute()
  return rows.map((row) => ({
    prompt: row.prompt_tokens,
    completion: row.completion_tokens,
    quota: row.quota,
    other: JSON.parse(row.other),
  }))
}

/** Runs `work` for every format pair at once; in the ordinary run each call runs it for the next pair alone. */
export async function forEachPair(
  work: (pair: FormatPair, stream: Stream) => Promise<void>,
  some = sampled(formatPairs, formatPairs.length, turns++),
): Promise<void> {
  const withPair = async (pair: FormatPair) => {
    try {
      await work(pair, streams[pair.speaks])
    } catch (cause) {
      throw new Error(`${pair.name}: ${cause instanceof Error ? cause.message : cause}`, { cause })
    }
  }
  await Promise.all(some.map(withPair))
}

/** Waits until no exchange of the relay is open and nothing is held. */
export async function idle(server: TestServer): Promise<void> {
  await eventually('the relay is idle', async () =>
    (await server.app.metrics.relayOpen.get()).values.every(({ value }) => value === 0),
  )
  await eventually('nothing is held', async () => {
    const users = await server.app.db.selectFrom('users').select('held').execute()
    return users.every((user) => user.held === 0)
  })
}

interface Read {
  readonly said: string
  /** `done`: the regular end, also of a whole answer. `error`: an error in the caller's format. */
  readonly ending: 'done' | 'error' | 'none'
  readonly message: string
}

/** The text and the end of an answer. Throws when it is malformed. */
export function readAnswer(asks: PairFormat, { status, headers, text }: Answer): Read {
  if (headers.get('content-type')?.includes('event-stream')) return asks === 'openai' ? readChat(text) : readMessages(text)
  const json = JSON.parse(text)
  if (status >= 400) {
    if (asks === 'anthropic') expect([json.type, typeof json.error.type]).toEqual(['error', 'string'])
    expect(typeof json.error.message).toBe('string')
    return { said: '', ending: 'error', message: json.error.message }
  }
  const said =
    asks === 'openai' ? json.choices[0].message.content : json.content.map((part: { text?: string }) => part.text).join('')
  return { said: said ?? '', ending: 'done', message: '' }
}

function blocksOf(text: string): { name: string; data: string }[] {
  return text
    .replace(/\r\n?/g, '\n')
    .split('\n\n')
    .map((block) => block.split('\n'))
    .filter((lines) => lines.some((line) => line.startsWith('data:')))
    .map((lines) => ({
      name:
        lines
          .find((line) => line.startsWith('event:'))
          ?.slice(6)
          .trim() ?? '',
      data: lines
        .filter((line) => line.startsWith('data:'))
        .map((line) => line.slice(5).replace(/^ /, ''))
        .join('\n'),
    }))
}

function readChat(text: string): Read {
  let said = ''
  let ending: Read['ending'] = 'none'
  let message = ''
  for (const { data } of blocksOf(text.replace(/^\ufeff/, ''))) {
    expect([ending, data]).toEqual(['none', data])
    if (data.trim() === '[DONE]') {
      ending = 'done'
      continue
    }
    const json = JSON.parse(data)
    said += json.choices?.[0]?.delta?.content ?? ''
    if (!json.error) continue
    ending = 'error'
    message = json.error.message
  }
  return { said, ending, message }
}

function readMessages(text: string): Read {
  let said = ''
  let ending: Read['ending'] = 'none'
  let message = ''
  for (const { name, data } of blocksOf(text.replace(/^\ufeff/, ''))) {
    expect([ending, data]).toEqual(['none', data])
    const json = JSON.parse(data)
    expect(json.type).toBe(name)
    said += json.delta?.text ?? ''
    if (name === 'message_stop') ending = 'done'
    if (name !== 'error') continue
    ending = 'error'
    message = json.error.message
  }
  return { said, ending, message }
}

/** The prompt and the output that the answers below report. */
export const reported = { prompt: 11, completion: 7 }

/** A whole answer in the format of an upstream. */
export function wholeOf(speaks: PairFormat, said: string): string {
  if (speaks === 'openai')
    return JSON.stringify({
      id: 'chatcmpl-1',
      object: 'chat.completion',
      created: 1_760_000_000,
      model: 'm',
      choices: [{ index: 0, message: { role: 'assistant', content: said }, finish_reason: 'stop' }],
      usage: { prompt_tokens: reported.prompt, completion_tokens: reported.completion, total_tokens: 18 },
    })
  return JSON.stringify({
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: [{ type: 'text', text: said }],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage: { input_tokens: reported.prompt, output_tokens: reported.completion },
  })
}

interface Stream {
  /** Everything before the first text. */
  readonly head: string
  text(said: string): string
  /** Everything after the last text, with usage and the terminal event. */
  readonly tail: string
  error(message: string): string
}

const data = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`
const named = (value: { type: string } & Record<string, unknown>) => `event: ${value.type}\n${data(value)}`
const chunk = (choices: unknown, more: Record<string, unknown> = {}) =>
  data({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices, ...more })

/** The parts of a stream in the format of an upstream. */
export const streams: Readonly<Record<PairFormat, Stream>> = {
  openai: {
    head: chunk([{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }]),
    text: (said) => chunk([{ index: 0, delta: { content: said }, finish_reason: null }]),
    tail: `${chunk([{ index: 0, delta: {}, finish_reason: 'stop' }])}${chunk([], {
      usage: { prompt_tokens: reported.prompt, completion_tokens: reported.completion, total_tokens: 18 },
    })}data: [DONE]\n\n`,
    error: (message) => data({ error: { message, type: 'server_error', param: null, code: null } }),
  },
  anthropic: {
    head: `${named({
      type: 'message_start',
      message: {
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        model: 'm',
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: { input_tokens: reported.prompt, output_tokens: 1 },
      },
    })}${named({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } })}`,
    text: (said) => named({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: said } }),
    tail: [
      named({ type: 'content_block_stop', index: 0 }),
      named({
        type: 'message_delta',
        delta: { stop_reason: 'end_turn', stop_sequence: null },
        usage: { output_tokens: reported.completion },
      }),
      named({ type: 'message_stop' }),
    ].join(''),
    error: (message) => named({ type: 'error', error: { type: 'overloaded_error', message } }),
  },
}

/** The answer of a healthy upstream: a stream if requested. */
export function healthyAnswer(speaks: PairFormat, request: { stream?: boolean }, said: string): { type: string; body: string } {
  const { head, text, tail } = streams[speaks]
  if (request.stream) return { type: 'text/event-stream', body: head + text(said) + tail }
  return { type: 'application/json', body: wholeOf(speaks, said) }
}
