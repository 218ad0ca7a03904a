import type { ChannelSetting } from '../../../../contract/entities/channel.ts'
import { isJsonObject, parseJson } from '../../../lib/json.ts'
import type { ChannelFormState } from './form-values.ts'

/**
 * A channel's settings are one text of JSON in the form. Fields for single members read it and write into it, so that members which no
 * field knows stay, and the text can be edited beside them.
 */
export type SettingName = keyof ChannelSetting
type Members = Readonly<Record<string, unknown>>

/** The object that the text holds; undefined when it holds none, so that nothing typed is lost. */
export function readMembers(text: string): Members | undefined {
  if (text.trim() === '') return {}
  const value = parseJson(text)
  return isJsonObject(value) ? value : undefined
}

/** The text with some members changed, or taken out where they are undefined; '' when none is left. */
export function withMembers(text: string, changes: Members): string {
  const members = Object.entries({ ...readMembers(text), ...changes }).filter(([, value]) => value !== undefined)
  return members.length === 0 ? '' : JSON.stringify(Object.fromEntries(members), null, 2)
}

export interface Setting {
  readonly members: Members
  set(name: SettingName, value: unknown): void
  errorOf(name: SettingName): string | undefined
  /** How many of these are set. */
  count(names: readonly SettingName[]): number
  hasError(names: readonly SettingName[]): boolean
}

/** What fields of single members work with; undefined while the text holds no object. */
export function settingOf(form: ChannelFormState): Setting | undefined {
  const members = readMembers(form.values.setting)
  if (!members) return undefined
  const errorOf = (name: SettingName) => {
    const error = form.errors[faultName(name)]
    return typeof error === 'string' ? error : undefined
  }
  return {
    members,
    errorOf,
    set(name, value) {
      form.setFieldValue('setting', (text) => withMembers(text, { [name]: value }))
      form.clearFieldError(faultName(name))
    },
    count: (names) => names.filter((name) => members[name] !== undefined).length,
    hasError: (names) => names.some((name) => errorOf(name) !== undefined),
  }
}

/** Under which name the form keeps what is wrong with one member. */
export function faultName(name: PropertyKey): string {
  return `setting.${String(name)}`
}
