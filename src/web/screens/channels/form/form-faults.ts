import type { z } from 'zod'
import { type ChannelType, channelSetting, modelMapping, statusCodeMapping } from '../../../../contract/entities/channel.ts'
import { explain } from '../../../../contract/issues.ts'
import { localOf, textOf } from '../../../lib/i18n.ts'
import { parseJson } from '../../../lib/json.ts'
import { faultTexts } from './fault-texts.ts'
import { type ChannelValues, keysOf, listOf } from './form-values.ts'
import { chainsOf } from './mapping.ts'
import { readMembers } from './members.ts'
import { faultName } from './setting.ts'
import { texts } from './texts.ts'

/** Validation before the form is sent. Loaded on demand: the schemas and their library are larger than the fields of the form. */

/** The reasons by field; empty when all is well. Members of the settings have fields of their own, named by `faultName`. */
export function faultsOf(values: ChannelValues, type: ChannelType | undefined, isNew: boolean): Record<string, string> {
  const say = (key: keyof typeof faultTexts) => textOf(faultTexts, key)
  const keys = keysOf(values.key)
  const more = listOf(values.more_models)
  const isUnclear = keys.length > 1 && values.lines === 'one' && !type?.key_has_lines
  const faults: Record<string, string | undefined> = {
    name: values.name.trim() === '' ? say('nameRequired') : undefined,
    base_url: type?.needs_base_url && values.base_url.trim() === '' ? say('urlRequired') : undefined,
    key: isNew && keys.length === 0 ? say('nameRequired') : isUnclear ? say(isNew ? 'keyLines' : 'keyOneLine') : undefined,
    models: values.models.length === 0 && !more?.length ? say('modelsRequired') : undefined,
    more_models: more ? undefined : textOf(texts, 'modelsNoList'),
    model_mapping: mappingFault(values.model_mapping),
    status_code_mapping: jsonFault(values.status_code_mapping, statusCodeMapping),
    ...settingFaults(values.setting),
  }
  return Object.fromEntries(Object.entries(faults).flatMap(([name, fault]) => (fault === undefined ? [] : [[name, fault]])))
}

export function mappingFault(text: string): string | undefined {
  const circle = chainsOf(text).find(({ isCircle }) => isCircle)
  if (circle) return textOf(faultTexts, 'mappingCircle', { model: circle.steps.at(-1) ?? '' })
  return jsonFault(text, modelMapping)
}

function settingFaults(text: string): Record<string, string> {
  if (text.trim() === '') return {}
  const members = readMembers(text)
  if (!members) return { setting: textOf(texts, 'invalidJson') }
  const issues = channelSetting.safeParse(members).error?.issues ?? []
  const faults = issues.map((issue) => {
    const [name, ...path] = issue.path
    return [name === undefined ? 'setting' : faultName(name), localOf(explain({ issues: [{ ...issue, path }] }))]
  })
  return Object.fromEntries(faults.toReversed())
}

function jsonFault(text: string, schema: z.ZodType): string | undefined {
  if (text.trim() === '') return undefined
  const value = parseJson(text)
  if (value === undefined) return textOf(texts, 'invalidJson')
  const { error } = schema.safeParse(value)
  return error && localOf(explain(error))
}
