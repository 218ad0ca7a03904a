import type { z } from 'zod'
import { type ChannelSetting, channelSetting, modelMapping, statusCodeMapping } from '../../../../contract/entities/channel.ts'
import { explain } from '../../../../contract/issues.ts'
import { commaListOf } from '../../../../contract/options/lists.ts'
import type { Text } from '../../../../contract/text.ts'
import { fail } from '../../../base/lib/failure.ts'
import { isProxyUrl } from '../../../base/lib/net/parse-url.ts'

/** Parses the columns of a channel that hold lists or JSON: when they are saved and when channels are loaded. */

/** The names of a comma list, each once, in their order. */
export function readNames(text: string): string[] {
  return [...new Set(commaListOf(text))]
}

/** At most `lengthMax` characters, without half of a surrogate pair at the end. */
export function truncate(text: string, lengthMax: number): string {
  return text.slice(0, lengthMax).replace(/\p{Cs}$/u, '')
}

/**
 * The target of each mapped model: chains are followed to their end. Throws `channel_mapping_loop`, `json_text_invalid` or
 * `field_invalid`.
 */
export function readModelMapping(text: string): ReadonlyMap<string, string> {
  const steps = new Map(Object.entries(readJson(labels.mapping, modelMapping, text)))
  const ends = new Map<string, string>()

  for (const start of steps.keys()) {
    const path = new Set<string>()
    let model = start
    for (let next = steps.get(model); next !== undefined && !ends.has(model); next = steps.get(model)) {
      if (path.has(model)) fail('channel_mapping_loop', { model })
      path.add(model)
      model = next
    }
    for (const passed of path) ends.set(passed, ends.get(model) ?? model)
  }
  return ends
}

/** Throws `json_text_invalid` or `field_invalid`. */
export function readStatusCodeMapping(text: string): ReadonlyMap<number, number> {
  const mapping = readJson(labels.statuses, statusCodeMapping, text)
  return new Map(Object.entries(mapping).map(([from, to]) => [Number(from), to]))
}

/** Throws `json_text_invalid` or `field_invalid`. */
export function readSetting(text: string): ChannelSetting {
  const setting = readJson(labels.setting, channelSetting, text)
  if (setting.proxy && !isProxyUrl(setting.proxy)) {
    fail('field_invalid', {
      field: 'proxy',
      reason: { zh: '须为 http、https 或 socks5 地址', en: 'must be an http, https or socks5 address' },
    })
  }
  return setting
}

const labels = {
  mapping: { zh: '模型重定向', en: 'Model redirection' },
  statuses: { zh: '状态码复写', en: 'Status code rewrite' },
  setting: { zh: '渠道额外设置', en: 'Extra settings' },
} as const satisfies Record<string, Text>

/** An empty text is an empty object. */
function readJson<Schema extends z.ZodType>(field: Text, schema: Schema, text: string): z.output<Schema> {
  const parsed = schema.safeParse(text.trim() === '' ? {} : parseJson(field, text))
  return parsed.success ? parsed.data : fail('field_invalid', { field, reason: explain(parsed.error) })
}

function parseJson(field: Text, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return fail('json_text_invalid', { field })
  }
}
