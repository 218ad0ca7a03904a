import type { IncomingHttpHeaders } from 'node:http'
import { fail } from '../../../base/lib/failure.ts'
import { decodeComponent } from '../../../base/lib/net/parse-url.ts'
import type { CallerFormat, ChannelFormat, CountFormat, Dialect, FileDialect, StoredFormat } from '../../protocols/format.ts'
import { ArrayFraming } from '../../protocols/gemini-generate/array-framing.ts'
import { asksForEvents, plainModel, readGeminiPath } from '../../protocols/gemini-generate/path.ts'
import type { PathFacts, Reframing } from '../../protocols/wire-format.ts'
import { type BatchCall, batchLines, findBatchCall } from './batch-paths.ts'
import { type FileCall, fileLines, findFileCall } from './file-paths.ts'
import { findTaskCall, isTaskPath, type TaskCall, taskLines } from './task-paths.ts'

/**
 * The relay: from a caller's request to a channel's answer and a durable charge, in one straight line (`handle-request.ts`). It knows no
 * provider by name and no money beyond hold, settle and release. This table is the only place that knows relay paths.
 */
export type Endpoint = { readonly path: string; readonly dialect: Dialect } & (
  | {
      readonly kind: 'relay'
      readonly format: CallerFormat
      readonly from: 'token' | 'session'
      /** The model and stream flag in the path. */
      readonly fromPath?: PathFacts
      /** Framing of streams on this endpoint; absent for server-sent events. */
      readonly reframe?: () => Reframing
    }
  /** Counts the tokens of a prompt. */
  | { readonly kind: 'count'; readonly format: CountFormat; readonly fromPath?: PathFacts }
  /** Reads, cancels or deletes a stored response. */
  | { readonly kind: 'response'; readonly stored: StoredFormat; readonly action: ResponseAction; readonly id: string }
  /** Reads or stops the answer to an earlier request. */
  | {
      readonly kind: 'request'
      readonly action: 'events' | 'cancel'
      readonly id: string
      readonly from: 'token' | 'session'
    }
  /** A path that is only served as a WebSocket. */
  | { readonly kind: 'socket' }
  | { readonly kind: 'models' }
  /** Reads the balance and usage of the token. */
  | { readonly kind: 'billing'; readonly question: BillingQuestion }
  | { readonly kind: 'model'; readonly model: string }
  /** Orders or reads a drawing, a piece of music or clips. */
  | { readonly kind: 'task'; readonly taskCall: TaskCall; readonly from: 'token' | 'session' }
  /** Stores, lists, reads or deletes files at vendors. */
  | { readonly kind: 'file'; readonly fileCall: FileCall; readonly from: 'token' | 'session' }
  /** Orders, lists, reads or cancels batches at vendors. */
  | { readonly kind: 'batch'; readonly batchCall: BatchCall; readonly from: 'token' | 'session' }
  | { readonly kind: 'not-offered' }
  | {
      readonly kind: 'unknown'
      /** The path that was probably intended. */
      readonly meant?: string
    }
)

/** The action of a call about a stored response. */
export type ResponseAction = 'read' | 'delete' | 'cancel' | 'items'

/**
 * Balance queries of a token, for clients that show a balance: the two calls of the old OpenAI billing dashboard, and those of
 * compatible consoles. Errors use the dialect and real HTTP statuses.
 */
export type BillingQuestion = 'subscription' | 'usage' | 'token' | 'log'

/** A call that generates an answer. */
export type RelayEndpoint = Extract<Endpoint, { kind: 'relay' }>

interface WrongMethod {
  readonly wrongMethod: string
  readonly allowed: string
  readonly dialect: Dialect
}

interface Entry {
  readonly method: 'GET' | 'POST'
  readonly endpoint: Endpoint
}

const relay = (path: string, format: CallerFormat, dialect: Dialect, from: 'token' | 'session' = 'token'): Entry => ({
  method: 'POST',
  endpoint: { path, kind: 'relay', format, dialect, from },
})

const count = (path: string, format: CountFormat, dialect: Dialect): Entry => ({
  method: 'POST',
  endpoint: { path, kind: 'count', format, dialect },
})

const billing = (path: string, question: BillingQuestion): Entry => ({
  method: 'GET',
  endpoint: { path, kind: 'billing', question, dialect: 'openai' },
})

const entries = new Map<string, Entry>(
  [
    relay('/v1/chat/completions', 'openai.chat', 'openai'),
    relay('/pg/chat/completions', 'openai.chat', 'openai', 'session'),
    relay('/pg/decisions', 'openai.decisions', 'openai', 'session'),
    relay('/pg/images/generations', 'openai.images', 'openai', 'session'),
    relay('/v1/completions', 'openai.completions', 'openai'),
    relay('/v1/embeddings', 'openai.embeddings', 'openai'),
    relay('/v1/responses', 'openai.responses', 'openai'),
    relay('/v1/responses/compact', 'openai.compact', 'openai'),
    relay('/v1/moderations', 'openai.moderations', 'openai'),
    relay('/v1/decisions', 'openai.decisions', 'openai'),
    relay('/v1/images/generations', 'openai.images', 'openai'),
    relay('/v1/images/edits', 'openai.image-edits', 'openai'),
    relay('/v1/images/variations', 'openai.image-variations', 'openai'),
    relay('/v1/audio/speech', 'openai.speech', 'openai'),
    relay('/v1/audio/transcriptions', 'openai.transcriptions', 'openai'),
    relay('/v1/audio/translations', 'openai.translations', 'openai'),
    relay('/v1/rerank', 'rerank', 'openai'),
    relay('/v2/rerank', 'rerank', 'openai'),
    relay('/rerank', 'rerank', 'openai'),
    relay('/v1/messages', 'anthropic.messages', 'anthropic'),
    relay('/v1beta/interactions', 'gemini.interactions', 'gemini'),
    // Google's SDKs call it without a suffix.
    relay('/v1/interactions', 'gemini.interactions', 'gemini'),
    count('/v1/messages/count_tokens', 'anthropic.count_tokens', 'anthropic'),
    count('/v1/responses/input_tokens', 'openai.input_tokens', 'openai'),
    { method: 'GET' as const, endpoint: { path: '/v1/realtime', kind: 'socket' as const, dialect: 'openai' as const } },
    billing('/dashboard/billing/subscription', 'subscription'),
    billing('/v1/dashboard/billing/subscription', 'subscription'),
    billing('/dashboard/billing/usage', 'usage'),
    billing('/v1/dashboard/billing/usage', 'usage'),
    billing('/api/usage/token', 'token'),
    billing('/api/log/token', 'log'),
    { method: 'GET' as const, endpoint: { path: '/v1/models', kind: 'models' as const, dialect: 'openai' as const } },
    { method: 'GET' as const, endpoint: { path: '/v1beta/models', kind: 'models' as const, dialect: 'gemini' as const } },
  ].map((entry) => [entry.endpoint.path, entry]),
)

/** Vendor endpoints that this server does not implement; they get `not_implemented`. Source: the routes of the official SDKs. */
const notOfferedNames = [
  // OpenAI
  ...['agents', 'assistants', 'audio/voice_consents', 'audio/voices', 'chatkit', 'compliance', 'containers'],
  ...['content_provenance_checks', 'conversations', 'edits', 'evals', 'fine-tunes', 'fine_tuning', 'live'],
  ...['organization', 'projects', 'realtime', 'safety', 'skills', 'threads', 'vaults', 'vector_stores'],
  ...['webhook_endpoints', 'webhook_event_types'],
  // Anthropic
  ...['complete', 'deployment_runs', 'deployments', 'dreams', 'environments', 'experimental', 'memory_stores', 'organizations'],
  ...['sessions', 'tunnels', 'user_profiles'],
  // Google, under its version without a suffix
  ...['auth_tokens', 'cachedContents', 'credentials', 'fileSearchStores', 'operations', 'triggers'],
  ...['tunedModels', 'tuningJobs', 'voices', 'webhooks'],
]
const notOffered = new RegExp(
  `^/v1/(?:(?:${notOfferedNames.join('|')})(?:[/:]|$)|(?:chat/completions|messages|responses|videos)/)`,
)

/** Paths of the table whose `GET` lists what the vendor has stored. */
const storedLists: ReadonlySet<string> = new Set(['/v1/chat/completions'])

/** The WebSockets of Google's Live interface: `/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent`. */
const liveSocket = /^\/ws\/google\.[\w./]{1,200}$/

/** The paths of the table without their version. */
const unversioned = [...entries.keys()]
  .filter((path) => /^\/v1\/(?!dashboard)/.test(path))
  .map((path) => path.slice('/v1/'.length))
  .join('|')
const lacksVersion = new RegExp(`^/(?:(?:${unversioned})/?(?:[?]|$)|(?:models|responses)/)`)
/** The version is missing, or the path is repeated behind a base URL that already has it. */
const misspelled = new RegExp(
  `^(?:/v1/(?:chat/completions|completions|responses|messages|embeddings)(?:/v1)?/(${unversioned})|/(${unversioned}|(?:models|responses)/.+))$`,
)

/** Whether a path belongs to the relay rather than to the console. */
export function isRelayPath(url: string): boolean {
  if (/^\/(v1|pg\/|upload\/v1)/.test(url) || /^(\/v2)?\/rerank\b/.test(url)) return true
  return isTaskPath(url) || isBillingPath(url) || lacksVersion.test(url)
}

function isBillingPath(url: string): boolean {
  return /^\/(dashboard\/billing\/|api\/(usage|log)\/token\b)/.test(url)
}

/**
 * The endpoint of a request, or the method that the path would take. A doubled `/v1` prefix, a trailing slash and unknown query keys
 * are tolerated. A model name may contain `/`, `:` and `@`.
 */
export function findEndpoint(method: string, url: string, headers: IncomingHttpHeaders): Endpoint | WrongMethod {
  const path = cleanPath(url)
  const entry = entries.get(path)
  if (entry) {
    const endpoint =
      entry.endpoint.kind === 'models' ? { ...entry.endpoint, dialect: listDialect(path, headers) } : entry.endpoint
    if (method === 'GET' && storedLists.has(path)) return { path, dialect: endpoint.dialect, kind: 'not-offered' }
    return entry.method === method ? endpoint : { wrongMethod: method, allowed: entry.method, dialect: endpoint.dialect }
  }
  if (liveSocket.test(path)) return { path, dialect: 'gemini', kind: 'not-offered' }

  if (isTaskPath(path)) return taskEndpoint(method, path)
  const file = findFileCall(method, path, fileDialect(headers))
  if (file) return fileEndpoint(method, path, file)
  const batch = findBatchCall(method, path, fileDialect(headers))
  if (batch) return batchEndpoint(method, path, batch)
  const meant = meantBy(path)
  if (meant !== undefined) return { path, dialect: dialectOf(meant, headers), kind: 'unknown', meant }
  const kept = keptResponse.exec(path)
  if (kept) return responseEndpoint(method, path, kept)
  const asked = ownRequest.exec(path)
  if (asked) return requestEndpoint(method, path, asked)
  const engine = oldEmbeddings.exec(path)?.[1]
  if (engine) return engineEndpoint(method, path, decodeComponent(engine))
  const gemini =
    method !== 'POST' && !/(generateContent|countTokens|embedContents?|:predict)$/i.test(path) ? undefined : readGeminiPath(path)
  if (gemini) return geminiEndpoint(method, url, path, gemini)
  const dialect = dialectOf(path, headers)
  const model = /^\/v1(?:beta)?\/((?:models|tunedModels)\/.+)$/.exec(path)?.[1]
  if (model && method === 'GET') return { path, dialect, kind: 'model', model: plainModel(decodeComponent(model)) }
  if (model && (method === 'DELETE' || method === 'PATCH')) return { path, dialect, kind: 'not-offered' }
  if (dialect === 'gemini' || notOffered.test(path)) return { path, dialect, kind: 'not-offered' }
  return { path, dialect, kind: 'unknown' }
}

function meantBy(path: string): string | undefined {
  const [, behindBase, rest = behindBase] = misspelled.exec(path) ?? []
  if (rest === undefined) return undefined
  return /^models\/.+(?::|%3a)\w+$/i.test(rest) ? `/v1beta/${rest}` : `/v1/${rest}`
}

/** Throws the error of a path that no endpoint answers: `not_implemented`, `route_misspelled` or `route_unknown`. */
export function refuseRoute(method: string, found: Endpoint | WrongMethod, url: string): never {
  if ('kind' in found && found.kind === 'not-offered') fail('not_implemented')
  const params = { method, path: (url.split('?', 1)[0] ?? '').slice(0, 200) }
  const meant = 'meant' in found ? found.meant : undefined
  if (meant === undefined) fail('route_unknown', params)
  fail('route_misspelled', { ...params, meant: meant.slice(0, 200) })
}

/** The dialect of an address that the table does not have. */
function dialectOf(path: string, headers: IncomingHttpHeaders): Dialect {
  if (path.startsWith('/v1/messages') || isOfAnthropic(headers)) return 'anthropic'
  if (/^(\/upload)?\/v1(beta|alpha)/.test(path) || headers['x-goog-api-key'] !== undefined) return 'gemini'
  return listDialect(path, headers)
}

function taskEndpoint(method: string, path: string): Endpoint | WrongMethod {
  const dialect = path.startsWith('/suno') ? 'music' : path.startsWith('/mj') ? 'drawing' : 'openai'
  const found = findTaskCall(method, path)
  if (!found) return { path, dialect, kind: 'unknown' }
  const { taskCall } = found
  if (!taskCall) return { wrongMethod: method, allowed: found.method, dialect }
  return { path, dialect, kind: 'task', taskCall, from: 'from' in taskCall ? taskCall.from : 'token' }
}

function fileDialect(headers: IncomingHttpHeaders): FileDialect {
  if (isOfAnthropic(headers)) return 'anthropic'
  return headers['x-goog-api-key'] === undefined ? 'openai' : 'gemini'
}

function fileEndpoint(method: string, path: string, found: NonNullable<ReturnType<typeof findFileCall>>): Endpoint | WrongMethod {
  if ('allowed' in found) return { wrongMethod: method, allowed: found.allowed, dialect: found.dialect }
  const { fileCall } = found
  return { path, dialect: fileCall.dialect, kind: 'file', fileCall, from: fileCall.from }
}

function batchEndpoint(
  method: string,
  path: string,
  found: NonNullable<ReturnType<typeof findBatchCall>>,
): Endpoint | WrongMethod {
  if ('allowed' in found) return { wrongMethod: method, allowed: found.allowed, dialect: found.dialect }
  const { batchCall } = found
  return { path, dialect: batchCall.dialect, kind: 'batch', batchCall, from: batchCall.from }
}

const keptResponse =
  /^\/(?:v1\/responses\/([\w-]+)(?:\/(cancel|input_items))?|v1(?:beta)?\/interactions\/([\w%.=-]+)(?:\/(cancel))?)$/

const ownRequest = /^\/(v1|pg)\/requests\/([\w-]{1,64})\/(events|cancel)$/

function requestEndpoint(method: string, path: string, [, root, id = '', part]: RegExpExecArray): Endpoint | WrongMethod {
  const action = part === 'cancel' ? 'cancel' : 'events'
  const allowed = action === 'cancel' ? 'POST' : 'GET'
  const from = root === 'pg' ? 'session' : 'token'
  if (method === allowed) return { path, dialect: 'openai', kind: 'request', action, id, from }
  return { wrongMethod: method, allowed, dialect: 'openai' }
}

function responseEndpoint(method: string, path: string, found: RegExpExecArray): Endpoint | WrongMethod {
  const [, response, ofResponse, interaction = '', part = ofResponse] = found
  const actions = responseActions[part === 'cancel' || part === 'input_items' ? part : 'whole']
  const action = actions[method]
  const dialect = response === undefined ? 'gemini' : 'openai'
  const stored = response === undefined ? 'gemini.interactions' : 'openai.responses'
  if (action) return { path, dialect, kind: 'response', stored, action, id: response ?? decodeComponent(interaction) }
  return { wrongMethod: method, allowed: Object.keys(actions).join(', '), dialect }
}

const responseActions: Readonly<Record<'whole' | 'cancel' | 'input_items', Readonly<Record<string, ResponseAction>>>> = {
  whole: { GET: 'read', DELETE: 'delete' },
  cancel: { POST: 'cancel' },
  input_items: { GET: 'items' },
}

/** Old OpenAI paths name the model in the path instead of the body. */
const oldEmbeddings = /^\/v1\/engines\/(.+)\/embeddings$/

function engineEndpoint(method: string, path: string, model: string): Endpoint | WrongMethod {
  if (method !== 'POST') return { wrongMethod: method, allowed: 'POST', dialect: 'openai' }
  return { path, dialect: 'openai', kind: 'relay', format: 'openai.embeddings', from: 'token', fromPath: { model } }
}

/** A WebSocket for one session, or for calls as over HTTP, one after the other. */
interface SocketEndpoint {
  readonly format: ChannelFormat
  readonly carries: 'session' | 'calls'
}

/** What a WebSocket at this address is for; undefined for other addresses. */
export function findSocketEndpoint(url: string): SocketEndpoint | undefined {
  return socketEndpoints.get(cleanPath(url))
}

const socketEndpoints: ReadonlyMap<string, SocketEndpoint> = new Map([
  ['/v1/realtime', { format: 'openai.realtime', carries: 'session' }],
  ['/v1/responses', { format: 'openai.responses', carries: 'calls' }],
])

/** Every path of the relay as `METHOD /path`, from the tables above; names in braces are parameters. */
export function relayLines(): string[] {
  const kept = { whole: '', cancel: '/cancel', input_items: '/input_items' } as const
  return [
    ...[...entries.values()].map(({ method, endpoint }) => `${method} ${endpoint.path}`),
    ...(['whole', 'cancel', 'input_items'] as const).flatMap((part) =>
      Object.keys(responseActions[part]).map((method) => `${method} /v1/responses/{id}${kept[part]}`),
    ),
    ...['/v1', '/v1beta'].flatMap((version) => [
      ...Object.keys(responseActions.whole).map((method) => `${method} ${version}/interactions/{id}`),
      `POST ${version}/interactions/{id}/cancel`,
    ]),
    ...['v1', 'pg'].flatMap((root) => [`GET /${root}/requests/{id}/events`, `POST /${root}/requests/{id}/cancel`]),
    'POST /v1/engines/{model}/embeddings',
    ...[...geminiFormats.keys(), 'countTokens'].map((method) => `POST /v1beta/models/{model}:${method}`),
    'GET /v1/models/{model}',
    'GET /v1beta/models/{model}',
    ...taskLines,
    ...fileLines,
    ...batchLines,
    ...notOfferedNames.map((name) => `GET /v1/${name}/{id}`),
    ...[...socketEndpoints.keys()].map((path) => `WEBSOCKET ${path}`),
  ]
}

/** Only `generateContent` and `streamGenerateContent` generate; unknown methods are not offered. */
function geminiEndpoint(
  method: string,
  url: string,
  path: string,
  said: { model: string; method: string },
): Endpoint | WrongMethod {
  if (said.method === 'countTokens') return geminiCount(method, path, said.model)
  const stream = said.method === 'streamGenerateContent'
  const format = geminiFormats.get(said.method)
  if (!format) return { path, dialect: 'gemini', kind: 'not-offered' }
  if (method !== 'POST') return { wrongMethod: method, allowed: 'POST', dialect: 'gemini' }
  return {
    path,
    dialect: 'gemini',
    kind: 'relay',
    format,
    from: 'token',
    fromPath: { model: said.model, stream },
    ...(stream && !asksForEvents(url) ? { reframe: () => new ArrayFraming() } : {}),
  }
}

const geminiFormats: ReadonlyMap<string, CallerFormat> = new Map<string, CallerFormat>([
  ['generateContent', 'gemini.generate'],
  ['streamGenerateContent', 'gemini.generate'],
  ['embedContent', 'gemini.embed'],
  ['batchEmbedContents', 'gemini.batch_embed'],
  ['predict', 'gemini.predict'],
])

function geminiCount(method: string, path: string, model: string): Endpoint | WrongMethod {
  if (method !== 'POST') return { wrongMethod: method, allowed: 'POST', dialect: 'gemini' }
  return { path, dialect: 'gemini', kind: 'count', format: 'gemini.count_tokens', fromPath: { model } }
}

/** The list of models has one path for several dialects; the headers of a client select the dialect. */
function listDialect(path: string, headers: IncomingHttpHeaders): Dialect {
  if (path.startsWith('/v1beta')) return 'gemini'
  if (isOfAnthropic(headers)) return 'anthropic'
  return path.startsWith('/v1/models') && headers['x-goog-api-key'] !== undefined ? 'gemini' : 'openai'
}

/** Claude Code looks for the models of a gateway without the header that Anthropic's SDKs send with every call. */
function isOfAnthropic(headers: IncomingHttpHeaders): boolean {
  return headers['anthropic-version'] !== undefined || /^claude-(code|cli)\//.test(headers['user-agent'] ?? '')
}

function cleanPath(url: string): string {
  const query = url.indexOf('?')
  const path = (query < 0 ? url : url.slice(0, query)).replace(/^\/v1(?:beta)?(?=\/v1(?:beta)?\/)/, '')
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path
}
