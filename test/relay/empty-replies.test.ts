import { describe, expect, it } from 'vitest'
import { addChannel } from '../helpers/seed.ts'
import { scene, sharedScenes, streamed, vendor } from './paid-stage.ts'

/**
 * Replies with a status of success that answer nothing: another channel answers, and nothing is charged. Source: protocols notes 1.3 to
 * 1.13, and https://openrouter.ai/docs/api-reference/errors-and-debugging, read 2026-11.
 */
const sharedScene = sharedScenes()

const chat = { model: 'gpt-5', messages: [{ role: 'user', content: 'hi' }] }
const messages = { model: 'claude-opus-4-6', max_tokens: 9, messages: [{ role: 'user', content: 'hi' }] }
const embed = { model: 'gpt-5', input: ['a', 'b'] }
const draw = { model: 'gpt-5', prompt: 'a cat' }
const rank = { model: 'gpt-5', query: 'q', documents: ['a', 'b'] }
const generate = { contents: [{ role: 'user', parts: [{ text: 'hi' }] }] }
const gemini = '/v1beta/models/gemini-2.5-pro:generateContent'
const usage = { prompt_tokens: 5, completion_tokens: 0, total_tokens: 5 }
const vector = (index: number, embedding: unknown) => ({ object: 'embedding', index, embedding })
const failed = { code: 502, message: 'Provider returned error' }

type Case<Reply = object> = readonly [what: string, path: string, asked: object, reply: Reply, type?: number]
/** With the type of channel, which is OpenAI's unless the case names another. */
const typed = <Reply>(cases: readonly Case<Reply>[]) =>
  cases.map(([what, path, asked, reply, type = 1]) => [what, path, asked, reply, type] as const)

const anthropic = 14
const google = 24

const empty: readonly Case[] = [
  ['no choice of Chat', '/v1/chat/completions', chat, { choices: [], usage }],
  [
    'a choice of Chat with an error',
    '/v1/chat/completions',
    chat,
    { choices: [{ index: 0, error: failed, finish_reason: 'error', message: { role: 'assistant', content: '' } }], usage },
  ],
  ['a choice of Chat that is empty', '/v1/chat/completions', chat, { choices: [{}], usage }],
  ['a choice of Chat that is null', '/v1/chat/completions', chat, { choices: [null], usage }],
  ['no choice of Completions', '/v1/completions', { model: 'gpt-5', prompt: 'hi' }, { choices: [], usage }],
  ['no item of Responses', '/v1/responses', { model: 'gpt-5', input: 'hi' }, { status: 'completed', output: [] }],
  [
    'no content of Messages',
    '/v1/messages',
    messages,
    { type: 'message', role: 'assistant', content: [], stop_reason: 'end_turn' },
    anthropic,
  ],
  [
    'no content of Messages for Chat',
    '/v1/chat/completions',
    { ...chat, model: 'claude-opus-4-6' },
    { type: 'message', role: 'assistant', content: [], stop_reason: 'end_turn' },
    anthropic,
  ],
  ['no choice of Chat for Messages', '/v1/messages', messages, { choices: [{}], usage }],
  ['no candidate of Gemini', gemini, generate, { candidates: [], usageMetadata: { promptTokenCount: 5 } }, google],
  ['a candidate of Gemini that is empty', gemini, generate, { candidates: [{}] }, google],
  ['no candidate of Gemini for Chat', '/v1/chat/completions', { ...chat, model: 'gemini-2.5-pro' }, { candidates: [] }, google],
  ['no vector', '/v1/embeddings', embed, { object: 'list', data: [], usage: { prompt_tokens: 5, total_tokens: 5 } }],
  ['too few vectors', '/v1/embeddings', embed, { data: [vector(0, [1, 2])], usage: { prompt_tokens: 5, total_tokens: 5 } }],
  [
    'a vector that is null',
    '/v1/embeddings',
    embed,
    { data: [vector(0, [1, 2]), vector(1, null)], usage: { prompt_tokens: 5, total_tokens: 5 } },
  ],
  [
    'a vector without numbers',
    '/v1/embeddings',
    { ...embed, input: 'a' },
    { data: [vector(0, [])], usage: { prompt_tokens: 5, total_tokens: 5 } },
  ],
  ['no picture', '/v1/images/generations', draw, { created: 1, data: [] }],
  ['a picture with an empty address', '/v1/images/generations', draw, { created: 1, data: [{ url: '' }] }],
  [
    'a picture that is an empty object',
    '/v1/images/generations',
    draw,
    { created: 1, data: [{}], usage: { input_tokens: 5, output_tokens: 9, total_tokens: 14 } },
  ],
  ['only reasons in place of pictures', '/v1/images/generations', draw, { created: 1, data: [{ error: { message: 'no' } }] }],
  ['no rank', '/v1/rerank', rank, { results: [] }],
  ['no result of a moderation', '/v1/moderations', { model: 'gpt-5', input: 'a' }, { results: [] }],
]

describe('a reply with', () => {
  it.each(typed(empty))(
    '%s is a failure that another channel may answer, and costs nothing',
    async (_what, path, asked, reply, type) => {
      const { url, asked: sent } = await vendor(reply)
      const { ask, charged, logs } = await sharedScene(url, { type })
      const { status, text } = await ask(asked, path)
      expect(status, text).toBe(502)
      expect(sent.length).toBeGreaterThan(0)
      expect(await charged()).toEqual([])
      expect(await logs()).toEqual([])
    },
  )
})

const said = (delta: object, finish_reason: string | null = null) => ({ choices: [{ index: 0, delta, finish_reason }] })
const started = {
  type: 'message_start',
  message: { id: 'm', type: 'message', role: 'assistant', model: 'm', content: [], usage: { input_tokens: 5, output_tokens: 0 } },
}
const stopped = { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null } }
const response = { id: 'r', object: 'response', model: 'm', output: [] }

const emptyStreams: readonly Case<ReturnType<typeof streamed>>[] = [
  ['no choice of Chat', '/v1/chat/completions', chat, streamed([{ choices: [], usage }], 'data: [DONE]\n\n')],
  [
    'an error in the choice of Chat',
    '/v1/chat/completions',
    chat,
    streamed(
      [said({ role: 'assistant' }), { choices: [{ index: 0, delta: { content: '' }, error: failed, finish_reason: 'error' }] }],
      'data: [DONE]\n\n',
    ),
  ],
  [
    'an error in the choice of Chat for Messages',
    '/v1/messages',
    messages,
    streamed([{ choices: [{ index: 0, delta: { content: '' }, error: failed, finish_reason: 'error' }] }], 'data: [DONE]\n\n'),
  ],
  [
    'no item of Responses',
    '/v1/responses',
    { model: 'gpt-5', input: 'hi' },
    streamed(
      [
        { type: 'response.created', response: { ...response, status: 'in_progress' } },
        { type: 'response.completed', response: { ...response, status: 'completed' } },
      ],
      '',
      true,
    ),
  ],
  ['no block of Messages', '/v1/messages', messages, streamed([started, stopped, { type: 'message_stop' }], '', true), anthropic],
  [
    'no block of Messages for Chat',
    '/v1/chat/completions',
    { ...chat, model: 'claude-opus-4-6' },
    streamed([started, stopped, { type: 'message_stop' }], '', true),
    anthropic,
  ],
  [
    'no candidate of Gemini',
    '/v1beta/models/gemini-2.5-pro:streamGenerateContent',
    generate,
    streamed([{ candidates: [], usageMetadata: { promptTokenCount: 5, totalTokenCount: 5 } }]),
    google,
  ],
  [
    'a picture with an empty address',
    '/v1/images/generations',
    draw,
    streamed(
      [{ type: 'image_generation.completed', url: '', usage: { input_tokens: 5, output_tokens: 9, total_tokens: 14 } }],
      '',
      true,
    ),
  ],
]

describe('a stream with', () => {
  it.each(typed(emptyStreams))(
    '%s is a failure that another channel may answer, and costs nothing',
    async (_what, path, asked, reply, type) => {
      const { url } = await vendor(() => reply)
      const { ask, charged } = await sharedScene(url, { type })
      const { status, text } = await ask({ ...asked, stream: true }, path)
      expect(status, text).toBe(502)
      expect(await charged()).toEqual([])
    },
  )
})

const answered: readonly Case[] = [
  [
    'nothing after a stop',
    '/v1/chat/completions',
    chat,
    { choices: [{ index: 0, message: { role: 'assistant', content: '' }, finish_reason: 'stop' }], usage },
  ],
  [
    'a refusal',
    '/v1/chat/completions',
    chat,
    { choices: [{ index: 0, message: { role: 'assistant', content: null, refusal: 'No' }, finish_reason: 'stop' }], usage },
  ],
  ['nothing but a filter', '/v1/chat/completions', chat, { choices: [{ index: 0, finish_reason: 'content_filter' }], usage }],
  [
    'one answer beside a failed one',
    '/v1/chat/completions',
    { ...chat, n: 2 },
    {
      choices: [
        { index: 0, error: failed, finish_reason: 'error' },
        { index: 1, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' },
      ],
      usage: { prompt_tokens: 5, completion_tokens: 1, total_tokens: 6 },
    },
  ],
  [
    'a response that was cut short',
    '/v1/responses',
    { model: 'gpt-5', input: 'hi' },
    {
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
      output: [],
      usage: { input_tokens: 5, output_tokens: 0, total_tokens: 5 },
    },
  ],
  [
    'a response that cost tokens',
    '/v1/responses',
    { model: 'gpt-5', input: 'hi' },
    { status: 'completed', output: [], usage: { input_tokens: 5, output_tokens: 3, total_tokens: 8 } },
  ],
  [
    'a turn that Claude ended at once',
    '/v1/messages',
    messages,
    { type: 'message', role: 'assistant', content: [], stop_reason: 'end_turn', usage: { input_tokens: 5, output_tokens: 2 } },
    anthropic,
  ],
  [
    'a refusal of Claude',
    '/v1/messages',
    messages,
    { type: 'message', role: 'assistant', content: [], stop_reason: 'refusal', usage: { input_tokens: 5, output_tokens: 0 } },
    anthropic,
  ],
  [
    'a blocked prompt of Gemini',
    gemini,
    generate,
    { promptFeedback: { blockReason: 'SAFETY' }, usageMetadata: { promptTokenCount: 5, totalTokenCount: 5 } },
    google,
  ],
  [
    'a candidate that was blocked',
    gemini,
    generate,
    { candidates: [{ index: 0, finishReason: 'SAFETY' }], usageMetadata: { promptTokenCount: 5, totalTokenCount: 5 } },
    google,
  ],
  [
    'one vector of several parts',
    '/v1/embeddings',
    { model: 'gpt-5', input: [{ text: 'a' }, { image: 'https://a.example/b.png' }] },
    { data: [vector(0, [1, 2])], usage: { prompt_tokens: 5, total_tokens: 5 } },
  ],
  [
    'one picture beside a reason',
    '/v1/images/generations',
    { ...draw, n: 2 },
    { created: 1, data: [{ url: 'https://a.example/b.png' }, { error: { message: 'no' } }] },
  ],
  [
    'a ranking as a bare list',
    '/v1/rerank',
    rank,
    [
      { index: 1, score: 0.9 },
      { index: 0, score: 0.1 },
    ],
  ],
]

describe('an answer stays', () => {
  it.each(typed(answered))('%s', async (_what, path, asked, reply, type) => {
    const { url } = await vendor(reply)
    const { ask, charged } = await sharedScene(url, { type })
    const { status, text } = await ask(asked, path)
    expect(status, text).toBe(200)
    expect(await charged()).toHaveLength(1)
  })
})

it('another channel answers in place of one that answered nothing, and only its answer is charged', async () => {
  const { url } = await vendor({ choices: [], usage })
  const hello = { choices: [{ index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }] }
  const { url: other } = await vendor({ ...hello, usage: { prompt_tokens: 5, completion_tokens: 1, total_tokens: 6 } })
  const { ask, server, set, last } = await scene('sqlite', url, { priority: 9 })
  await set('RetryTimes', 1)
  await addChannel(server, { url: other, models: 'gpt-5' })
  expect((await ask(chat)).status).toBe(200)
  expect(await last()).toMatchObject({
    quota: 6,
    other: { admin_info: { attempts: [{ reason: 'bad-reply: its answer was empty' }] } },
  })
})

it('a ranking that a host sends as a bare list reaches the caller in the common form', async () => {
  const { url } = await vendor([{ index: 1, score: 0.9, text: 'b' }])
  const { ask } = await sharedScene(url)
  const { text } = await ask(rank, '/v1/rerank')
  expect(JSON.parse(text)).toMatchObject({ results: [{ index: 1, relevance_score: 0.9 }] })
})
