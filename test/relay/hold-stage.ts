import { expect } from 'vitest'
import type { ChannelSetting } from '../../src/contract/entities/channel.ts'
import type { TestServer } from '../helpers/app.ts'
import { seedFile } from '../helpers/files.ts'
import { addChannel, addToken, books, setOptions } from '../helpers/seed.ts'
import { type Dearest, type HoldShape, holdModels, holdPrices } from './hold-shapes.ts'
import { httpUpstream, settledCharges } from './stage.ts'

const anthropic = 14
const gemini = 24

type Json = Record<string, unknown>
type Reply = (shape: HoldShape, used: Dearest) => Json | Buffer

/** A server with channels of three vendors, all of which answer the last shape passed to `play` with its most expensive usage. */
export async function holdStage(server: TestServer, setting: ChannelSetting = {}) {
  let playing: HoldShape | undefined
  let answers = 0
  let ignoresLimits = false
  const url = await httpUpstream(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const shape = playing
    if (!shape) return void response.writeHead(500).end()
    const limit = limitIn(chunks)
    const ignores = ignoresLimits && answers++ % 3 === 0
    const used = shape.usage({ limit: ignores ? undefined : limit })
    const [, reply] = replies.find(([path]) => (request.url ?? '').includes(path)) ?? []
    const body = reply?.(shape, used) ?? {}
    response.setHeader('content-type', Buffer.isBuffer(body) ? 'audio/mpeg' : 'application/json')
    response.end(Buffer.isBuffer(body) ? body : JSON.stringify(body))
  })
  const shared = { url, setting: JSON.stringify(setting) }
  const channelId = await addChannel(server, { ...shared, models: holdModels.openai.join(',') })
  await seedFile(server, { id: 'file-1', channelId })
  await addChannel(server, { ...shared, type: anthropic, models: holdModels.anthropic.join(',') })
  await addChannel(server, { ...shared, type: gemini, models: holdModels.gemini.join(',') })
  const ratios = Object.fromEntries(Object.values(holdModels).flatMap((models) => models.map((model) => [model, 0.05])))
  await setOptions(server, { ModelRatio: ratios, ...holdPrices })
  const rich = await addToken(server)

  return {
    rich,
    play(shape: HoldShape, { ignoring = false } = {}) {
      playing = shape
      ignoresLimits = ignoring
    },
    /** Sends a shape once and returns the hold and the charge, and whether the charge was cut to the maximum usage of the call. */
    async once(shape: HoldShape, key = rich.key) {
      playing = shape
      ignoresLimits = false
      const answer = await send(server.url, key, shape)
      if (answer.status !== 200)
        return {
          status: answer.status,
          text: answer.text,
          charge: 0,
          held: 0,
          limit: undefined,
          isCut: false,
          isAboveHold: false,
        }
      await settledCharges(server)
      const row = (await books(server)).logs.at(-1)
      const { held = 0, output_limit: limit, ...marks } = JSON.parse(row?.other ?? '{}')
      const { usage_implausible: isCut = false, above_hold: isAboveHold = false } = marks
      return { status: 200, text: answer.text, charge: row?.quota ?? 0, held, limit, isCut, isAboveHold }
    },
  }
}

export async function send(url: string, key: string, { path, model, body }: HoldShape) {
  const isForm = typeof body === 'function'
  const response = await fetch(url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, ...(isForm ? {} : { 'content-type': 'application/json' }) },
    body: isForm ? body() : JSON.stringify(path.startsWith('/v1beta') ? body : { model, ...body }),
  })
  return { status: response.status, text: Buffer.from(await response.arrayBuffer()).toString('latin1') }
}

/** Sends a shape many times concurrently with a key that covers ten at their real cost, and returns the remaining quota. */
export async function sendConcurrently(
  servers: readonly TestServer[],
  stage: Awaited<ReturnType<typeof holdStage>>,
  shape: HoldShape,
  callers = 200,
) {
  const [first] = servers
  if (!first) throw new Error('A crowd needs a server')
  const { charge, text } = await stage.once(shape)
  expect(charge, `${shape.name}: ${text}`).toBeGreaterThan(0)
  const token = await addToken(first, { unlimited_quota: false, remain_quota: charge * 10 })
  stage.play(shape, { ignoring: true })
  const statuses = await Promise.all(
    Array.from({ length: callers }, async (_, index) => {
      const server = servers[index % servers.length] ?? first
      return (await send(server.url, token.key, shape)).status
    }),
  )
  for (const server of servers) await settledCharges(server)
  const { tokens } = await books(first)
  return {
    statuses,
    left: tokens.find(({ id }) => id === token.id)?.remain_quota ?? Number.NaN,
  }
}

/** Has three other users send a shape as often as it takes to learn it; the stage has to play it. */
export async function teach(server: TestServer, shape: HoldShape): Promise<void> {
  const users = await Promise.all(['first', 'second', 'third'].map((name) => richUser(server, name)))
  await Promise.all(
    users.map(async ({ id, key }) => {
      const own = await withOwnFile(server, shape, id)
      for (let calls = 0; calls < 7; calls++) expect((await send(server.url, key, own)).status, shape.name).toBe(200)
    }),
  )
  await settledCharges(server)
}

/** The shape with a file of this user in place of the one that it names. */
async function withOwnFile(server: TestServer, shape: HoldShape, userId: number): Promise<HoldShape> {
  const text = typeof shape.body === 'function' ? '' : JSON.stringify(shape.body)
  if (!text.includes('"file-1"')) return shape
  const named = server.app.db.selectFrom('files').select('channel_id').where('id', '=', 'file-1')
  const { channel_id: channelId } = await named.executeTakeFirstOrThrow()
  const id = `file-of-${userId}`
  await seedFile(server, { id, channelId, userId })
  return { ...shape, body: JSON.parse(text.replaceAll('"file-1"', JSON.stringify(id))) }
}

/** A user who has a rich balance, with a key. */
async function richUser(server: TestServer, username: string): Promise<{ id: number; key: string }> {
  const { bus, db, ledger } = server.app
  const known = await db.selectFrom('users').select('id').where('username', '=', username).executeTakeFirst()
  const row = { username, username_key: username, display_name: '', password_hash: '', aff_code: username, created_time: 0 }
  const { id } = known ?? (await db.insertInto('users').values(row).returning('id').executeTakeFirstOrThrow())
  const grant = { userId: id, kind: 'grant' as const, amount: 100_000_000, reference: `grant:${id}`, at: 1 }
  if (!known) await db.transaction().execute((within) => ledger.credit(within, grant))
  const token = await addToken(server)
  await db.updateTable('tokens').set({ user_id: id }).where('id', '=', token.id).execute()
  bus.publish('token', token.id)
  bus.publish('user', id)
  return { id, key: token.key }
}

function limitIn(chunks: readonly Buffer[]): number | undefined {
  const found = /"(?:max_tokens|max_completion_tokens|max_output_tokens|maxOutputTokens)":\s*(\d+)/.exec(
    Buffer.concat(chunks).toString('latin1'),
  )
  return found ? Number(found[1]) : undefined
}

const openAiUsage = ({ prompt, output, cacheWrite30m = 0, audioIn = 0, audioOut = 0, imageIn = 0 }: Dearest) => ({
  prompt_tokens: prompt,
  completion_tokens: output,
  total_tokens: prompt + output,
  prompt_tokens_details: { cache_write_tokens: cacheWrite30m, audio_tokens: audioIn, image_tokens: imageIn },
  completion_tokens_details: { audio_tokens: audioOut },
})

const cacheDetails = ({ cacheWrite30m = 0, cacheWrite12h = 0 }: Dearest) => ({
  cache_write_tokens: cacheWrite30m + cacheWrite12h,
  cache_write_tokens_details: { ttl_30m_tokens: cacheWrite30m, ttl_12h_tokens: cacheWrite12h },
})

/** Whole replies, by a part of the path. */
const replies: readonly (readonly [path: string, reply: Reply])[] = [
  [
    '/chat/completions',
    ({ model }, used) => ({
      id: 'chatcmpl-1',
      object: 'chat.completion',
      model,
      choices: [{ index: 0, message: { role: 'assistant', content: 'x' }, finish_reason: 'stop' }],
      usage: openAiUsage(used),
    }),
  ],
  [
    '/completions',
    ({ model }, used) => ({
      id: 'cmpl-1',
      object: 'text_completion',
      model,
      choices: [{ index: 0, text: 'x', finish_reason: 'stop' }],
      usage: openAiUsage(used),
    }),
  ],
  [
    '/responses',
    ({ model }, used) => ({
      id: 'resp_1',
      object: 'response',
      status: 'completed',
      model,
      output: [
        ...Array.from({ length: used.searches ?? 0 }, (_, index) => ({
          type: 'web_search_call',
          id: `ws_${index}`,
          status: 'completed',
        })),
        {
          type: 'message',
          id: 'msg_1',
          status: 'completed',
          role: 'assistant',
          content: [{ type: 'output_text', text: 'x', annotations: [] }],
        },
      ],
      usage: {
        input_tokens: used.prompt,
        input_tokens_details: cacheDetails(used),
        output_tokens: used.output,
        total_tokens: used.prompt + used.output,
      },
    }),
  ],
  [
    '/messages',
    ({ model }, { prompt, output, cacheWrite1h = 0, searches = 0 }) => ({
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model,
      content: [{ type: 'text', text: 'x' }],
      stop_reason: 'end_turn',
      usage: {
        input_tokens: prompt - cacheWrite1h,
        cache_creation_input_tokens: cacheWrite1h,
        cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: cacheWrite1h },
        output_tokens: output,
        server_tool_use: { web_search_requests: searches },
      },
    }),
  ],
  [
    ':generateContent',
    ({ model }, { prompt, output, cachedAudio = 0, audioIn = 0, videoOut = 0 }) => ({
      candidates: [{ content: { role: 'model', parts: [{ text: 'x' }] }, finishReason: 'STOP' }],
      usageMetadata: {
        promptTokenCount: prompt,
        cachedContentTokenCount: cachedAudio,
        promptTokensDetails: [{ modality: 'AUDIO', tokenCount: cachedAudio + audioIn }],
        cacheTokensDetails: [{ modality: 'AUDIO', tokenCount: cachedAudio }],
        candidatesTokenCount: output,
        candidatesTokensDetails: [{ modality: 'VIDEO', tokenCount: videoOut }],
        totalTokenCount: prompt + output,
      },
      modelVersion: model,
    }),
  ],
  [
    '/interactions',
    ({ model }, { prompt, output, audioIn = 0 }) => ({
      id: 'v1_1',
      status: 'completed',
      model,
      steps: [{ type: 'model_output', content: [{ type: 'text', text: 'x' }] }],
      usage: {
        total_input_tokens: prompt,
        input_tokens_by_modality: [{ modality: 'audio', tokens: audioIn }],
        total_output_tokens: output,
        total_tokens: prompt + output,
      },
    }),
  ],
  [
    '/embeddings',
    ({ model }, { prompt }) => ({
      object: 'list',
      model,
      data: [{ object: 'embedding', index: 0, embedding: [0.1] }],
      usage: { prompt_tokens: prompt, total_tokens: prompt },
    }),
  ],
  [
    '/images/',
    (_shape, { prompt, output, images = 1 }) => ({
      created: 1,
      data: Array.from({ length: images }, () => ({ b64_json: 'iVBORw0KGgo=' })),
      ...(output > 0 ? { usage: { input_tokens: prompt, output_tokens: output, total_tokens: prompt + output } } : {}),
    }),
  ],
  ['/audio/speech', () => Buffer.from('ID3 sound')],
  ['/audio/transcriptions', (_shape, { seconds = 0 }) => ({ text: 'x', duration: seconds })],
]
