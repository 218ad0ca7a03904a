import { describe, expect, it } from 'vitest'
import { type ErrorCode, errors } from '../../src/contract/errors.ts'
import { noUsage } from '../../src/contract/usage.ts'
import { AppError } from '../../src/server/base/lib/failure.ts'
import { errorBody, ownError } from '../../src/server/gateway/protocols/error-body.ts'
import type { CallerFormat, Dialect, Format, TaskFormat } from '../../src/server/gateway/protocols/format.ts'
import { serverOfTest, type TestServer } from '../helpers/app.ts'
import { convertOfTest } from '../helpers/conversions.ts'
import { addChannel, addToken } from '../helpers/seed.ts'
import { faultsOf, type Typed } from './compile.ts'

/** Bodies other than conversations: errors, lists of models, token counts, and other vendors' replies to other calls. */
const errorTypes: Readonly<Record<Exclude<Dialect, TaskFormat>, string>> = {
  openai: 'OpenAiError',
  anthropic: 'MessagesError',
  gemini: 'GeminiError',
}
const dialects = Object.keys(errorTypes) as (keyof typeof errorTypes)[]

function everyError(): Typed[] {
  const codes = Object.keys(errors) as ErrorCode[]
  return dialects.flatMap((dialect) =>
    codes.map((code) => ({
      type: errorTypes[dialect],
      json: errorBody(dialect, ownError(new AppError(code, { field: code === 'untranslatable' ? 'thread' : 'f' })), {
        requestId: 'r1',
        language: 'en',
      }),
    })),
  )
}

const vectors = [
  [0.5, 1],
  [0.25, 0],
]
const image = { content: { parts: [{ inlineData: { mimeType: 'image/png', data: 'AAAA' } }] }, finishReason: 'STOP' }

/** Conversions by the vendor's reply, with the type of the caller's reply. */
const answers: readonly { type: string; from: CallerFormat; to: Format; body: object; replies: readonly object[] }[] = [
  {
    type: 'Embeddings',
    from: 'openai.embeddings',
    to: 'gemini.batch_embed',
    body: { input: ['a', 'b'] },
    replies: [{ embeddings: vectors.map((values) => ({ values })), usageMetadata: { promptTokenCount: 7 } }],
  },
  {
    type: 'Embeddings',
    from: 'openai.embeddings',
    to: 'gemini.embed',
    body: { input: 'a' },
    replies: [{ embedding: { values: [1, 0] } }],
  },
  {
    type: 'Embeddings',
    from: 'openai.embeddings',
    to: 'cohere.embed',
    body: { input: ['a', 'b'] },
    replies: [{ embeddings: { float: vectors }, meta: { billed_units: { input_tokens: 9 } } }],
  },
  {
    type: 'Embeddings',
    from: 'openai.embeddings',
    to: 'ollama.embed',
    body: { input: ['a', 'b'] },
    replies: [{ embeddings: vectors, prompt_eval_count: 3 }],
  },
  {
    type: 'Embeddings',
    from: 'openai.embeddings',
    to: 'bedrock.titan-embed',
    body: { input: ['a', 'b'] },
    replies: vectors.map((embedding) => ({ embedding, inputTextTokenCount: 2 })),
  },
  {
    type: 'GeminiEmbedding',
    from: 'gemini.embed',
    to: 'openai.embeddings',
    body: { content: { parts: [{ text: 'a' }] } },
    replies: [{ data: [{ index: 0, embedding: [1, 2] }], usage: { prompt_tokens: 3 } }],
  },
  {
    type: 'GeminiEmbeddings',
    from: 'gemini.batch_embed',
    to: 'openai.embeddings',
    body: { requests: [{ content: { parts: [{ text: 'a' }] } }, { content: { parts: [{ text: 'b' }] } }] },
    replies: [{ data: vectors.map((embedding, index) => ({ index, embedding })), usage: { total_tokens: 5 } }],
  },
  {
    type: 'Images',
    from: 'openai.images',
    to: 'gemini.generate',
    body: { prompt: 'a lock' },
    replies: [{ candidates: [image], usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 9, totalTokenCount: 14 } }],
  },
  {
    type: 'Images',
    from: 'openai.images',
    to: 'siliconflow.images',
    body: { prompt: 'a lock' },
    replies: [{ images: [{ url: 'https://x.test/1' }], timings: {} }],
  },
  {
    type: 'Images',
    from: 'openai.images',
    to: 'zhipu.images',
    body: { prompt: 'a lock' },
    replies: [{ created: 1, data: [{ url: 'https://x.test/1' }] }],
  },
  {
    type: 'Images',
    from: 'openai.images',
    to: 'volcengine.images',
    body: { prompt: 'a lock' },
    replies: [{ data: [{ b64_json: 'AA', size: '2048x2048' }], usage: { generated_images: 1 } }],
  },
]

function everyConversion(): Typed[] {
  return answers.map(({ type, from, to, body, replies }) => {
    const { plan, read } = convertOfTest(from, to, { model: 'asked', ...body })
    const told = read(...(replies as Record<string, unknown>[]))
    // The relay adds its own count when the vendor has reported none.
    const counted = 'usage' in told ? {} : plan.writeUsage?.({ ...noUsage, input: 4 })
    return { type, json: JSON.stringify({ ...told, ...counted }) }
  })
}

async function everyAnswer(server: TestServer, key: string): Promise<Typed[]> {
  const get = async (type: string, path: string, headers: Record<string, string> = {}, body?: object): Promise<Typed> => {
    const response = await fetch(server.url + path, {
      headers: { authorization: `Bearer ${key}`, ...headers },
      ...(body ? { method: 'POST', body: JSON.stringify(body) } : {}),
    })
    return { type, json: await response.text() }
  }
  const anthropic = { 'anthropic-version': '2023-06-01' }
  const google = { 'x-goog-api-key': key }
  const messages = [{ role: 'user', content: 'one two three' }]
  return Promise.all([
    get('ModelList', '/v1/models'),
    get('Model', '/v1/models/gpt-4o-mini'),
    get('ClaudeModels', '/v1/models', anthropic),
    get('ClaudeModel', '/v1/models/gpt-4o-mini', anthropic),
    get('GeminiModels', '/v1beta/models', google),
    get('GeminiModel', '/v1beta/models/gpt-4o-mini', google),
    get('ClaudeCount', '/v1/messages/count_tokens', anthropic, { model: 'gpt-4o-mini', messages }),
    get('GeminiCount', '/v1beta/models/gpt-4o-mini:countTokens', google, {
      contents: [{ role: 'user', parts: [{ text: 'hi' }] }],
    }),
    get('ResponsesCount', '/v1/responses/input_tokens', {}, { model: 'gpt-4o-mini', input: 'one two three' }),
    get('OpenAiError', '/v1/models/no-such-model'),
    get('MessagesError', '/v1/models/no-such-model', anthropic),
    get('GeminiError', '/v1beta/models/no-such-model', google),
    get('OpenAiError', '/v1/chat/completions', { authorization: '' }, { model: 'gpt-4o-mini', messages }),
    get('MessagesError', '/v1/messages', {}, { model: 'gpt-4o-mini', messages: 7 }),
    get('GeminiError', '/v1beta/models/gpt-4o-mini:generateContent', google, {}),
    get('OpenAiError', '/v1/no-such-path'),
    get('MessagesError', '/v1/messages/no-such-path', anthropic),
  ])
}

describe('bodies other than conversations', () => {
  it('fit the types of the official SDKs too', async () => {
    const server = await serverOfTest('sqlite')
    await addChannel(server, { url: 'http://127.0.0.1:9', type: 8, models: 'gpt-4o-mini,claude-3-5-sonnet-20241022' })
    const { key } = await addToken(server)
    const told = await everyAnswer(server, key)
    expect(await faultsOf({ errors: everyError(), conversions: everyConversion(), answers: told })).toEqual([])
  })
})
