import { fail } from '../../base/lib/failure.ts'
import type { Format } from '../protocols/format.ts'
import { arrayAt, isObject, type JsonObject } from '../protocols/wire-format.ts'
import { addressPieces } from './address-piece.ts'
import { models, newest } from './models.ts'
import { defineProvider, joinUrl, pathOf, same } from './openai-compatible.ts'
import type { Upstream } from './provider.ts'
import { veo } from './videos/veo.ts'

const methods = {
  'gemini.generate': 'generateContent',
  'gemini.count_tokens': 'countTokens',
  'gemini.embed': 'embedContent',
  'gemini.batch_embed': 'batchEmbedContents',
  'gemini.predict': 'predict',
}

/** Google's Gemini interface. The model is in the URL, and the key in a header, since URLs are written to logs. */
export const gemini = defineProvider({
  id: 24,
  key: 'gemini',
  label: same('Google Gemini'),
  color: 'orange',
  docs: 'https://ai.google.dev/api',
  baseUrl: 'https://generativelanguage.googleapis.com',
  models: models.gemini,
  newest: newest.gemini,
  priceVendor: 'google',
  traceName: 'gcp.gemini',
  versionsIn: 'gemini.version_settings',
  otherLabel: { zh: '接口版本（如 v1，留空为 v1beta）', en: 'API version (such as v1; empty for v1beta)' },
  checkOther(other) {
    if (other !== '' && !version.test(other)) fail('field_invalid', { field: 'other', reason: versionReason })
  },
  speaks: {
    ...Object.fromEntries(Object.keys(methods).map((format) => [format, '/v1beta/models'])),
    'gemini.interactions': '/v1beta/interactions',
    'gemini.files': '/v1beta/files',
    'gemini.uploads': '/upload/v1beta/files',
    'gemini.batches': '/v1beta/batches',
  },
  speaksWith: (format, model) => (format === 'gemini.predict') === isImagen(model),
  url(channel, format, model, stream) {
    if (format === 'gemini.interactions') return joinUrl(channel.baseUrl, `/${versionFor(channel, model)}/interactions`)
    if (format === 'gemini.files') return joinUrl(channel.baseUrl, '/v1beta/files')
    if (format === 'gemini.uploads') return joinUrl(channel.baseUrl, '/upload/v1beta/files')
    if (format === 'gemini.batches')
      return joinUrl(channel.baseUrl, model === '' ? '/v1beta/batches' : `/v1beta/${geminiModelPath(model)}:batchGenerateContent`)
    const method = stream ? 'streamGenerateContent?alt=sse' : pathOf(methods, format)
    return joinUrl(channel.baseUrl, `/${versionFor(channel, model)}/${geminiModelPath(model)}:${method}`)
  },
  headers: keyHeader,
  adjustBody: renameModels,
  keyRefusedBy: [401, 403],
  refusesKey: ({ status, code }) => status === 400 && code === 'API_KEY_INVALID',
  modelsPath: '/v1beta/models?pageSize=1000',
  videos: veo({
    headers: keyHeader,
    orderUrl: (channel, model) =>
      joinUrl(channel.baseUrl, `/${versionFor(channel, model)}/${geminiModelPath(model)}:predictLongRunning`),
    query: (channel, { id, model }) => ({
      method: 'GET',
      url: joinUrl(channel.baseUrl, `/${versionFor(channel, model)}/${addressPieces(id)}`),
    }),
  }),
})

function keyHeader({ key }: Upstream): Record<string, string> {
  return key === '' ? {} : { 'x-goog-api-key': key }
}

/** The resource of a model: under `models`, unless its name says that it is of another collection. */
function geminiModelPath(model: string): string {
  const resource = /^(models|tunedModels|publishers)\//.test(model) ? model : `models/${model}`
  return addressPieces(resource)
}

export function isImagen(model: string): boolean {
  return /^(models\/|google\/|publishers\/google\/models\/)?(imagen|imagegeneration)/.test(model)
}

/** Embedding requests have the model in the body too, which must be the one in the URL. */
function renameModels(body: JsonObject, format: Format, model: string): Record<string, unknown> {
  if (format === 'gemini.embed') return body.model === undefined ? {} : { model: undefined }
  if (format !== 'gemini.batch_embed') return {}
  const requests = arrayAt(body, 'requests')
  const name = /^(models|tunedModels)\//.test(model) ? model : `models/${model}`
  if (requests.every((request) => isObject(request) && request.model === name)) return {}
  return { requests: requests.map((request) => (isObject(request) ? { ...request, model: name } : request)) }
}

const version = /^v\d[a-z0-9]{0,20}$/
const versionReason = { zh: '须为 v1 或 v1beta 这样的版本', en: 'must be a version like v1 or v1beta' }

/** The channel's version, else v1beta; the oldest models exist only under v1. */
function versionFor({ other }: Upstream, model: string): string {
  if (version.test(other)) return other
  return /^(models\/)?gemini-1\.0-pro/.test(model) ? 'v1' : 'v1beta'
}
