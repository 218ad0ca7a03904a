import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { written } from '../../../../../test/helpers/codecs.ts'
import { dialogueOf, user } from '../../../../../test/helpers/dialogue.ts'
import { anyReply } from '../../../../../test/helpers/replies.ts'
import { noUsage } from '../../../../contract/usage.ts'
import { eventsIn, toByteText } from '../../../base/lib/bytes/sse.ts'
import { AppError } from '../../../base/lib/failure.ts'
import type { WriteContext } from '../codec.ts'
import { formats } from '../index.ts'
import { openAiChatFormat } from '../openai-chat/format.ts'
import type { ReplyEvent } from '../reply-events.ts'
import type { JsonObject } from '../wire-format.ts'
import { completionsInbound } from './completions-inbound.ts'

const openAiChatCodec = openAiChatFormat.codec
const context = (wantsUsage = false): WriteContext => ({
  id: 'r1',
  createdAt: 5,
  model: 'asked',
  dialogue: dialogueOf({ wantsUsage }),
  newId: (prefix) => `${prefix}new`,
})

const reply: ReplyEvent[] = [
  { type: 'start' },
  { type: 'open', index: 0, block: 'reasoning' },
  { type: 'delta', index: 0, text: 'Hm' },
  { type: 'close', index: 0 },
  { type: 'open', index: 1, block: 'text' },
  { type: 'delta', index: 1, text: 'One ' },
  { type: 'delta', index: 1, text: 'two' },
  { type: 'close', index: 1 },
  { type: 'finish', reason: 'length' },
  { type: 'usage', usage: { ...noUsage, input: 3, output: 2 } },
  { type: 'end' },
]

function read(body: object) {
  return completionsInbound.readRequest({ model: 'm', prompt: 'Once', ...body }, {})
}

function refusedField(body: object): unknown {
  try {
    read(body)
  } catch (error) {
    if (error instanceof AppError && error.code === 'untranslatable') return error.params.field
    throw error
  }
  return undefined
}

function stream(events: readonly ReplyEvent[], wantsUsage = false): string {
  const writer = completionsInbound.writeEvents(context(wantsUsage))
  return events.map((event) => writer.push(event)).join('')
}

/** The data of each event, `[DONE]` as a string. */
function chunks(text: string): unknown[] {
  return eventsIn(toByteText(text)).map(({ data }) => (data === '[DONE]' ? data : JSON.parse(data)))
}

describe('legacy Completions as a conversation', () => {
  it("become the user's message", () => {
    const dialogue = read({
      prompt: ['Once'],
      max_tokens: 5,
      stop: ['x', ''],
      temperature: 1,
      logit_bias: { 1: 2 },
      n: 1,
      best_of: 1,
    })
    expect(dialogue).toMatchObject({
      from: 'openai.completions',
      turns: [user('Once')],
      outputTokensMax: 5,
      stop: ['x'],
      sampling: { temperature: 1 },
      extra: { logit_bias: { 1: 2 } },
    })
    expect(Object.keys(dialogue.extra)).toEqual(['logit_bias'])
    expect(written(openAiChatCodec, dialogue).body).toEqual({
      model: 'm',
      messages: [{ role: 'user', content: 'Once' }],
      max_tokens: 5,
      temperature: 1,
      stop: ['x'],
      logit_bias: { 1: 2 },
    })
  })

  it.each([
    ['prompt', { prompt: [1, 2] }],
    ['prompt', { prompt: [[1]] }],
    ['prompt', { prompt: ['a', 'b'] }],
    ['suffix', { suffix: 'end' }],
    ['echo', { echo: true }],
    ['best_of', { best_of: 2 }],
    ['n', { n: 2 }],
    ['logprobs', { logprobs: 3 }],
  ])('are refused with the field name %s', (field, body) => expect(refusedField(body)).toBe(field))

  it('get a reply with the text', () => {
    expect(completionsInbound.writeReply(reply, context())).toEqual({
      id: 'cmpl-r1',
      object: 'text_completion',
      created: 5,
      model: 'asked',
      choices: [{ text: 'One two', index: 0, logprobs: null, finish_reason: 'length' }],
      usage: expect.objectContaining({ prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 }),
    })
  })

  it("get stream chunks with the members of the vendor's chunks", () => {
    const vendors = chunks(readFileSync(new URL('fixtures/completions.sse', import.meta.url), 'latin1')) as JsonObject[]
    const ours = chunks(stream(reply)) as JsonObject[]
    expect(ours).toMatchObject([
      { id: 'cmpl-r1', object: 'text_completion', choices: [{ text: 'One ', index: 0, finish_reason: null }] },
      { choices: [{ text: 'two' }] },
      { choices: [{ text: '', finish_reason: 'length' }] },
      '[DONE]',
    ])
    expect(Object.keys(vendors[0] ?? {})).toEqual(expect.arrayContaining(Object.keys(ours[0] ?? {})))
    expect(vendors.at(-1)).toBe('[DONE]')
  })

  it('[38] [39] report usage to callers that requested it', () => {
    expect(stream(reply)).not.toContain('usage')
    expect(chunks(stream(reply, true)).at(-2)).toMatchObject({ choices: [], usage: { total_tokens: 5 } })
  })

  it('[24] end with an error when the upstream fails', () => {
    const error = { message: 'busy', type: '', code: '', param: null, status: 503 }
    const sent = stream([...reply.slice(0, 6), { type: 'error', error }])
    expect(chunks(sent).at(-1)).toMatchObject({ error: { type: 'server_error' } })
  })

  it('get the same text streamed and non-streamed, for any reply', () => {
    for (let seed = 1; seed <= 200; seed++) {
      const events = anyReply(seed)
      const pieces = chunks(stream(events)) as { choices?: { text: string }[] }[]
      const whole = completionsInbound.writeReply(events, context()) as { choices: { text: string }[] }
      expect(pieces.map((piece) => piece.choices?.[0]?.text ?? '').join('')).toBe(whole.choices[0]?.text)
    }
  })
})

describe('the inbound codecs', () => {
  it('include Completions and Chat of OpenAI', () => {
    expect(formats['openai.completions'].inbound).toBe(completionsInbound)
    expect(formats['openai.chat'].inbound).toBe(openAiChatFormat.inbound)
  })
})
