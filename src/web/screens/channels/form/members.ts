import { isJsonObject, parseJson } from '../../../lib/json.ts'

/**
 * A channel's settings are one text of JSON in the form. Fields for single members read it and write into it, so that members which no
 * field knows stay, and the text can be edited beside them.
 */
export type Members = Readonly<Record<string, unknown>>

/** The object that the text holds; undefined when it holds none, so that nothing typed is lost. */
export function readMembers(text: string): Members | undefined {
  if (text.trim() === '') return {}
  const value = parseJson(text)
  return isJsonObject(value) ? value : undefined
}

/** The JSON text with some members changed, or removed if undefined; '' when none remains. */
export function withMembers(text: string, changes: Members): string {
  const members = Object.entries({ ...readMembers(text), ...changes }).filter(([, value]) => value !== undefined)
  return members.length === 0 ? '' : JSON.stringify(Object.fromEntries(members), null, 2)
}
