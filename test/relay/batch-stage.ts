import Anthropic from '@anthropic-ai/sdk'
import { GoogleGenAI } from '@google/genai'
import OpenAI, { toFile } from 'openai'
import { followBatches } from '../../src/server/gateway/batches/follow.ts'
import { serverOfTest, type TestServer } from '../helpers/app.ts'
import { addChannel, addToken, books, setOptions } from '../helpers/seed.ts'
import { batchVendor } from './batch-vendor.ts'
import { claude, model } from './stage.ts'

/** A second model of the channel, and one that its vendor knows by another name. */
export const other = 'gpt-4.1'
export const mapped = 'my-model'
export const google = 'gemini-2.5-flash'

/** Prices of the models, for the server and for `bill`. */
export const prices: Record<'ModelRatio' | 'CompletionRatio' | 'CacheRatio', Readonly<Record<string, number>>> = {
  ModelRatio: { [model]: 2, [other]: 3, [mapped]: 5, [claude]: 1.5, [google]: 4 },
  CompletionRatio: { [model]: 4, [other]: 2, [mapped]: 1, [claude]: 5, [google]: 3 },
  CacheRatio: { [model]: 0.5 },
}

export const channelsOf = (url: string) => [
  {
    ...{ url, models: `${model},${other},${mapped}`, key: 'key-openai' },
    model_mapping: JSON.stringify({ [mapped]: 'vendors-model' }),
  },
  { url, models: claude, type: 14, key: 'key-anthropic' },
  { url, models: google, type: 24, key: 'key-gemini' },
]

export interface BatchStage {
  readonly server: TestServer
  readonly vendor: Awaited<ReturnType<typeof batchVendor>>
  readonly openai: OpenAI
  readonly anthropic: Anthropic
  readonly gemini: GoogleGenAI
  readonly key: string
  readonly tokenId: number
}

export async function batchStage(
  kind: 'sqlite' | 'postgres' = 'sqlite',
  token: Record<string, unknown> = {},
): Promise<BatchStage> {
  const server = await serverOfTest(kind)
  const vendor = await batchVendor()
  await setOptions(server, prices)
  for (const channel of channelsOf(vendor.url)) await addChannel(server, channel)
  const { id: tokenId, key } = await addToken(server, token)
  return { server, vendor, ...sdks(server, key), key, tokenId }
}

export function sdks({ url }: Pick<TestServer, 'url'>, key: string) {
  const openai = new OpenAI({ apiKey: key, baseURL: `${url}/v1`, maxRetries: 0 })
  const gemini = new GoogleGenAI({ apiKey: key, httpOptions: { baseUrl: url, retryOptions: { attempts: 1 } } })
  return { openai, anthropic: new Anthropic({ apiKey: key, baseURL: url, maxRetries: 0 }), gemini }
}

export const request = (id: string, more: Record<string, unknown> = {}) => ({
  custom_id: id,
  method: 'POST',
  url: '/v1/chat/completions',
  body: { model, max_tokens: 50, messages: [{ role: 'user', content: `say ${id}` }], ...more },
})

export async function upload(openai: OpenAI, lines: readonly unknown[]): Promise<string> {
  const text = lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n')
  return (await openai.files.create({ file: await toFile(Buffer.from(text), 'in.jsonl'), purpose: 'batch' })).id
}

export const order = { endpoint: '/v1/chat/completions', completion_window: '24h' } as const

export async function create(openai: OpenAI, lines: readonly unknown[], more: object = {}) {
  return openai.batches.create({ input_file_id: await upload(openai, lines), ...order, ...more })
}

const tokensIn = 100
const tokensOut = 20

export const usage = (cached = 0) => ({
  prompt_tokens: tokensIn,
  completion_tokens: tokensOut,
  total_tokens: tokensIn + tokensOut,
  prompt_tokens_details: { cached_tokens: cached },
})

/** The reply to a request of Chat. */
export const answered = (body: Record<string, unknown>, more: unknown = {}) => ({
  ...{ id: 'chatcmpl-1', object: 'chat.completion', created: 1, model: body.model, usage: usage() },
  choices: [{ index: 0, message: { role: 'assistant', content: 'four five six' }, finish_reason: 'stop' }],
  ...(typeof more === 'object' ? more : {}),
})

/** The reply to a request of Messages. */
export const message = (body: Record<string, unknown>) => ({
  ...{ id: 'msg_1', type: 'message', role: 'assistant', model: body.model, content: [{ type: 'text', text: 'four' }] },
  ...{ stop_reason: 'end_turn', stop_sequence: null },
  usage: { input_tokens: tokensIn, output_tokens: tokensOut, service_tier: 'batch' },
})

/** The reply to a request of Gemini. */
export const generated = () => ({
  candidates: [{ content: { role: 'model', parts: [{ text: 'four' }] }, finishReason: 'STOP', index: 0 }],
  usageMetadata: { promptTokenCount: tokensIn, candidatesTokenCount: tokensOut, totalTokenCount: tokensIn + tokensOut },
  modelVersion: google,
})

/** What a request with these tokens costs in a batch, computed apart from the server. */
export function bill(name: string, cached = 0): number {
  const ratio = prices.ModelRatio[name] ?? 0
  const cacheRatio = prices.CacheRatio[name] ?? 1
  const output = tokensOut * (prices.CompletionRatio[name] ?? 1)
  return Math.ceil((tokensIn - cached + cached * cacheRatio + output) * ratio * 0.5)
}

export async function charges(server: TestServer): Promise<{ reference: string; amount: number }[]> {
  const { ledger } = await books(server)
  return ledger.filter(({ kind }) => kind === 'charge').map(({ reference, amount }) => ({ reference, amount: -amount }))
}

/** What the token of the test holds. */
export async function held({ server, tokenId }: BatchStage): Promise<number> {
  const row = await server.app.db.selectFrom('tokens').select('held').where('id', '=', tokenId).executeTakeFirstOrThrow()
  return row.held
}

export const follow = ({ app }: Pick<TestServer, 'app'>) => followBatches(app, new AbortController().signal)

/** Has the next run of the job ask for every batch. */
export async function dueNow({ app }: Pick<TestServer, 'app'>): Promise<void> {
  await app.db.updateTable('batches').set({ ask_at: 1, settling_until: 0 }).where('ask_at', '>', 0).execute()
}
