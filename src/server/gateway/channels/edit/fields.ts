import { isIP } from 'node:net'
import type { Updateable } from 'kysely'
import type { ChannelInput } from '../../../../contract/entities/channel.ts'
import type { Text } from '../../../../contract/text.ts'
import type { Row, Tables } from '../../../base/db/schema.ts'
import type { Env } from '../../../base/env.ts'
import { fail } from '../../../base/lib/failure.ts'
import { isForbiddenForChannels, literalHost, parseChannelUrl } from '../../../base/lib/net/outgoing-url.ts'
import { parseUrl } from '../../../base/lib/net/parse-url.ts'
import { providerById } from '../../providers/index.ts'
import { withoutCallPath } from '../../providers/pasted-address.ts'
import type { Provider } from '../../providers/provider.ts'
import { isHeaderText } from '../row/keys.ts'
import { readModelMapping, readNames, readSetting, readStatusCodeMapping } from '../row/read-columns.ts'

/** The fields of a channel's form, checked and turned into columns. */
export type Fields = Updateable<Tables['channels']>

type Given = Partial<Omit<ChannelInput, 'key'>>

type SharedName = 'tag' | 'models' | 'group' | 'model_mapping' | 'priority' | 'weight'
type Shared = { readonly [Name in SharedName]?: Given[Name] | undefined }

const nameLengthMax = { model: 255, group: 64 }

/** Throws `channel_type_unknown`. */
export function requireProvider(type: number): Provider {
  return providerById(type) ?? fail('channel_type_unknown', { type })
}

/**
 * The columns of the given fields; absent ones stay absent. Throws `channel_name_required`, `channel_models_required`,
 * `channel_url_invalid`, `channel_mapping_loop`, `json_text_invalid` or `field_invalid`.
 */
export function readFields(env: Env, provider: Provider, given: Given): Fields {
  return withoutAbsent({
    type: given.type,
    name: read(given.name, (name) => name || fail('channel_name_required')),
    base_url: read(given.base_url, (url) => readBaseUrl(env, provider, url)),
    other: read(given.other, (other) => readOther(provider, other)),
    openai_organization: read(given.openai_organization, readOrganization),
    test_model: read(given.test_model, (model) => model.trim()),
    status_code_mapping: read(given.status_code_mapping, (text) => checked(text, readStatusCodeMapping)),
    setting: read(given.setting, (text) => checked(text, (setting) => requireAllowedProxy(env, readSetting(setting).proxy))),
    auto_ban: given.auto_ban,
    max_input_tokens: given.max_input_tokens,
    ...readSharedFields({ ...given, group: given.groups?.join(',') ?? given.group }),
  })
}

/** Like `readFields`, for the fields that the bulk edit of a tag may set on channels of any type. */
export function readSharedFields(given: Shared): Fields {
  return withoutAbsent({
    models: read(given.models, readModels),
    group: read(given.group, readGroups),
    tag: read(given.tag, (tag) => tag.trim()),
    model_mapping: read(given.model_mapping, (text) => checked(text, readModelMapping)),
    priority: given.priority,
    weight: given.weight,
  })
}

/** Throws `channel_url_required` when the provider needs an address and none is given. */
export function requireBaseUrl(provider: Provider, baseUrl: string | undefined): void {
  if (provider.needsBaseUrl && !baseUrl) fail('channel_url_required')
}

/** The destination of a channel's key: its origin and, on an unencrypted connection, the proxy that can read it. */
export function destinationOf(row: Pick<Row<'channels'>, 'type' | 'base_url' | 'setting'>): string {
  const baseUrl = row.base_url || (providerById(row.type)?.baseUrl ?? '')
  const origin = parseUrl(baseUrl)?.origin ?? baseUrl
  return origin.startsWith('http:') ? `${origin} ${proxyOf(row.setting)}` : origin
}

function proxyOf(setting: string): string {
  try {
    return readSetting(setting).proxy ?? ''
  } catch {
    // No request uses a broken setting: its channel is out of service until an edit repairs it.
    return ''
  }
}

function readModels(text: string): string {
  const models = readNames(text)
  if (models.length === 0) fail('channel_models_required')
  return joined({ zh: '模型', en: 'models' }, models, nameLengthMax.model)
}

function readGroups(text: string): string {
  return joined({ zh: '分组', en: 'groups' }, readNames(text), nameLengthMax.group) || 'default'
}

function joined(field: Text, names: readonly string[], lengthMax: number): string {
  const long = names.find((name) => name.length > lengthMax)
  if (long !== undefined) {
    refuse(field, {
      zh: `${long.slice(0, 20)}… 超过 ${lengthMax} 个字符`,
      en: `${long.slice(0, 20)}… has more than ${lengthMax} characters`,
    })
  }
  return names.join(',')
}

/**
 * An address may be pasted with the path of a call. `{model}` is allowed: providers whose address is the whole URL put the model
 * there.
 */
function readBaseUrl(env: Env, provider: Provider, text: string): string {
  if (text.trim() === '') return ''
  const url = parseChannelUrl(text, { blockPrivate: env.BLOCK_PRIVATE_UPSTREAMS }).replaceAll('%7Bmodel%7D', '{model}')
  return withoutCallPath(provider, url)
}

function readOther(provider: Provider, text: string): string {
  const other = text.trim() || provider.otherDefault
  provider.checkOther?.(other)
  return other
}

function readOrganization(text: string): string {
  const organization = text.trim()
  if (!isHeaderText(organization))
    refuse({ zh: '组织', en: 'organization' }, { zh: '含有无效字符', en: 'has invalid characters' })
  return organization
}

function requireAllowedProxy(env: Env, proxy: string | undefined): void {
  if (!proxy) return
  const host = literalHost(new URL(proxy).hostname)
  if (isIP(host) === 0 || !isForbiddenForChannels(host, { blockPrivate: env.BLOCK_PRIVATE_UPSTREAMS })) return
  refuse({ zh: '代理', en: 'proxy' }, { zh: '不允许访问该地址', en: 'this address is not allowed' })
}

/** The trimmed text, if the reader accepts it. */
function checked(text: string, reader: (text: string) => unknown): string {
  reader(text)
  return text.trim()
}

function read<Value, Result>(value: Value | undefined, reader: (value: Value) => Result): Result | undefined {
  return value === undefined ? undefined : reader(value)
}

function withoutAbsent(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}

function refuse(field: Text, reason: Text): never {
  fail('field_invalid', { field, reason })
}
