import { channelStatus } from '../../../contract/entities/channel-status.ts'
import { readJson } from '../../base/lib/bytes/read-json.ts'
import type { Family } from './families.ts'
import type { SourceRow } from './source-row.ts'

export interface SourceKey {
  readonly key: string
  readonly status: number
  readonly status_reason: string
}

/** The keys of a channel, and its `other` field. The channel type decides in which of the two these programs store parts of a login. */
export function readKeysOf(family: Family, row: SourceRow, type: number): { keys: SourceKey[]; other: string } {
  if (family.name === 'one-api') {
    const { key, other } = fromConfig(row, type)
    return { keys: key === '' ? [] : [enabled(key)], other }
  }
  const info = row.object('channel_info') ?? {}
  const text = row.text('key')
  const keys =
    info.is_multi_key === true
      ? keyList(text).map((key, index) => withStatus(key, index, info))
      : [text].filter(Boolean).map(enabled)
  return { keys, other: row.text('other') }
}

const oneApiTypes = { azure: 3, xunfei: 18, library: 21, bedrock: 33, coze: 34, cloudflare: 37, vertex: 42 }

/** one-api stores in a column `config` the values that new-api and Sluice store in `key` and `other`. */
function fromConfig(row: SourceRow, type: number): { key: string; other: string } {
  const config = row.object('config') ?? {}
  const textOf = (name: string) => (typeof config[name] === 'string' ? config[name] : '')
  const plain = { key: row.text('key'), other: row.text('other') }
  switch (type) {
    case oneApiTypes.azure:
    case oneApiTypes.xunfei:
      return { ...plain, other: textOf('api_version') || plain.other }
    case oneApiTypes.library:
      return { ...plain, other: textOf('library_id') || plain.other }
    case oneApiTypes.cloudflare:
      return { ...plain, other: textOf('user_id') || plain.other }
    case oneApiTypes.bedrock:
      return textOf('ak') === '' ? plain : { key: [textOf('ak'), textOf('sk'), textOf('region')].join('|'), other: '' }
    case oneApiTypes.vertex:
      return textOf('vertex_ai_adc') === '' ? plain : { key: textOf('vertex_ai_adc'), other: textOf('region') }
    default:
      return plain
  }
}

/** One key per line, or a JSON array of strings or objects (logins with several members). */
function keyList(text: string): string[] {
  const lines = () =>
    text
      .split(/\r\n|\r|\n/)
      .map((line) => line.trim())
      .filter(Boolean)
  const list = text.startsWith('[') ? readJson(text) : undefined
  return Array.isArray(list) ? list.map((key) => (typeof key === 'string' ? key : JSON.stringify(key))) : lines()
}

function withStatus(key: string, index: number, info: Readonly<Record<string, unknown>>): SourceKey {
  const at = (member: string): unknown => {
    const byIndex = info[member]
    return typeof byIndex === 'object' && byIndex !== null
      ? Object.entries(byIndex).find(([name]) => name === String(index))?.[1]
      : undefined
  }
  const status = Number(at('multi_key_status_list') ?? channelStatus.enabled)
  const known = status === channelStatus.enabled || status === channelStatus.autoDisabled
  return { key, status: known ? status : channelStatus.disabled, status_reason: String(at('multi_key_disabled_reason') ?? '') }
}

function enabled(key: string): SourceKey {
  return { key, status: channelStatus.enabled, status_reason: '' }
}
