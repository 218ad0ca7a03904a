import { Readable } from 'node:stream'
import { AppError, fail } from '../../../base/lib/failure.ts'
import { newRequestId } from '../../../base/lib/secrets/ids.ts'
import type { CallLedger } from '../../../money/ledger/ledger.ts'
import { freePrice } from '../../../money/pricing/quote.ts'
import type { RelayCaller } from '../../../people/tokens/authenticate.ts'
import { enableAfterTest, reportTest } from '../../channels/health/auto-disable.ts'
import { openChannel, type RunningChannel } from '../../channels/index/model-index.ts'
import { upstreamFormat } from '../../channels/request/upstream-format.ts'
import { isPattern } from '../../channels/row/match-name.ts'
import { resolveModel } from '../../channels/select/select.ts'
import { wavOf } from '../../protocols/direct/wav.ts'
import type { CallerFormat } from '../../protocols/format.ts'
import { formats } from '../../protocols/index.ts'
import type { JsonObject } from '../../protocols/wire-format.ts'
import type { AdmittedRequest } from '../admission/admitted-request.ts'
import { noToken } from '../admission/authenticate.ts'
import { type AttemptParts, attemptChannel } from '../attempt/attempt.ts'
import { NoAnswer } from '../http/answer.ts'
import { ClientExchange } from '../http/client-exchange.ts'
import { DetachedRequest } from '../http/detached-request.ts'
import { type Body, readBody } from '../http/read-body.ts'
import type { UpstreamFailure } from '../upstream/failure.ts'

/** The parts that testing a channel uses. The ledger is not among them: a test is not charged. */
type ProbeParts = Omit<AttemptParts, 'ledger'>

/** The result of testing one key. `cannot`: no small request exists for it, which is no fault of the channel. */
export type Probe =
  | { readonly outcome: 'passed'; readonly ms: number }
  | { readonly outcome: 'failed'; readonly ms: number; readonly failure: UpstreamFailure }
  | { readonly outcome: 'cannot' }

/**
 * Tests a channel with one small request and returns how long it took. The upstream bills the operator for a few tokens; users are
 * not charged. The channel may be disabled; a successful test may enable one that was disabled automatically. The `failure` of a
 * failed test is `channel_test_failed`. Throws `not_found` or `channel_not_testable`.
 */
export async function probeChannel(
  app: ProbeParts,
  { channelId, model }: { channelId: number; model: string },
): Promise<{ seconds: number; failure?: AppError }> {
  const { keys } = await openChannel(app, channelId)
  const [channel] = keys
  if (!channel) fail('not_found')
  const probe = await probeKey(app, channel, model, 'last')
  if (probe.outcome === 'cannot') return fail('channel_not_testable')
  await reportTest(app, channelId, probe)
  const seconds = probe.ms / 1000
  if (probe.outcome === 'failed') {
    const { failure: cause } = probe
    return { seconds, failure: new AppError('channel_test_failed', { reason: cause.reason }, { cause }) }
  }
  await enableAfterTest(app, channel)
  return { seconds }
}

/**
 * Calls a channel with one of its keys as the relay would, with all changes that its settings and its provider make to a request,
 * but without a caller and without the ledger.
 */
export async function probeKey(
  app: ProbeParts,
  channel: RunningChannel,
  model: string,
  media: MediaTests = 'if-named',
): Promise<Probe> {
  const request = channel.provider.testable ? probeRequest(channel, model, media) : undefined
  if (!request) return { outcome: 'cannot' }
  const startedMs = app.steady()
  const result = await tryAttempt({ ...app, ledger: noLedger }, request, hurried(channel))
  if (result === 'cannot') return { outcome: 'cannot' }
  const ms = Math.max(1, app.steady() - startedMs)
  if (result !== 'answered') return { outcome: 'failed', ms, failure: result }
  app.traffic.forgive([channel])
  return { outcome: 'passed', ms }
}

async function tryAttempt(app: AttemptParts, request: ProbeRequest, channel: RunningChannel) {
  try {
    const body = await bodyOf(request)
    const begun = { request: admitted(request, body, app.steady()), shared: {}, channel, failed: [], noteRepeat() {} }
    const { failure } = await attemptChannel(app, { ...begun, choice: 'only' })
    if (failure?.kind === 'untranslatable') return 'cannot'
    return failure ?? 'answered'
  } catch (error) {
    // The gateway itself refuses the request, which is no result about the upstream.
    if (error instanceof AppError) return 'cannot'
    throw error
  }
}

const timeoutMs = 60_000

/** Limits the time of a test, whatever the channel allows for calls. */
function hurried(channel: RunningChannel): RunningChannel {
  const { headers_timeout_ms = timeoutMs, total_timeout_ms = timeoutMs } = channel.setting
  const limits = {
    headers_timeout_ms: Math.min(headers_timeout_ms, timeoutMs),
    total_timeout_ms: Math.min(total_timeout_ms, timeoutMs),
  }
  return { ...channel, setting: { ...channel.setting, ...limits } }
}

/** The body of a request: JSON, or a form with a recording of a second of silence. */
async function bodyOf({ body, hasRecording }: ProbeRequest): Promise<Body> {
  if (!hasRecording) return { json: body, bytes: Buffer.from(JSON.stringify(body)) }
  const form = new FormData()
  for (const [name, value] of Object.entries(body)) form.set(name, String(value))
  form.set('file', new File([silence], 'silence.wav', { type: 'audio/wav' }))
  const written = new Response(form)
  const headers = { 'content-type': written.headers.get('content-type') ?? '' }
  return readBody(Object.assign(Readable.from([Buffer.from(await written.arrayBuffer())]), { headers }))
}

const samplesPerSecond = 16_000
const silence = new Uint8Array(wavOf(Buffer.alloc(samplesPerSecond * 2), samplesPerSecond))

/** The request of a test, which is free. */
function admitted({ format: name, model }: ProbeRequest, body: Body, nowMs: number): AdmittedRequest {
  const format = formats[name].wire
  const id = newRequestId(nowMs)
  const call = new ClientExchange(new NoAnswer(), {
    id,
    dialect: format.dialect,
    language: 'en',
    client: { address: '', local: true },
    startedMs: nowMs,
    request: new DetachedRequest('', {}, body.json),
  })
  return {
    call,
    caller: nobody,
    body,
    format,
    facts: format.readRequest(body.json, { model }, body.form?.files),
    group: '',
    price: freePrice(model, ''),
    inputTokens: 0,
    hold: { requestId: id, userId: 0, tokenId: 0, amount: 0 },
    lease: undefined,
  }
}

const nobody: RelayCaller = {
  userId: 0,
  username: '',
  role: 0,
  userGroup: '',
  acceptsUnpriced: true,
  ...noToken,
}

/** A test is free: nothing is held, charged or logged. */
const noLedger: CallLedger = {
  hold() {},
  extend() {},
  settle: async () => {},
  charged: async () => undefined,
  release() {},
  checkpoint() {},
  withdraw: async () => false,
}

/** The smallest request that shows whether a model answers. */
export interface ProbeRequest {
  readonly format: CallerFormat
  readonly model: string
  readonly body: JsonObject
  /** It is a form with a recording. */
  readonly hasRecording?: true
}

/**
 * When models of images and sound are tested, for which even the smallest request costs more than a few tokens: when no other model
 * can be tested, only a model that is named for the test, or never.
 */
type MediaTests = 'last' | 'if-named' | 'never'

/**
 * What a channel is tested with: the given model, else its test model, else the first of its models that can be tested. Undefined
 * when there is none: its provider has no format that is supported here, or its models generate video or music, or are used in
 * sessions or tasks. Pure.
 */
export function probeRequest(channel: RunningChannel, wanted: string, media: MediaTests): ProbeRequest | undefined {
  const named = wanted || channel.testModel
  const models = named === '' ? [...channel.models].filter((model) => !isPattern(model)) : [named]
  const texts = models.filter((model) => !untestable.test(model))
  const isWanted = media === 'last' || (media === 'if-named' && named !== '')
  for (const model of isWanted ? [...texts, ...models.filter((each) => untestable.test(each))] : texts) {
    const request = requestFor(channel, model)
    if (request) return request
  }
  return undefined
}

function requestFor(channel: RunningChannel, model: string): ProbeRequest | undefined {
  const kind = untestable.test(model)
    ? mediaKinds.find(({ name, not }) => name.test(model) && !not.test(model))
    : (kinds.find(({ name }) => name.test(model)) ?? conversation)
  const format = kind?.formats.find(
    (each) => upstreamFormat(channel, { format: each, model: resolveModel(channel, model) }) !== undefined,
  )
  if (!format) return undefined
  const body = formats[format].smallRequest?.(model, outputTokensMax)
  return body && { format, model, body, ...(formats[format].takesRecording ? { hasRecording: true as const } : {}) }
}

/** The use of a model, guessed from its name. `other` produces or reads something other than text, or is used by tasks. */
type ModelKind = 'conversation' | 'embeddings' | 'moderation' | 'rerank' | 'other'

export function modelKind(model: string): ModelKind {
  if (untestable.test(model)) return 'other'
  return kinds.find(({ name }) => name.test(model))?.kind ?? 'conversation'
}

/**
 * Names of models for images, audio and video, for drawing and music tasks, and for realtime sessions: not tested, or only on
 * request.
 */
const untestable =
  /dall-e|image|imagen|stable-diffusion|\bsd3|flux|cogview|cogvideo|wanx|kolors|seedream|recraft|ideogram|midjourney|^mj_|^swap_face|suno|lyrics|whisper|transcri|paraformer|sensevoice|\basr\b|tts|speech|cosyvoice|voice|realtime|sora|veo-|kling|video|music/i

interface Kind {
  readonly kind: ModelKind
  readonly name: RegExp
  /** In order of preference: the first one that the channel supports is used. */
  readonly formats: readonly CallerFormat[]
}

const kinds: readonly Kind[] = [
  { kind: 'rerank', name: /rerank/i, formats: ['rerank'] },
  { kind: 'moderation', name: /moderation/i, formats: ['openai.moderations'] },
  {
    kind: 'embeddings',
    name: /embed|bge-|(^|\/)(m3e|gte-|e5-|multilingual-e5|jina-clip|voyage-)/i,
    formats: ['openai.embeddings'],
  },
]

/** Of models whose names match `untestable`. Video, music, tasks and sessions have no small request. */
const mediaKinds: readonly { readonly name: RegExp; readonly not: RegExp; readonly formats: readonly CallerFormat[] }[] = [
  {
    name: /whisper|transcri|paraformer|sensevoice|\basr\b/i,
    not: /realtime|translat/i,
    formats: ['openai.transcriptions'],
  },
  { name: /tts|speech|cosyvoice|voice/i, not: /realtime|clon|speech-to-text/i, formats: ['openai.speech'] },
  {
    name: /dall-e|image|imagen|stable-diffusion|\bsd3|flux|cogview|wanx|kolors|seedream|recraft|ideogram/i,
    not: /video|edit|i2v|t2v/i,
    formats: ['openai.images'],
  },
]

/** Hosts that only offer embeddings choose any names for their models. */
const conversation: Kind = {
  kind: 'conversation',
  name: /./,
  formats: [
    'openai.chat',
    'anthropic.messages',
    'gemini.generate',
    'openai.responses',
    'openai.completions',
    'openai.embeddings',
  ],
}

const outputTokensMax = 16
