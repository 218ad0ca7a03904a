import { createServer } from 'node:http'
import { type GenerateContentResponse, GoogleGenAI } from '@google/genai'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readContext, summary } from '../../../../../test/helpers/codecs.ts'
import { dialogueOf } from '../../../../../test/helpers/dialogue.ts'
import { closing, listening } from '../../../../../test/helpers/listening.ts'
import { anyReply } from '../../../../../test/helpers/replies.ts'
import {
  block,
  cite,
  close,
  delta,
  end,
  failed,
  finish,
  open,
  openCall,
  openMedia,
  sealed,
  start,
  used,
} from '../../../../../test/helpers/reply-events.ts'
import { eventsIn } from '../../../base/lib/bytes/sse.ts'
import type { WriteContext } from '../codec.ts'
import type { FinishReason, ReplyEvent } from '../reply-events.ts'
import { arrayAt, isObject, type JsonObject, objectAt } from '../wire-format.ts'
import { ArrayFraming } from './array-framing.ts'
import { geminiGenerateFormat } from './format.ts'

const { codec } = geminiGenerateFormat
const { writeReply, writeEvents } = geminiGenerateFormat.inbound
const context: WriteContext = {
  id: 'r1',
  createdAt: 1_790_000_000,
  model: 'gemini-asked',
  dialogue: dialogueOf({ from: 'gemini.generate', reasoning: { mode: 'auto', show: 'summary' } }),
  newId: (prefix) => `${prefix}new`,
}

function stream(events: readonly ReplyEvent[], more: Partial<WriteContext> = {}): string {
  const writer = writeEvents({ ...context, ...more })
  return events.map((event) => writer.push(event)).join('')
}

function told(events: readonly ReplyEvent[], more: Partial<WriteContext> = {}): JsonObject[] {
  return eventsIn(Buffer.from(stream(events, more)).toString('latin1')).map(({ data }) => JSON.parse(data))
}

const partsOf = (reply: JsonObject): JsonObject[] => {
  const [candidate] = arrayAt(reply, 'candidates').filter(isObject)
  return arrayAt(objectAt(candidate ?? {}, 'content') ?? {}, 'parts').filter(isObject)
}
const wholeParts = (events: readonly ReplyEvent[], more: Partial<WriteContext> = {}) =>
  partsOf(writeReply(events, { ...context, ...more }))

const usage = used({ input: 9, cacheRead: 1, output: 7, reasoning: 3 })
const google = { family: 'google', kind: 'signature', value: 'c2ln' } as const
const reply = (reason: FinishReason, ...inner: ReplyEvent[]): ReplyEvent[] => [start, ...inner, finish(reason), usage, end]

describe('a reply to a client of Gemini', () => {
  it('has every piece of text as a chunk, and finish reason and usage in the last one', () => {
    const chunks = told(reply('stop', ...block(0, 'text', 'Hi', ' there')))
    const named = { modelVersion: 'gemini-asked', responseId: 'r1' }
    expect(chunks).toEqual([
      { candidates: [{ content: { parts: [{ text: 'Hi' }], role: 'model' }, index: 0 }], ...named },
      { candidates: [{ content: { parts: [{ text: ' there' }], role: 'model' }, index: 0 }], ...named },
      {
        candidates: [{ content: { parts: [{ text: '' }], role: 'model' }, finishReason: 'STOP', index: 0 }],
        usageMetadata: {
          promptTokenCount: 10,
          cachedContentTokenCount: 1,
          candidatesTokenCount: 4,
          thoughtsTokenCount: 3,
          totalTokenCount: 17,
        },
        ...named,
      },
    ])
    expect(stream(reply('stop'))).toMatch(/^data: [^\n]*\r\n\r\n$/)
  })

  it('has the same parts when it is not streamed, with pieces of one text joined', () => {
    const events = reply('stop', ...block(0, 'reasoning', 'H', 'm'), ...block(1, 'text', 'a', 'b'))
    expect(wholeParts(events)).toEqual([{ text: 'Hm', thought: true }, { text: 'ab' }])
    expect(told(events).flatMap(partsOf)).toHaveLength(5)
  })

  it('has thinking only for callers that requested it', () => {
    const events = reply('stop', ...block(0, 'reasoning', 'Hm'), ...block(1, 'text', 'a'))
    const silent = { dialogue: dialogueOf({ from: 'gemini.generate' }) }
    expect(wholeParts(events, silent)).toEqual([{ text: 'a' }])
    expect(JSON.stringify(told(events, silent))).not.toContain('Hm')
  })

  it('has each call in one part when it is complete, in the order in which they end', () => {
    const events = reply(
      'tool-calls',
      openCall(0),
      openCall(1),
      delta(0, '{"a"'),
      delta(1, '{}'),
      close(1),
      delta(0, ':1}'),
      sealed(0, google),
      close(0),
    )
    expect(told(events).flatMap(partsOf)).toEqual([
      { functionCall: { id: 'call_1', name: 'get_tide', args: {} } },
      { functionCall: { id: 'call_0', name: 'get_tide', args: { a: 1 } }, thoughtSignature: 'c2ln' },
      { text: '' },
    ])
  })

  it('[73] leaves out a call that the limit truncated, and keeps a malformed one', () => {
    const inner = [openCall(0), delta(0, '{"a":'), close(0)]
    expect(told(reply('length', ...inner)).flatMap(partsOf)).toEqual([{ text: '' }])
    expect(writeReply(reply('length', ...inner), context)).toMatchObject({ candidates: [{ finishReason: 'MAX_TOKENS' }] })
    expect(told(reply('tool-calls', ...inner)).flatMap(partsOf)).toMatchObject([{ functionCall: { args: { input: '{"a":' } } }])
  })

  it('has a signature of Google after its text, and no other state', () => {
    const foreign = sealed(0, { family: 'anthropic', kind: 'signature', value: 'x' })
    const events = reply('stop', open(0, 'text'), delta(0, 'a'), sealed(0, google), foreign, close(0))
    expect(told(events).flatMap(partsOf)).toEqual([{ text: 'a' }, { text: '', thoughtSignature: 'c2ln' }, { text: '' }])
    expect(wholeParts(events)).toEqual([{ text: 'a', thoughtSignature: 'c2ln' }])
  })

  it('has images and audio in one piece', () => {
    expect(told(reply('stop', openMedia(0, 'image/png'), delta(0, 'iVBO'), delta(0, 'Rw0K'), close(0))).flatMap(partsOf)).toEqual(
      [{ inlineData: { mimeType: 'image/png', data: 'iVBORw0K' } }, { text: '' }],
    )
  })

  it.each<[FinishReason, string]>([
    ['stop', 'STOP'],
    ['stop-sequence', 'STOP'],
    ['tool-calls', 'STOP'],
    ['length', 'MAX_TOKENS'],
    ['context-full', 'MAX_TOKENS'],
    ['content-filter', 'SAFETY'],
    ['pause', 'CONTINUATION'],
  ])('finishes for %s with %s', (reason, word) => {
    expect(writeReply(reply(reason), context)).toMatchObject({ candidates: [{ finishReason: word }] })
  })

  it('has citations with offsets in bytes', () => {
    const events = reply('stop', ...block(0, 'text', 'é. '), open(1, 'text'), delta(1, '🌊 tide'), cite(1, 3, 7), close(1))
    expect(told(events).at(-1)).toMatchObject({
      candidates: [
        {
          groundingMetadata: {
            groundingChunks: [{ web: { uri: 'https://a.example', title: 'A' } }],
            groundingSupports: [{ segment: { startIndex: 9, endIndex: 13, text: 'tide' }, groundingChunkIndices: [0] }],
          },
        },
      ],
    })
  })

  it('[24] [25] writes an error with a numeric code', () => {
    const last = stream([start, failed({ code: '429', status: 429 })])
    expect(last).toBe('data: {"error":{"code":429,"message":"busy (request id: r1)","status":"RESOURCE_EXHAUSTED"}}\r\n\r\n')
    expect(stream([failed({ code: '429', status: 0 })])).toContain('"code":502')
  })

  it('is complete when it is read back', () => {
    for (let seed = 1; seed <= 200; seed++) {
      const events = anyReply(seed)
      const again = summary(codec.readReply(writeReply(events, context), readContext()))
      expect([seed, again.isComplete]).toEqual([seed, true])
    }
  })
})

describe('the official client', () => {
  let body = ''
  let size = 0
  const server = createServer((request, response) => {
    const isStream = request.url?.includes('alt=sse') ?? false
    response.writeHead(200, { 'content-type': isStream ? 'text/event-stream' : 'application/json' })
    const bytes = Buffer.from(body)
    for (let at = 0; size > 0 && at < bytes.length; at += size) response.write(bytes.subarray(at, at + size))
    response.end(size > 0 ? undefined : bytes)
  })
  let client: GoogleGenAI

  beforeAll(async () => {
    const baseUrl = await listening(server)
    client = new GoogleGenAI({ apiKey: 'k', httpOptions: { baseUrl, retryOptions: { attempts: 1 } } })
  })
  afterAll(() => closing(server))

  async function streamed(text: string, pieces = 0): Promise<GenerateContentResponse[]> {
    body = text
    size = pieces
    const chunks: GenerateContentResponse[] = []
    for await (const chunk of await client.models.generateContentStream({ model: 'm', contents: 'x' })) chunks.push(chunk)
    return chunks
  }
  const textOf = (chunks: readonly GenerateContentResponse[]) => spoken(chunks.flatMap(clientParts))
  const spoken = (parts: readonly { text?: string; thought?: boolean }[]) =>
    parts.flatMap(({ text, thought }) => (thought ? [] : [text ?? ''])).join('')
  const clientParts = (chunk: GenerateContentResponse) => chunk.candidates?.[0]?.content?.parts ?? []

  it('[168] reads every possible reply, however its bytes are split', async () => {
    for (let seed = 1; seed <= 60; seed++) {
      const events = anyReply(seed)
      const chunks = await streamed(stream(events), seed % 3 === 0 ? 7 : 0)
      const whole = wholeParts(events)
      expect([seed, textOf(chunks)]).toEqual([seed, spoken(whole as { text?: string }[])])
      const calls = chunks.flatMap((chunk) => chunk.functionCalls ?? [])
      expect(calls).toEqual(whole.flatMap((part) => part.functionCall ?? []))
      expect(chunks.at(-1)?.candidates?.[0]?.finishReason).toEqual(expect.any(String))
    }
  })

  it('reads a complete reply', async () => {
    body = JSON.stringify(writeReply(reply('stop', ...block(0, 'text', 'Hi 🌊')), context))
    size = 0
    const answer = await client.models.generateContent({ model: 'm', contents: 'x' })
    expect([answer.text, answer.usageMetadata?.totalTokenCount, answer.modelVersion]).toEqual(['Hi 🌊', 17, 'gemini-asked'])
  })

  it('keeps the turns of a chat valid', async () => {
    body = stream(reply('tool-calls', ...block(0, 'text', 'Hi'), openCall(1), delta(1, '{}'), close(1)))
    size = 0
    const chat = client.chats.create({ model: 'm' })
    for await (const _ of await chat.sendMessageStream({ message: 'x' }));
    expect(chat.getHistory(true).map(({ role }) => role)).toEqual(['user', 'model', 'model', 'model'])
  })

  it('[25] throws at an error in the stream, and reads everything before it', async () => {
    const broken = stream([start, open(0, 'text'), delta(0, 'The har'), failed()])
    await expect(streamed(broken)).rejects.toThrow(/busy/)
  })

  it('[22] continues after a heartbeat in a separate block', async () => {
    const text = stream(reply('stop', ...block(0, 'text', 'Hi')))
    expect(textOf(await streamed(`: keep-alive\r\n\r\n${text.replace('\r\n\r\n', '\r\n\r\n: keep-alive\r\n\r\n')}`))).toBe('Hi')
  })
})

describe('a stream as one JSON array', () => {
  const framed = (pieces: readonly string[]) => {
    const framing = new ArrayFraming()
    return pieces.map((piece) => framing.push(piece)).join('') + framing.end()
  }
  const bytes = (text: string) => Buffer.from(text).toString('latin1')
  const text = bytes(stream(reply('stop', ...block(0, 'text', 'Hi 🌊', '!'))))

  it('[30] is framed as Gemini frames it, wherever the bytes are split', () => {
    const whole = framed([text])
    expect(whole.startsWith('[{')).toBe(true)
    expect(whole.endsWith('}\n]')).toBe(true)
    expect(whole.split(',\r\n')).toHaveLength(3)
    expect(JSON.parse(Buffer.from(whole, 'latin1').toString())).toHaveLength(3)
    for (let cut = 1; cut < text.length; cut++) expect(framed([text.slice(0, cut), text.slice(cut)])).toBe(whole)
    expect(framed([...text])).toBe(whole)
  })

  it('[30] is valid when an error ends it, and when no events arrived', () => {
    const error = 'data: {"error":{"code":503,"message":"x","status":"UNAVAILABLE"}}\r\n\r\n'
    expect(JSON.parse(framed([error]))).toEqual([{ error: { code: 503, message: 'x', status: 'UNAVAILABLE' } }])
    const first = text.slice(0, text.indexOf('\r\n\r\n') + 4)
    expect(JSON.parse(Buffer.from(framed([first, error]), 'latin1').toString()).at(-1)).toHaveProperty('error')
    expect(framed([])).toBe('[]')
  })

  it('has white space for a heartbeat, and nothing for invalid events', () => {
    const framing = new ArrayFraming()
    expect(framing.push(': keep-alive\r\n\r\n')).toBe('\n')
    expect(framing.push('data: {"a":1}\n\n')).toBe('[{"a":1}')
    expect(framing.push(': keep-alive\r\n\r\n')).toBe('\n')
    expect(framing.push('data: [DONE]\n\n').trim()).toBe('')
    expect(framing.push('data: {"a":')).toBe('')
    expect(JSON.parse(`[{"a":1}${framing.end()}`)).toEqual([{ a: 1 }])
  })
})
