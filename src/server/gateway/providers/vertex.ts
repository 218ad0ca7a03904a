import { fail } from '../../base/lib/failure.ts'
import type { Format } from '../protocols/format.ts'
import { isObject, type JsonObject } from '../protocols/wire-format.ts'
import { addressPiece } from './address-piece.ts'
import { isImagen } from './gemini.ts'
import { googleTokenExchange, readGoogleAccount } from './google-account.ts'
import { hostedMessages, isClaude } from './hosted-messages.ts'
import { messagesHostOf } from './messages-hosts.ts'
import { models, newest } from './models.ts'
import { bearer, defineProvider, pathOf, same } from './openai-compatible.ts'
import type { Provider, Upstream } from './provider.ts'
import { veo } from './videos/veo.ts'

const speaks = {
  'gemini.generate': '/publishers/google/models/{model}',
  'anthropic.messages': '/publishers/anthropic/models/{model}',
  'openai.chat': '/endpoints/openapi/chat/completions',
  'gemini.count_tokens': '/publishers/google/models/{model}:countTokens',
  'anthropic.count_tokens': '/publishers/anthropic/models/count-tokens:rawPredict',
  'gemini.predict': '/publishers/google/models/{model}:predict',
  'vertex.embed': '/publishers/google/models/{model}:predict',
  'gemini.embed': '/publishers/google/models/{model}:embedContent',
  'gemini.interactions': '/interactions',
}

const type = 41
const host = messagesHostOf({ type, baseUrl: '' })

/**
 * Vertex AI. Each publisher's models have one format of their own: Gemini's, Anthropic's, and OpenAI's for all others. The key is the
 * JSON of a service account, or an API key of the express mode, which serves only Google's models and names no project. Source:
 * protocols notes 2.6.
 */
export const vertex: Provider = defineProvider({
  id: type,
  key: 'vertex',
  label: same('Vertex AI'),
  color: 'blue',
  docs: 'https://cloud.google.com/vertex-ai/docs/reference/rest',
  models: models.vertex,
  newest: newest.vertex,
  priceVendor: 'google',
  traceName: 'gcp.vertex_ai',
  keyFormat: {
    zh: '服务账号的 JSON，或快速模式的 API 密钥',
    en: 'JSON of the service account, or an API key of the express mode',
  },
  keyHasLines: true,
  otherLabel: { zh: '部署地区（或按模型的 JSON，含 default）', en: 'Region (or JSON by model, with default)' },
  checkOther(other) {
    if (other.trim() === '')
      fail('field_invalid', {
        field: place,
        reason: { zh: '不能为空，如 us-central1 或 global', en: 'is needed, such as us-central1 or global' },
      })
    readRegions(other)
  },
  speaks,
  speaksWith: (format, model) => (countedFormats.get(format) ?? format) === formatOf(model),
  url(channel, format, model, stream) {
    const path = pathOf(speaks, format).replace('{model}', () => addressPiece(modelIdOf(model)).replace('%40', '@'))
    return baseOf(channel, format, model) + path + methodOf(format, stream)
  },
  /** A key that is exchanged for a token is never sent upstream itself. */
  headers: authorised,
  accessToken: ({ key }, nowMs) => (isAccount(key) ? googleTokenExchange(readGoogleAccount(key), nowMs) : undefined),
  adjustBody(body, format, model, caller) {
    if (format === 'anthropic.messages') return hostedMessages(body, { host, model }, caller)
    if (format === 'anthropic.count_tokens') return { model: modelIdOf(model) }
    return format === 'gemini.count_tokens' ? countedMembers(body) : {}
  },
  forChannel: ({ key }) => (isAccount(key) ? vertex : express),
  modelsPath: null,
  videos: veo({
    headers: authorised,
    orderUrl: (channel, model) => `${veoUrl(channel, model)}:predictLongRunning`,
    query: (channel, { id, model }) => ({
      method: 'POST',
      url: `${veoUrl(channel, model)}:fetchPredictOperation`,
      body: { operationName: id },
    }),
  }),
})

function authorised({ key }: Upstream): Record<string, string> {
  if (isAccount(key)) return {}
  return isApiKey(key) ? { 'x-goog-api-key': key } : bearer(key)
}

function veoUrl(channel: Upstream, model: string): string {
  return `${baseOf(channel, 'gemini.predict', model)}/publishers/google/models/${addressPiece(modelIdOf(model))}`
}

/** Interactions belong to a project, which an API key does not name. */
const { 'gemini.interactions': _, ...expressSpeaks } = speaks
const express: Provider = { ...vertex, speaks: expressSpeaks }

function formatOf(model: string): Format {
  if (isClaude(model)) return 'anthropic.messages'
  if (/^(?!google\/|publishers\/google\/)[^/]+\//.test(model)) return 'openai.chat'
  if (isImagen(model)) return 'gemini.predict'
  if (/gemini-embedding-[2-9]/.test(model)) return 'gemini.embed'
  return /embedding|embeddinggecko|text-multilingual/.test(model) ? 'vertex.embed' : 'gemini.generate'
}

const googleFormats: ReadonlySet<Format> = new Set<Format>(['gemini.generate', 'gemini.predict', 'gemini.embed', 'vertex.embed'])

/** The token count formats, with the format that each one counts; interactions are with the same models as `generateContent`. */
const countedFormats: ReadonlyMap<Format, Format> = new Map([
  ['anthropic.count_tokens', 'anthropic.messages'],
  ['gemini.count_tokens', 'gemini.generate'],
  ['gemini.interactions', 'gemini.generate'],
])

/** On Vertex the members of the request are at the top level, and only those that are counted are valid. */
function countedMembers({ generateContentRequest: request }: JsonObject): Record<string, unknown> {
  if (!isObject(request)) return {}
  const { contents, systemInstruction, system_instruction, tools } = request
  return { generateContentRequest: undefined, contents, systemInstruction: systemInstruction ?? system_instruction, tools }
}

function methodOf(format: Format, stream: boolean): string {
  if (format === 'anthropic.messages') return stream ? ':streamRawPredict' : ':rawPredict'
  if (format !== 'gemini.generate') return ''
  return stream ? ':streamGenerateContent?alt=sse' : ':generateContent'
}

/** The URL before the publisher: host, project and location. */
function baseOf({ key, baseUrl, other }: Upstream, format: Format, model: string): string {
  if (!isAccount(key)) {
    if (!googleFormats.has(countedFormats.get(format) ?? format))
      fail('upstream_failed', {
        reason: { zh: 'API 密钥只能用于 Google 自己的模型', en: "an API key only reaches Google's own models" },
      })
    return `${baseUrl || hostOf('global')}/v1`
  }
  const regions = readRegions(other)
  const region = regions.get(model) ?? regions.get(modelIdOf(model)) ?? regions.get('default') ?? 'global'
  const { projectId } = readGoogleAccount(key)
  const version = format === 'gemini.interactions' ? 'v1beta1' : 'v1'
  return `${baseUrl || hostOf(region)}/${version}/projects/${encodeURIComponent(projectId)}/locations/${region}`
}

function hostOf(region: string): string {
  if (region === 'global') return 'https://aiplatform.googleapis.com'
  if (region === 'us' || region === 'eu') return `https://aiplatform.${region}.rep.googleapis.com`
  return `https://${region}-aiplatform.googleapis.com`
}

/** One region for all models, or by model. Throws `json_text_invalid` or `field_invalid`. */
function readRegions(other: string): ReadonlyMap<string, string> {
  const text = other.trim()
  const byModel = text.startsWith('{') ? parseObject(text) : { default: text || 'global' }
  const regions = new Map<string, string>()
  for (const [model, region] of Object.entries(byModel)) {
    if (typeof region !== 'string' || !/^[a-z][a-z0-9-]{0,39}$/.test(region)) {
      fail('field_invalid', {
        field: place,
        reason: { zh: '地区只含小写字母、数字和连字符', en: 'a region has lower-case letters, digits and hyphens only' },
      })
    }
    regions.set(model, region)
  }
  return regions
}

const place = { zh: '部署地区', en: 'region' }

function parseObject(text: string): JsonObject {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    value = undefined
  }
  return isObject(value) ? value : fail('json_text_invalid', { field: place })
}

/**
 * Claude models have their date after `@` here. `…-thinking` requests thinking in the body; the model has the same name upstream.
 */
function modelIdOf(model: string): string {
  const name = model.replace(/^(publishers\/\w+\/models|google|anthropic)\//, '')
  if (!isClaude(name)) return name
  const plain = name.replace(/-thinking$/, '')
  if (plain === 'claude-3-5-sonnet-20241022') return 'claude-3-5-sonnet-v2@20241022'
  return plain.replace(/-(\d{8})$/, '@$1')
}

function isAccount(key: string): boolean {
  return key.trimStart().startsWith('{')
}

/** The prefix of Google's API keys; everything else is an access token. */
function isApiKey(key: string): boolean {
  return /^(AIza|AQ\.)/.test(key)
}
