import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { serverOfTest } from '../helpers/app.ts'
import { freshDatabase } from '../helpers/databases.ts'
import { freePort } from '../helpers/free-port.ts'
import { type ServerProcess, startProcess } from '../helpers/process.ts'
import { randomsOf } from '../helpers/randoms.ts'
import { expireLeases, requireBalancedBooks } from '../helpers/seed.ts'
import { httpUpstream, settledCharges } from '../relay/stage.ts'

/**
 * Streams in four dialects through random cuts of the client's side, while nodes are replaced and one is killed: every answer is whole, or ends
 * with what its killed node had stored, and every call is charged once. STREAMS (200): the number of streams.
 */
const streams = Number(process.env.STREAMS ?? 200)
const together = 40
const wordsOfAnswer = 60
const brokeOff = 'The answer broke off before its end'

const sse = (event: object | string, name = '') =>
  `${name && `event: ${name}\n`}data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`

interface Dialect {
  readonly path: string
  readonly model: string
  readonly type: number
  body(question: string): object
  /** The vendor's events for a text in words. */
  events(words: readonly string[]): string[]
  /** The text in events that have arrived. */
  textIn(data: Record<string, never>): string
  readonly end: string
}

const messagesUsage = { input_tokens: 5, output_tokens: wordsOfAnswer }
const geminiUsage = { promptTokenCount: 5, candidatesTokenCount: wordsOfAnswer, totalTokenCount: 5 + wordsOfAnswer }
const responsesUsage = { input_tokens: 5, output_tokens: wordsOfAnswer, total_tokens: 5 + wordsOfAnswer }

const at = (value: unknown, ...path: (string | number)[]): string => {
  let found: unknown = value
  for (const key of path) found = (found as Record<string | number, unknown> | undefined)?.[key]
  return typeof found === 'string' ? found : ''
}

const chatChunk = (more: object) => sse({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'gpt-4o', ...more })

const dialects: readonly Dialect[] = [
  {
    ...{ path: '/v1/chat/completions', model: 'gpt-4o', type: 1, end: 'data: [DONE]' },
    body: (content) => ({ model: 'gpt-4o', stream: true, messages: [{ role: 'user', content }] }),
    events: (words) => [
      ...words.map((content) => chatChunk({ choices: [{ index: 0, delta: { content } }] })),
      chatChunk({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }),
      chatChunk({ choices: [], usage: { prompt_tokens: 5, completion_tokens: wordsOfAnswer, total_tokens: 5 + wordsOfAnswer } }),
      sse('[DONE]'),
    ],
    textIn: (data) => at(data, 'choices', 0, 'delta', 'content'),
  },
  {
    ...{ path: '/v1/responses', model: 'gpt-4.1', type: 1, end: 'response.completed' },
    body: (input) => ({ model: 'gpt-4.1', stream: true, input }),
    events(words) {
      const response = { id: 'resp_t', object: 'response', created_at: 1, model: 'gpt-4.1', output: [] }
      const item = { id: 'msg_t', type: 'message', role: 'assistant' }
      const part = { type: 'output_text', text: words.join(''), annotations: [] }
      const place = { item_id: 'msg_t', output_index: 0, content_index: 0 }
      const done = { ...item, status: 'completed', content: [part] }
      return [
        { type: 'response.created', response: { ...response, status: 'in_progress' } },
        { type: 'response.output_item.added', output_index: 0, item: { ...item, status: 'in_progress', content: [] } },
        { type: 'response.content_part.added', ...place, part: { ...part, text: '' } },
        ...words.map((delta) => ({ type: 'response.output_text.delta', ...place, delta })),
        { type: 'response.output_text.done', ...place, text: part.text },
        { type: 'response.output_item.done', output_index: 0, item: done },
        { type: 'response.completed', response: { ...response, status: 'completed', output: [done], usage: responsesUsage } },
      ].map((event, sequence_number) => sse({ ...event, sequence_number }, event.type))
    },
    textIn: (data) => (at(data, 'type') === 'response.output_text.delta' ? at(data, 'delta') : ''),
  },
  {
    ...{ path: '/v1/messages', model: 'claude-3-5-sonnet-20241022', type: 14, end: 'message_stop' },
    body: (content) => ({
      ...{ model: 'claude-3-5-sonnet-20241022', stream: true, max_tokens: 500 },
      messages: [{ role: 'user', content }],
    }),
    events(words) {
      const message = { id: 'm', type: 'message', role: 'assistant', model: 'claude-3-5-sonnet-20241022', content: [] }
      return [
        { type: 'message_start', message: { ...message, usage: { ...messagesUsage, output_tokens: 1 } } },
        { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
        ...words.map((text) => ({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } })),
        { type: 'content_block_stop', index: 0 },
        { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: messagesUsage },
        { type: 'message_stop' },
      ].map((event) => sse(event, event.type))
    },
    textIn: (data) => at(data, 'delta', 'text'),
  },
  {
    path: '/v1beta/models/gemini-2.0-flash:streamGenerateContent?alt=sse',
    ...{ model: 'gemini-2.0-flash', type: 24, end: '"finishReason"' },
    body: (text) => ({ contents: [{ role: 'user', parts: [{ text }] }] }),
    events: (words) => [
      ...words.map((text) => sse({ candidates: [{ index: 0, content: { role: 'model', parts: [{ text }] } }] })),
      sse({
        candidates: [{ index: 0, finishReason: 'STOP', content: { role: 'model', parts: [{ text: '' }] } }],
        usageMetadata: geminiUsage,
      }),
    ],
    textIn: (data) => at(data, 'candidates', 0, 'content', 'parts', 0, 'text'),
  },
]

/** A vendor of all four dialects that answers the question `story 7` with its own words, one every some milliseconds. */
function vendor(): Promise<string> {
  return httpUpstream(async (request: IncomingMessage, response: ServerResponse) => {
    const pieces: Buffer[] = []
    request.on('data', (piece: Buffer) => pieces.push(piece))
    await once(request, 'end')
    const story = /story \d+/.exec(Buffer.concat(pieces).toString())?.[0] ?? 'nothing'
    const dialect = dialects.find(({ path }) => request.url?.includes(path.split(/[?:]/)[0]?.split('/').at(-1) ?? '?'))
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const event of dialect?.events(wordsOf(story)) ?? []) {
      if (response.destroyed) return
      response.write(event)
      await pause(20)
    }
    response.end()
  })
}

const wordsOf = (story: string) => Array.from({ length: wordsOfAnswer }, (_, index) => `${story}.${index} `)

interface Outcome {
  readonly requestId: string
  readonly isCut: boolean
}

it(
  `${streams} streams are continued through cuts, replaced nodes and a killed one: all whole, each charged once`,
  async () => {
    const random = randomsOf(20_261_129)
    const database = await freshDatabase('postgres', 'started')
    onTestFinished(() => database.drop())
    const ports = [await freePort(), await freePort(), await freePort()]
    const env = { DRAIN_LIMIT: '0', DRAIN_RESUMABLE: '30' }
    const startNode = (index: number) => startProcess(database, { ...env, PORT: String(ports[index]) })
    const nodes = await Promise.all(ports.map((_, index) => startNode(index)))
    onTestFinished(async () => void (await Promise.all(nodes.map((node) => node.kill('SIGKILL')))))
    const url = await vendor()
    const first = nodes[0] as ServerProcess
    for (const { model, type } of dialects)
      await first.call('POST /api/channel/', { name: model, key: 'vendor-key-1', type, base_url: url, models: model })
    const made = await first.call<{ key: string }>('POST /api/token/', { name: 'resuming', unlimited_quota: true })
    const key = `sk-${made.key}`
    // The other nodes learn of the channels and the token.
    await pause(1000)

    const aNode = () => `http://127.0.0.1:${ports[Math.floor(random() * ports.length)]}`

    async function run(index: number): Promise<Outcome> {
      const dialect = dialects[index % dialects.length] as Dialect
      const story = `story ${index}`
      const body = JSON.stringify(dialect.body(story))
      let [text, id, last] = ['', '', '']
      for (let tries = 0; tries < 200; tries++) {
        const leave = new AbortController()
        const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
        const more: Record<string, string> = id === '' ? { 'x-sluice-resume': '1' } : { 'last-event-id': id }
        const most = random() < 0.3 ? Number.POSITIVE_INFINITY : 1 + Math.floor(random() * 25)
        let seen = ''
        try {
          const asked = { method: 'POST', headers: { ...headers, ...more }, body, signal: leave.signal }
          const response = await fetch(aNode() + dialect.path, asked)
          if (!response.ok || !response.body) seen = await response.text()
          if (seen.includes(brokeOff)) return { requestId: id.split('.')[0] ?? '', isCut: true }
          if (!response.ok || !response.body) throw new Error(seen)
          for await (const piece of response.body) {
            seen += Buffer.from(piece as Uint8Array).toString()
            if ((seen.match(/^id: /gm)?.length ?? 0) >= most) break
          }
        } catch (error) {
          // The node was away, or has closed the connection.
          last = String(error)
        }
        leave.abort()
        const whole = seen.slice(0, seen.lastIndexOf('\n\n') + 2)
        const isCut = whole.includes(brokeOff)
        text += whole
        id = [...whole.matchAll(/^id: (.+)$/gm)].at(-1)?.[1] ?? id
        if (isCut) return { requestId: id.split('.')[0] ?? '', isCut }
        if (text.includes(dialect.end)) {
          const said = [...text.matchAll(/^data: (\{.*)$/gm)].map(([, data = '']) => dialect.textIn(JSON.parse(data))).join('')
          expect(said).toBe(wordsOf(story).join(''))
          return { requestId: id.split('.')[0] ?? '', isCut: false }
        }
        await pause(20 + random() * 200)
      }
      throw new Error(`${story} did not end: ${last}, ${text.slice(-300)}`)
    }

    let isOver = false
    const chaos = (async () => {
      for (let round = 0; !isOver; round++) {
        const index = round % 3
        await pause(1500)
        await nodes[index]?.kill(round === 3 ? 'SIGKILL' : 'SIGTERM')
        nodes[index] = await startNode(index)
      }
    })()
    const outcomes: Outcome[] = []
    let next = 0
    const worker = async () => {
      while (next < streams) outcomes.push(await run(next++))
    }
    await Promise.all(Array.from({ length: together }, worker))
    isOver = true
    await chaos

    const cut = outcomes.filter(({ isCut }) => isCut)
    console.log(`${outcomes.length} streams, ${cut.length} of them ended by the killed node`)
    expect(cut.length).toBeLessThanOrEqual(together)
    const after = await serverOfTest('postgres', { database })
    const ids = new Set(outcomes.map(({ requestId }) => requestId.split('.')[0]))
    expect(ids.size).toBe(streams)
    // The minute after which a node counts as gone.
    await expireLeases(after)
    await after.app.ledger.expire()
    const charged = (await settledCharges(after)).map(({ id }) => id)
    expect(new Set(charged).size).toBe(charged.length)
    for (const { requestId, isCut } of outcomes) if (!isCut) expect(charged).toContain(requestId)
    await requireBalancedBooks(after)
  },
  streams * 1000 + 180_000,
)
