import type { Text } from '../../../contract/text.ts'
import type { Format } from '../protocols/format.ts'
import { acceptedBetas, betasIn } from './messages-body.ts'
import { messagesHostOf, versionAt } from './messages-hosts.ts'
import type { CallerHeaders, Provider, Upstream } from './provider.ts'

/** The paths of OpenAI's own interface. */
export const openaiPaths = {
  'openai.chat': '/v1/chat/completions',
  'openai.completions': '/v1/completions',
  'openai.embeddings': '/v1/embeddings',
} as const satisfies Provider['speaks']

/** OpenAI's paths with Responses, which few other vendors support. */
export const responsesPaths = { ...openaiPaths, 'openai.responses': '/v1/responses' } as const satisfies Provider['speaks']

/** Endpoints other than conversations and embeddings. */
export const mediaPaths = {
  'openai.moderations': '/v1/moderations',
  'openai.images': '/v1/images/generations',
  'openai.image-edits': '/v1/images/edits',
  'openai.image-variations': '/v1/images/variations',
  'openai.speech': '/v1/audio/speech',
  'openai.transcriptions': '/v1/audio/transcriptions',
  'openai.translations': '/v1/audio/translations',
} as const satisfies Provider['speaks']

/** All paths of OpenAI itself. */
export const allPaths = {
  ...responsesPaths,
  ...mediaPaths,
  'openai.input_tokens': '/v1/responses/input_tokens',
  'openai.compact': '/v1/responses/compact',
  'openai.realtime': '/v1/realtime',
} as const satisfies Provider['speaks']

type Required = 'id' | 'key' | 'label' | 'color'
type Declaration = Pick<Provider, Required> & Partial<Omit<Provider, Required | 'modelsUrl' | 'testable'>>

/** Defaults of most providers: OpenAI's paths under `/v1`, a bearer key, a model list at `/v1/models`. */
export function defineProvider({ modelsPath = '/v1/models', ...declared }: Declaration): Provider {
  const speaks: Provider['speaks'] = declared.speaks ?? openaiPaths
  const pasted = versionPrefixes(Object.values(speaks))

  return Object.freeze({
    docs: '',
    baseUrl: '',
    needsBaseUrl: false,
    models: [],
    offered: true,
    keyFormat: plainKey,
    keyHasLines: false,
    otherLabel: null,
    versionsIn: null,
    otherDefault: '',
    speaks,
    url: (channel: Upstream, format: Format, model: string) =>
      withModel(joinUrl(channel.baseUrl, pathOf(speaks, format), pasted), format, model),
    headers: authorised,
    keyRefusedBy: [401],
    streamOptions: true,
    quirks: {},
    modelsPath,
    testable: Object.keys(speaks).length > 0,
    modelsUrl: (channel: Upstream) => (modelsPath === null ? null : joinUrl(channel.baseUrl, modelsPath, pasted)),
    ...declared,
  })
}

/** A label that is the same in both languages. */
export function same(name: string): Text {
  return { zh: name, en: name }
}

const plainKey: Text = { zh: '上游的密钥', en: 'Key of the upstream' }

/** The path of a format. Throws when the provider does not speak it: selection never picks such a channel. */
export function pathOf(speaks: Provider['speaks'], format: Format): string {
  const path = speaks[format]
  if (path === undefined) throw new Error(`This provider does not speak ${format}`)
  return path
}

/** A realtime session has no body, so the model is in the URL. */
export function withModel(url: string, format: Format, model: string): string {
  return format === 'openai.realtime' ? `${url}?model=${encodeURIComponent(model.toWellFormed())}` : url
}

/** A bearer key, and for Messages the version and beta headers. A channel without a key sends none. */
function authorised(channel: Upstream, format: Format, caller: CallerHeaders): Record<string, string> {
  return { ...bearer(channel.key), ...(format === 'anthropic.messages' ? messagesHeaders(channel, caller) : {}) }
}

export function bearer(key: string): Record<string, string> {
  return key === '' ? {} : { authorization: `Bearer ${key}` }
}

/**
 * Headers for every upstream that speaks Messages: the version of a Messages caller where the host has it, else that of requests written
 * here, and the betas, verbatim unless the host refuses some.
 */
export function messagesHeaders(channel: Upstream, caller: CallerHeaders): Record<string, string> {
  const host = messagesHostOf(channel)
  const all = caller['anthropic-beta']
  const beta = host.betas === 'all' ? all : acceptedBetas(host, betasIn(all)).join(',')
  return { 'anthropic-version': versionAt(host, caller['anthropic-version']), ...(beta ? { 'anthropic-beta': beta } : {}) }
}

/**
 * Base URL and path. Users paste base URLs that end in a version path (`https://host/v1`): the prefix `pasted` is removed before
 * the path is added, and another version at the end of the base replaces the one of the path (`https://host/v4`).
 */
export function joinUrl(base: string, path: string, pasted: readonly string[] = versionPrefixes([path])): string {
  const twice = pasted.find((prefix) => base.endsWith(prefix))
  if (twice !== undefined) return base.slice(0, -twice.length) + path
  if (/\/v\d\w*$/.test(base)) return base + path.replace(/^\/v\d\w*(?=\/)/, '')
  return base + path
}

/** The prefixes of paths that end in a version: `/api/paas/v4` of `/api/paas/v4/chat/completions`. Longest first. */
function versionPrefixes(paths: readonly string[]): string[] {
  const prefixes = paths.flatMap((path) =>
    [...path.matchAll(/\/v\d\w*(?=\/)/g)].map((match) => path.slice(0, match.index + match[0].length)),
  )
  return [...new Set(prefixes)].sort((a, b) => b.length - a.length)
}
