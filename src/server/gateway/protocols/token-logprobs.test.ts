import { describe, expect, it } from 'vitest'
import { codecOf, inboundOf, readContext, readSse, refusalOf, written } from '../../../../test/helpers/codecs.ts'
import { dialogueOf } from '../../../../test/helpers/dialogue.ts'
import type { WriteContext } from './codec.ts'
import type { Format } from './format.ts'
import { conversations } from './index.ts'
import type { JsonObject } from './wire-format.ts'

/** Log probabilities between the formats that have them. */

type Side = 'openai.chat' | 'openai.responses' | 'gemini.generate'
const sides: readonly Side[] = ['openai.chat', 'openai.responses', 'gemini.generate']

const messages = [{ role: 'user', content: 'Hi' }]
const contents = [{ role: 'user', parts: [{ text: 'Hi' }] }]
/** A request for log probabilities with two alternatives each. */
const asks: Readonly<Record<Side, JsonObject>> = {
  'openai.chat': { model: 'm', messages, logprobs: true, top_logprobs: 2 },
  'openai.responses': { model: 'm', input: 'Hi', top_logprobs: 2, include: ['message.output_text.logprobs'] },
  'gemini.generate': { contents, generationConfig: { responseLogprobs: true, logprobs: 2 } },
}
const readAsk = (side: Side, body = asks[side]) => inboundOf(side).readRequest(body, { model: 'm' })

const openAi = (token: string, logprob: number) => ({
  ...{ token, logprob, bytes: [...Buffer.from(token)] },
  top_logprobs: [{ token: 'Ry', logprob: -3, bytes: [82, 121] }],
})
const tokens = [openAi('Rye', -0.25), openAi('.', -0.5)]
const google = {
  chosenCandidates: tokens.map(({ token, logprob }) => ({ token, logProbability: logprob })),
  topCandidates: tokens.map(() => ({ candidates: [{ token: 'Ry', logProbability: -3 }] })),
}

/** A whole reply, and the same as the events of a stream, one for each token. */
const replies: Readonly<Record<Side, { readonly whole: JsonObject; readonly events: readonly JsonObject[] }>> = {
  'openai.chat': {
    whole: {
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: 'Rye.' },
          logprobs: { content: tokens, refusal: null },
          finish_reason: 'stop',
        },
      ],
    },
    events: [
      ...tokens.map((token) => ({
        choices: [{ index: 0, delta: { content: token.token }, logprobs: { content: [token], refusal: null } }],
      })),
      { choices: [{ index: 0, delta: {}, logprobs: null, finish_reason: 'stop' }] },
    ],
  },
  'openai.responses': {
    whole: { status: 'completed', output: [messageItem(tokens)] },
    events: [
      { type: 'response.output_item.added', output_index: 0, item: { ...messageItem(tokens), content: [] } },
      ...tokens.map((token) => ({
        ...{ type: 'response.output_text.delta', item_id: 'm', output_index: 0, content_index: 0 },
        ...{ delta: token.token, logprobs: [token] },
      })),
      { type: 'response.output_text.done', item_id: 'm', output_index: 0, content_index: 0, text: 'Rye.', logprobs: tokens },
      { type: 'response.output_item.done', output_index: 0, item: messageItem(tokens) },
      { type: 'response.completed', response: { status: 'completed', output: [messageItem(tokens)] } },
    ],
  },
  'gemini.generate': {
    whole: {
      candidates: [{ content: { role: 'model', parts: [{ text: 'Rye.' }] }, finishReason: 'STOP', logprobsResult: google }],
    },
    events: tokens.map(({ token }, at) => ({
      candidates: [
        {
          content: { role: 'model', parts: [{ text: token }] },
          ...(at === tokens.length - 1 ? { finishReason: 'STOP' } : {}),
          logprobsResult: {
            chosenCandidates: google.chosenCandidates.slice(at, at + 1),
            topCandidates: google.topCandidates.slice(at, at + 1),
          },
        },
      ],
    })),
  },
}

function messageItem(logprobs: readonly JsonObject[]): JsonObject {
  return {
    type: 'message',
    id: 'm',
    role: 'assistant',
    content: [{ type: 'output_text', text: 'Rye.', annotations: [], logprobs }],
  }
}

function contextOf(side: Side): WriteContext {
  let ids = 0
  return { id: 'r', createdAt: 1, model: 'm', dialogue: readAsk(side), newId: (prefix) => `${prefix}${++ids}` }
}

/** The tokens and log probabilities that a caller gets, from a whole reply or the events of a stream. */
function toldIn(side: Side, replied: readonly JsonObject[]): readonly (readonly [unknown, unknown, unknown])[] {
  const candidates = (data: JsonObject) => (data.candidates ?? data.choices ?? []) as readonly JsonObject[]
  const entries = replied.flatMap((data): readonly JsonObject[] => {
    if (side === 'openai.chat') return candidates(data).flatMap(({ logprobs }) => listOf(logprobs, 'content'))
    if (side === 'openai.responses') return data.type === 'response.output_text.delta' ? listOf(data, 'logprobs') : []
    return candidates(data).flatMap(({ logprobsResult }) => {
      const top = listOf(logprobsResult, 'topCandidates')
      return listOf(logprobsResult, 'chosenCandidates').map((entry, at) => ({
        ...entry,
        top_logprobs: listOf(top[at], 'candidates'),
      }))
    })
  })
  return entries.map(({ token, logprob, logProbability, top_logprobs }) => {
    const [other] = top_logprobs as readonly JsonObject[]
    return [token, logprob ?? logProbability, other?.token]
  })
}

function listOf(value: unknown, key: string): readonly JsonObject[] {
  return ((value as JsonObject | undefined | null)?.[key] ?? []) as readonly JsonObject[]
}

const expected = [
  ['Rye', -0.25, 'Ry'],
  ['.', -0.5, 'Ry'],
]
const pairs = sides.flatMap((from) => sides.filter((to) => to !== from).map((to) => [from, to] as const))

describe('log probabilities', () => {
  it.each(pairs)('[282] are requested by a caller of %s from an upstream of %s', (from, to) => {
    const { body, lost } = written(codecOf(to), readAsk(from))
    const { model: _, messages: __, input: ___, contents: ____, ...asked } = asks[to]
    expect(body).toMatchObject(
      to === 'openai.responses' ? { top_logprobs: 2, include: expect.arrayContaining(['message.output_text.logprobs']) } : asked,
    )
    expect(lost).toEqual([])
  })

  it.each(pairs)('[282] reach a caller of %s from an upstream of %s, whole and streamed', (from, to) => {
    const [codec, inbound] = [codecOf(to), inboundOf(from)]
    const { whole, events } = replies[to]
    const readWhole = codec.readReply(whole, readContext())
    const writer = inbound.writeEvents(contextOf(from))
    const stream = readWhole.map((event) => writer.push(event)).join('')
    expect(toldIn(from, dataIn(stream))).toEqual(expected)

    const again = inbound.writeEvents(contextOf(from))
    const text =
      events.map((data) => `data: ${JSON.stringify(data)}\n\n`).join('') + (to === 'openai.chat' ? 'data: [DONE]\n\n' : '')
    const streamed = readSse(codec, text)
      .map((event) => again.push(event))
      .join('')
    expect(toldIn(from, dataIn(streamed))).toEqual(expected)

    const reply = inbound.writeReply(readWhole, contextOf(from))
    const output = listOf(listOf(reply, 'output')[0], 'content')
    const isResponse = from === 'openai.responses'
    const told = isResponse ? output.map((part) => ({ type: 'response.output_text.delta', logprobs: part.logprobs })) : [reply]
    expect(toldIn(from, told)).toEqual(expected)
  })

  it('[282] are not told to callers who did not request them', () => {
    const events = codecOf('openai.responses').readReply(replies['openai.responses'].whole, readContext())
    for (const side of sides) {
      const context = { ...contextOf(side), dialogue: dialogueOf({ from: side }) }
      expect(JSON.stringify(inboundOf(side).writeReply(events, context))).not.toContain('-0.25')
    }
  })

  it.each(conversations.filter((name) => !sides.includes(name as Side)))(
    '[282] are refused for upstreams of %s',
    (name: Format) => {
      for (const side of sides) {
        const refused = refusalOf(() => written(codecOf(name), readAsk(side)))
        expect(refused).toMatchObject({ code: 'untranslatable', text: expect.stringContaining('log probabilities') })
      }
    },
  )

  it('[282] are named where the model has none', () => {
    expect(written(codecOf('openai.responses'), readAsk('gemini.generate'), { model: 'gpt-5' }).lost).toContain(
      'generationConfig.responseLogprobs',
    )
    expect(written(codecOf('openai.chat'), readAsk('openai.responses'), { model: 'o3' }).lost).toContain('top_logprobs')
  })
})

function dataIn(text: string): JsonObject[] {
  return text.split(/\r?\n\r?\n/).flatMap((block) => {
    const data = /^data: (\{.*)$/m.exec(block)?.[1]
    return data === undefined ? [] : [JSON.parse(data) as JsonObject]
  })
}
