import type { ChannelSetting } from '../../../../contract/entities/channel.ts'
import type { ChannelFormState } from './form-values.ts'
import { type Members, readMembers, withMembers } from './members.ts'

export type SettingName = keyof ChannelSetting

export interface Setting {
  readonly members: Members
  set(name: SettingName, value: unknown): void
  errorOf(name: SettingName): string | undefined
  /** The number of these settings that have a value. */
  count(names: readonly SettingName[]): number
  hasError(names: readonly SettingName[]): boolean
}

/** The context of fields for single members; undefined while the text is not a JSON object. */
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

/** The form's error key of one member. */
export function faultName(name: PropertyKey): string {
  return `setting.${String(name)}`
}
