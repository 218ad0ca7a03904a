import { z } from 'zod'
import { explain } from '../../../contract/issues.ts'
import { fail } from '../../base/lib/failure.ts'
import type { CallerFormat, Format } from '../protocols/format.ts'
import { addressPiece } from './address-piece.ts'
import { bearer, defineProvider, messagesHeaders, openaiPaths, pathOf } from './openai-compatible.ts'
import { passedHeaders } from './passed-headers.ts'
import type { CallerHeaders, Provider, Upstream } from './provider.ts'

/**
 * Any upstream, described by JSON in the channel itself: its formats with the path of each, the conversions between them, and its
 * authorization. Every path is relative to the channel's address, so that its key is sent nowhere else.
 *
 *   { "speaks": { "anthropic.messages": "/llm/{model}/messages", "openai.embeddings": "/embed" },
 *     "converters": { "openai.chat": "anthropic.messages" },
 *     "auth": { "by": "header", "name": "x-llm-key" } }
 */
export const advancedCustom = defineProvider({
  id: 58,
  key: 'advanced-custom',
  label: { zh: '高级自定义渠道', en: 'Advanced custom' },
  color: 'pink',
  needsBaseUrl: true,
  addressIsWhole: true,
  otherLabel: { zh: '协议配置（JSON）', en: 'Protocols (JSON)' },
  otherDefault: JSON.stringify({ speaks: openaiPaths }),
  speaks: openaiPaths,
  checkOther(other) {
    readConfiguration(other)
  },
  forChannel,
})

function forChannel({ other }: Upstream): Provider {
  const { auth, headers, models_path: modelsPath, stream_options: streamOptions, ...formats } = readConfiguration(other)
  const speaks: Provider['speaks'] = formats.speaks
  const converters: Readonly<Partial<Record<CallerFormat, Format>>> = formats.converters
  const withKey = (url: string, key: string) =>
    auth.by === 'query' && key !== '' ? `${url}${url.includes('?') ? '&' : '?'}${auth.name}=${encodeURIComponent(key)}` : url

  return {
    ...advancedCustom,
    speaks,
    streamOptions,
    modelsPath,
    url: (channel, format, model, stream) => withKey(channel.baseUrl + filledPath(speaks, format, model, stream), channel.key),
    modelsUrl: (channel) => (modelsPath === null ? null : withKey(channel.baseUrl + modelsPath, channel.key)),
    headers: (channel, format, caller) => ({
      ...headersFor(channel, format, caller),
      ...headers,
      ...keyHeader(auth, channel.key),
    }),
    framing: (format, stream) => (format === 'ollama.chat' && stream ? 'ndjson' : 'sse'),
    prefers: (format) => converters[format],
    testable: Object.keys(speaks).some((format) => testableFormats.includes(format)),
  }
}

type Configuration = z.output<typeof configuration>

function filledPath(speaks: Provider['speaks'], format: Format, model: string, stream: boolean): string {
  const method = stream ? 'streamGenerateContent?alt=sse' : 'generateContent'
  return pathOf(speaks, format)
    .replaceAll('{model}', () => addressPiece(model))
    .replaceAll('{method}', method)
}

function headersFor(channel: Upstream, format: Format, caller: CallerHeaders): Record<string, string> {
  if (format === 'anthropic.messages')
    return { ...messagesHeaders(channel, caller), ...passedHeaders('anthropic', channel, caller) }
  return format.startsWith('openai.') ? passedHeaders('openai', channel, caller) : {}
}

function keyHeader(auth: Configuration['auth'], key: string): Record<string, string> {
  if (key === '' || auth.by === 'query' || auth.by === 'none') return {}
  return auth.by === 'bearer' ? bearer(key) : { [auth.name]: auth.prefix + key }
}

/** Throws `json_text_invalid` or `field_invalid`. An empty text means OpenAI's paths. */
function readConfiguration(text: string): Configuration {
  const parsed = configuration.safeParse(parseJson(text.trim() || advancedCustom.otherDefault))
  return parsed.success ? parsed.data : fail('field_invalid', { field: 'other', reason: explain(parsed.error) })
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return fail('json_text_invalid', { field: 'other' })
  }
}

/** Formats whose framing and authorisation are not specific to one vendor. */
const formats = [
  'openai.chat',
  'openai.completions',
  'openai.embeddings',
  'openai.responses',
  'openai.moderations',
  'openai.decisions',
  'openai.images',
  'openai.image-edits',
  'openai.image-variations',
  'openai.speech',
  'openai.transcriptions',
  'openai.translations',
  'rerank',
  'anthropic.messages',
  'anthropic.count_tokens',
  'gemini.generate',
  'gemini.interactions',
  'cohere.chat',
  'cohere.embed',
  'cohere.rerank',
  'ollama.chat',
  'ollama.embed',
  'voyage.rerank',
  'siliconflow.images',
  'volcengine.images',
  'zhipu.images',
] as const satisfies readonly Format[]

const testableFormats: readonly string[] = [
  'openai.chat',
  'openai.responses',
  'openai.completions',
  'openai.embeddings',
  'openai.moderations',
  'openai.images',
  'openai.speech',
  'openai.transcriptions',
  'rerank',
  'anthropic.messages',
  'gemini.generate',
]

const converted = [
  'openai.chat',
  'openai.responses',
  'anthropic.messages',
  'gemini.generate',
] as const satisfies readonly CallerFormat[]

const said = (zh: string, en: string) => ({ params: { zh, en } })
/** No scheme, no host and no `..`: the path stays below the channel's address. */
const path = z
  .string()
  .max(500)
  .regex(/^\/(?!\/)[^\s\\#]*$/)
  .refine((text) => !text.split(/[/?]/).includes('..'), said('不能含有 ..', 'must not hold ..'))
/** Headers set by the relay, and connection headers, cannot be set here. */
const reserved =
  /^(host|connection|content-length|content-type|accept|accept-encoding|transfer-encoding|upgrade|te|trailer|expect|proxy-.*)$/
const headerName = z
  .string()
  .regex(/^[a-z0-9-]{1,64}$/)
  .refine((name) => !reserved.test(name), said('不能设置该请求头', 'this header cannot be set'))
const headerValue = z
  .string()
  .max(1000)
  .regex(/^[\x20-\x7e]*$/)

const configuration = z
  .strictObject({
    speaks: z
      .partialRecord(z.enum(formats), path)
      .refine((speaks) => Object.keys(speaks).length > 0, said('至少需要一种协议', 'needs at least one protocol')),
    converters: z.partialRecord(z.enum(converted), z.enum([...converted, 'cohere.chat', 'ollama.chat'])).default({}),
    auth: z
      .discriminatedUnion('by', [
        z.strictObject({ by: z.literal('bearer') }),
        z.strictObject({ by: z.literal('header'), name: headerName, prefix: headerValue.default('') }),
        z.strictObject({ by: z.literal('query'), name: z.string().regex(/^[a-zA-Z0-9_.-]{1,64}$/) }),
        z.strictObject({ by: z.literal('none') }),
      ])
      .default({ by: 'bearer' }),
    headers: z.record(headerName, headerValue).default({}),
    models_path: path.nullable().default(null),
    stream_options: z.boolean().default(true),
  })
  .refine(
    ({ speaks, converters }) => Object.values(converters).every((format) => format in speaks),
    said('converters 中的协议须出现在 speaks 中', 'a format in converters must be one of speaks'),
  )
