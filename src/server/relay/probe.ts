import { reportTest } from '../channels/health.ts'
import { openChannel, type RunningChannel } from '../channels/model-index.ts'
import { resolveModel } from '../channels/select.ts'
import { AppError, fail } from '../lib/failure.ts'
import { CallFailure, callConfigured } from '../lib/http-client.ts'
import type { Format } from '../protocols/format.ts'
import { readOpenAiError } from '../protocols/openai-chat/errors.ts'
import { isObject } from '../protocols/wire-format.ts'
import { readHiddenError } from './exchange.ts'
import { withoutSecrets } from './failure.ts'
import type { RelayParts } from './relay-parts.ts'

/**
 * Tests a channel with one small request and answers how long it took. It costs the operator what the upstream takes for a few
 * tokens, and no user anything. The channel may be disabled. Throws `not_found`, `channel_not_testable` or `channel_test_failed`.
 */
export async function probeChannel(
  app: RelayParts,
  { channelId, model }: { channelId: number; model: string },
): Promise<{ seconds: number }> {
  const { keys } = await openChannel(app, channelId)
  const [channel] = keys
  if (!channel) fail('not_found')
  const asked = model || channel.testModel || [...channel.models][0] || ''
  const format = formatFor(channel, asked)
  if (!channel.provider.testable || !format || asked === '') fail('channel_not_testable')

  const startedMs = app.now()
  try {
    await ask(app, channel, format, resolveModel(channel, asked))
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    await reportTest(app, channelId, { ms: app.now() - startedMs })
    throw error
  }
  const ms = Math.max(1, app.now() - startedMs)
  await reportTest(app, channelId, { ms })
  return { seconds: ms / 1000 }
}

async function ask(app: RelayParts, channel: RunningChannel, format: Format, model: string): Promise<void> {
  const { provider } = channel
  const body = { ...smallRequest(format, model) }
  Object.assign(body, provider.adjustBody?.(body, format, model) ?? {})
  let reply: Awaited<ReturnType<typeof callConfigured>>
  try {
    reply = await callConfigured(app.upstream, {
      proxy: channel.setting.proxy ?? '',
      method: 'POST',
      url: provider.url(channel, format, model, false),
      headers: { ...provider.headers(channel, format, {}), 'content-type': 'application/json', accept: 'application/json' },
      body: JSON.stringify(body),
      timeoutMs: 60_000,
      sizeBytesMax: 4 * 1024 * 1024,
    })
  } catch (error) {
    if (!(error instanceof CallFailure)) throw error
    return fail('channel_test_failed', { reason: error.message }, { cause: error })
  }
  judge(channel, reply)
}

function judge(channel: RunningChannel, { status, body }: { status: number; body: Buffer }): void {
  const said = parse(body)
  const error = readHiddenError(said)
  if (status >= 300 || error) {
    const message = (error ?? readOpenAiError(said)).message || body.toString('utf8').slice(0, 300)
    fail('channel_test_failed', { reason: withoutSecrets(`${status} ${message}`, channel) })
  }
  const isReply = isObject(said) && ['choices', 'content', 'data', 'candidates'].some((key) => Array.isArray(said[key]))
  if (!isReply) fail('channel_test_failed', { reason: 'the upstream sent no valid answer' })
}

/** The kind of call that fits the model's name, if the channel's provider speaks it. */
function formatFor(channel: RunningChannel, model: string): Format | undefined {
  const wanted: Format[] = /embed|bge-|^m3e/i.test(model)
    ? ['openai.embeddings']
    : ['openai.chat', 'anthropic.messages', 'gemini.generate', 'openai.embeddings']
  return wanted.find((format) => channel.provider.speaks[format] !== undefined)
}

function smallRequest(format: Format, model: string): Record<string, unknown> {
  if (format === 'openai.embeddings') return { model, input: ['hello world'] }
  if (format === 'gemini.generate')
    return { contents: [{ role: 'user', parts: [{ text: 'hi' }] }], generationConfig: { maxOutputTokens: 16 } }
  const messages = [{ role: 'user', content: 'hi' }]
  const isReasoning = /^(o[1-9]|gpt-[5-9])/.test(model)
  return isReasoning ? { model, messages, max_completion_tokens: 16 } : { model, messages, max_tokens: 16 }
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'))
  } catch {
    return undefined
  }
}
