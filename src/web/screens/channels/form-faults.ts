import type { z } from 'zod'
import { type ChannelType, channelSetting, modelMapping, statusCodeMapping } from '../../../contract/entities/channel.ts'
import type { ErrorCode } from '../../../contract/errors.ts'
import { explain } from '../../../contract/issues.ts'
import { localOf, textOf } from '../../lib/i18n.ts'
import { isJson } from '../../ui/json-input.tsx'
import { type ChannelValues, namesOf } from './form-values.ts'
import { texts } from './texts.ts'

/** What may be wrong with the form, found here or by the server. */

/** The reasons by field; empty when all is well. */
export function faultsOf(values: ChannelValues, type: ChannelType | undefined, isNew: boolean): Record<string, string> {
  const say = (key: keyof typeof texts.keys) => textOf(texts, key)
  const lines = namesOf(values.key, /\r?\n/)
  const faults: Partial<Record<keyof ChannelValues, string | undefined>> = {
    name: values.name.trim() === '' ? say('nameRequired') : undefined,
    base_url: type?.needs_base_url && values.base_url.trim() === '' ? say('urlRequired') : undefined,
    key:
      isNew && lines.length === 0
        ? say('nameRequired')
        : lines.length > 1 && !values.batch && !type?.key_has_lines
          ? say('keyOneLine')
          : undefined,
    models: values.models.length === 0 ? say('modelsRequired') : undefined,
    model_mapping: jsonFault(values.model_mapping, modelMapping),
    setting: jsonFault(values.setting, channelSetting),
    status_code_mapping: jsonFault(values.status_code_mapping, statusCodeMapping),
  }
  return Object.fromEntries(Object.entries(faults).flatMap(([name, fault]) => (fault === undefined ? [] : [[name, fault]])))
}

/** Which field a refusal of the server is about. */
export const fieldOfRefusal: Readonly<Record<string, keyof ChannelValues>> = {
  channel_name_required: 'name',
  channel_models_required: 'models',
  channel_type_unknown: 'type',
  channel_url_required: 'base_url',
  channel_url_invalid: 'base_url',
  channel_mapping_loop: 'model_mapping',
  channel_key_reenter: 'key',
} satisfies Partial<Record<ErrorCode, keyof ChannelValues>>

function jsonFault(text: string, schema: z.ZodType): string | undefined {
  if (text.trim() === '') return undefined
  if (!isJson(text)) return textOf(texts, 'invalidJson')
  const { error } = schema.safeParse(JSON.parse(text))
  return error && localOf(explain(error))
}
