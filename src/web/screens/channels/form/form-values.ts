import type { useForm } from '@mantine/form'
import type { Channel, ChannelType } from '../../../../contract/entities/channel.ts'
import type { ErrorCode } from '../../../../contract/errors.ts'
import { withoutTrailing } from '../../../../contract/trailing.ts'
import { parseJson } from '../../../lib/json.ts'
import { withMembers } from './members.ts'

/** The values of the form, and their conversion from and to a channel. */
export interface ChannelValues {
  type: number
  name: string
  base_url: string
  /** Always empty for a saved channel; empty keeps its keys. */
  key: string
  /** The meaning of the lines of the key: one key, keys of this channel, or a channel each. */
  lines: 'one' | 'together' | 'apart'
  other: string
  openai_organization: string
  groups: string[]
  models: string[]
  /**
   * Names that were typed or pasted but are not in `models` yet: they are added when they are filled in or the form is submitted.
   */
  more_models: string
  model_mapping: string
  test_model: string
  tag: string
  /** Text while it is being typed. */
  priority: number | string
  weight: number | string
  max_input_tokens: number | string
  auto_ban: boolean
  setting: string
  status_code_mapping: string
}

/** The context of the parts of the form. */
export type ChannelFormState = Pick<
  ReturnType<typeof useForm<ChannelValues>>,
  'values' | 'errors' | 'getInputProps' | 'getValues' | 'setValues' | 'setFieldValue' | 'setFieldError' | 'clearFieldError'
>

export function newChannel(type: ChannelType | undefined): ChannelValues {
  return {
    type: type?.id ?? 0,
    name: '',
    base_url: '',
    key: '',
    lines: 'one',
    other: '',
    openai_organization: '',
    groups: ['default'],
    models: [...(type?.newest ?? [])],
    more_models: '',
    model_mapping: '',
    test_model: '',
    tag: '',
    priority: 0,
    weight: 0,
    max_input_tokens: 0,
    auto_ban: true,
    setting: '',
    status_code_mapping: '',
  }
}

export function valuesOf(channel: Channel): ChannelValues {
  const { group, models, auto_ban, keys_total, setting } = channel
  const { type, name, key, base_url, other, openai_organization, model_mapping, test_model, tag } = channel
  const { priority, weight, max_input_tokens, status_code_mapping } = channel
  return {
    ...{ type, name, key, base_url, other, openai_organization, model_mapping, test_model, tag },
    ...{ priority, weight, max_input_tokens, status_code_mapping },
    // Written as the fields write it, so that setting and removing a value is no change.
    setting: withMembers(setting, {}) || setting,
    lines: keys_total > 1 ? 'together' : 'one',
    groups: namesOf(group),
    models: namesOf(models),
    more_models: '',
    auto_ban: auto_ban === 1,
  }
}

/** The channel to add. */
export function bodyOf({ lines, more_models, ...values }: ChannelValues) {
  return {
    ...values,
    // Without a key there are no lines.
    ...(values.key.trim() !== '' && lines === 'together' ? { multi_key: true } : {}),
    name: values.name.trim(),
    base_url: withoutSlash(values.base_url),
    models: withNames(values.models, listOf(more_models) ?? []).join(','),
    priority: Number(values.priority) || 0,
    weight: Number(values.weight) || 0,
    max_input_tokens: Number(values.max_input_tokens) || 0,
    auto_ban: values.auto_ban ? 1 : 0,
  }
}

/** The changed values of the channel, compared to the loaded ones. */
export function changesOf(before: ChannelValues, after: ChannelValues): Partial<ReturnType<typeof bodyOf>> {
  const old = new Map<string, unknown>(Object.entries(bodyOf(before)))
  const changed = Object.entries(bodyOf(after)).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(old.get(name)))
  return Object.fromEntries(changed)
}

export function withoutSlash(url: string): string {
  return withoutTrailing(url.trim(), '/')
}

export function namesOf(text: string, separator: string | RegExp = /[,，]/): string[] {
  return text
    .split(separator)
    .map((name) => name.trim())
    .filter((name) => name !== '')
}

/** The names in a text: separated by commas, tabs or line breaks, or a JSON list of strings. Undefined for any other JSON. */
export function listOf(text: string): string[] | undefined {
  if (!/^\s*[[{]/.test(text)) return namesOf(text, /[,，\n\t]/)
  const list = parseJson(text)
  return Array.isArray(list) && list.every((name) => typeof name === 'string') ? list.flatMap((name) => namesOf(name)) : undefined
}

/** The names of both lists in their order, without duplicates. */
export function withNames(names: readonly string[], more: readonly string[]): string[] {
  return [...new Set([...names, ...more])]
}

/** The keys in a text, without duplicates, as the server parses it. */
export function keysOf(text: string): string[] {
  return [...new Set(namesOf(text, /\r?\n/))]
}

/** The form field of each error code of the server. */
export const fieldOfRefusal: Readonly<Record<string, keyof ChannelValues>> = {
  channel_name_required: 'name',
  channel_models_required: 'models',
  channel_type_unknown: 'type',
  channel_url_required: 'base_url',
  channel_url_invalid: 'base_url',
  channel_mapping_loop: 'model_mapping',
  channel_key_reenter: 'key',
  channel_has_keys: 'key',
} satisfies Partial<Record<ErrorCode, keyof ChannelValues>>
