import { useState } from 'react'
import { parseJson } from '../../../../lib/json.ts'
import type { Setting, SettingName } from '../setting.ts'

/**
 * A member of the settings as JSON text, stored as typed. Invalid JSON is stored as a string: the schema of the member refuses it.
 */
export function useMemberText(setting: Setting, name: SettingName) {
  const member = setting.members[name]
  const saved = JSON.stringify(member)
  const [typed, setTyped] = useState({ text: showText(member), saved })

  return {
    value: typed.saved === saved ? typed.text : showText(member),
    error: setting.errorOf(name),
    onChange(text: string): void {
      const value = text.trim() === '' ? undefined : (parseJson(text) ?? text)
      setTyped({ text, saved: JSON.stringify(value) })
      setting.set(name, value)
    },
  }
}

function showText(member: unknown): string {
  if (member === undefined) return ''
  return typeof member === 'string' ? member : JSON.stringify(member, null, 2)
}
