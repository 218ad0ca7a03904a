import { fail } from '../../base/lib/failure.ts'
import type { Format } from '../protocols/format.ts'
import { addressPiece } from './address-piece.ts'
import { type AwsIdentity, signForAws } from './aws-signature.ts'
import { hostedMessages, isClaude } from './hosted-messages.ts'
import { messagesHostOf } from './messages-hosts.ts'
import { models, newest } from './models.ts'
import { bearer, defineProvider, pathOf, same } from './openai-compatible.ts'
import type { Provider } from './provider.ts'

const speaks = {
  'anthropic.messages': '/model/{model}/invoke',
  'bedrock.converse': '/model/{model}/converse',
  'bedrock.count_tokens': '/model/{model}/count-tokens',
  'bedrock.titan-embed': '/model/{model}/invoke',
  'bedrock.cohere-embed': '/model/{model}/invoke',
}

const type = 33
const host = messagesHostOf({ type, baseUrl: '' })

/**
 * Amazon Bedrock. Claude models are called in their own format with InvokeModel, all others with Converse. Streams are framed as
 * AWS event streams. Source: protocols notes 2.7.
 */
export const bedrock = defineProvider({
  id: type,
  key: 'bedrock',
  label: same('AWS Claude'),
  color: 'indigo',
  docs: 'https://docs.aws.amazon.com/bedrock/latest/APIReference/welcome.html',
  models: models.bedrock,
  newest: newest.bedrock,
  priceVendor: 'aws',
  traceName: 'aws.bedrock',
  keyFormat: {
    zh: 'Ak|Sk|Region，临时凭证为 Ak|Sk|SessionToken|Region；或 ApiKey|Region',
    en: 'Ak|Sk|Region, with temporary credentials Ak|Sk|SessionToken|Region; or ApiKey|Region',
  },
  speaks,
  speaksWith: (format, model) => ownModels[format]?.(model) ?? true,
  url(channel, format, model, stream) {
    const path = pathOf(speaks, format).replace('{model}', () => addressPiece(modelIdOf(model)))
    const streamed = format === 'anthropic.messages' ? '-with-response-stream' : '-stream'
    return `${channel.baseUrl || hostOf(readKey(channel.key).region)}${path}${stream ? streamed : ''}`
  },
  headers(channel) {
    const [apiKey = '', region, ...more] = partsOf(channel.key)
    return region === undefined || more.length > 0 ? {} : bearer(apiKey)
  },
  sign(channel, request, nowMs) {
    const key = readKey(channel.key)
    if (!('secretAccessKey' in key)) return {}
    return signForAws(request, key, { service: 'bedrock', nowMs }).then((headers) => ({ headers }))
  },
  framing: (_format, stream) => (stream ? 'aws-event-stream' : 'sse'),
  adjustBody(body, format, model, caller) {
    if (format !== 'anthropic.messages') return {}
    return { ...hostedMessages(body, { host, model }, caller), stream: undefined, user_profile_id: undefined }
  },
  streamOptions: false,
  modelsPath: null,
  forChannel: ({ setting }) => (setting.passed_headers?.includes(userProfile) ? profiled : bedrock),
})

/** The vendor's user profile decides who pays: it passes only where the channel lists its header, and is in the body here. */
const userProfile = 'anthropic-user-profile-id'

const profiled: Provider = {
  ...bedrock,
  adjustBody(body, format, model, caller) {
    const adjusted = bedrock.adjustBody?.(body, format, model, caller) ?? {}
    if (format !== 'anthropic.messages') return adjusted
    return { ...adjusted, user_profile_id: caller?.[userProfile] ?? body.user_profile_id }
  },
}

/** Formats that only some models support. */
const ownModels: Readonly<Partial<Record<Format, (model: string) => boolean>>> = {
  'anthropic.messages': isClaude,
  'bedrock.titan-embed': (model) => model.includes('amazon.titan-embed'),
  'bedrock.cohere-embed': (model) => model.includes('cohere.embed'),
}

/** The usual names of Claude models; every other name, with a region before it or as an ARN, is sent unchanged. */
const modelIds: ReadonlyMap<string, string> = new Map([
  ['claude-instant-1.2', 'anthropic.claude-instant-v1'],
  ['claude-2.0', 'anthropic.claude-v2'],
  ['claude-2.1', 'anthropic.claude-v2:1'],
  ['claude-3-sonnet-20240229', 'anthropic.claude-3-sonnet-20240229-v1:0'],
  ['claude-3-opus-20240229', 'anthropic.claude-3-opus-20240229-v1:0'],
  ['claude-3-haiku-20240307', 'anthropic.claude-3-haiku-20240307-v1:0'],
  ['claude-3-5-sonnet-20240620', 'anthropic.claude-3-5-sonnet-20240620-v1:0'],
  ['claude-3-5-sonnet-20241022', 'anthropic.claude-3-5-sonnet-20241022-v2:0'],
  ['claude-3-5-haiku-20241022', 'anthropic.claude-3-5-haiku-20241022-v1:0'],
  ['claude-3-7-sonnet-20250219', 'anthropic.claude-3-7-sonnet-20250219-v1:0'],
])

/** `…-thinking` requests thinking in the body; the model has the same name upstream. */
function modelIdOf(model: string): string {
  const plain = isClaude(model) ? model.replace(/-thinking$/, '') : model
  return modelIds.get(plain) ?? plain
}

function hostOf(region: string): string {
  return `https://bedrock-runtime.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`
}

/** Throws `upstream_failed` with a reason that contains no part of the key. */
function readKey(text: string): AwsIdentity | { readonly apiKey: string; readonly region: string } {
  const parts = partsOf(text)
  const [first = '', second = '', third] = parts
  const region = parts.at(-1) ?? ''
  if (parts.length < 2 || parts.length > 4 || parts.includes('') || !/^[a-z0-9-]{1,40}$/.test(region)) refuseKey()
  if (third === undefined) return { apiKey: first, region }
  return { accessKeyId: first, secretAccessKey: second, sessionToken: parts.length === 4 ? third : undefined, region }
}

function partsOf(key: string): string[] {
  return key.split('|').map((part) => part.trim())
}

function refuseKey(): never {
  fail('upstream_failed', {
    reason: {
      zh: '渠道密钥的格式应为 Ak|Sk|Region 或 ApiKey|Region',
      en: 'the key of the channel must read Ak|Sk|Region or ApiKey|Region',
    },
  })
}
