import { isObject } from '../../../base/lib/bytes/read-json.ts'
import { fail } from '../../../base/lib/failure.ts'

/** Reads what directories send: names of attributes in any case, and booleans as text. Unknown attributes are left out. */

export interface Email {
  readonly value: string
  readonly type?: string
  readonly primary?: boolean
}

export interface UserFacts {
  readonly userName: string
  readonly externalId: string
  readonly active: boolean
  readonly displayName: string
  readonly name: Readonly<Record<string, string>>
  readonly emails: readonly Email[]
}

export interface GroupFacts {
  readonly displayName: string
  readonly externalId: string
  /** Ids of users. */
  readonly members: readonly string[]
}

export const nameParts: Readonly<Record<string, string>> = {
  formatted: 'formatted',
  givenname: 'givenName',
  familyname: 'familyName',
  middlename: 'middleName',
}

const textMax = 300
const emailsMax = 20
const membersMax = 20_000

type Given = Readonly<Record<string, unknown>>

/** The members of an object by their names in lower case. */
export function byLowerName(value: unknown): Given {
  return isObject(value) ? Object.fromEntries(Object.entries(value).map(([name, each]) => [name.toLowerCase(), each])) : {}
}

/** Throws `scim_value_invalid`. */
export function readUser(body: unknown): UserFacts {
  const given = byLowerName(body)
  const userName = readText('userName', given.username)
  if (userName === '') fail('scim_value_invalid', { path: 'userName', reason: { zh: '不能为空', en: 'it is required' } })
  return {
    userName,
    externalId: readText('externalId', given.externalid),
    active: given.active === undefined || given.active === null ? true : readFlag('active', given.active),
    displayName: readText('displayName', given.displayname),
    name: readName(given.name),
    emails: readEmails(given.emails),
  }
}

/** Throws `scim_value_invalid`. */
export function readGroup(body: unknown): GroupFacts {
  const given = byLowerName(body)
  const displayName = readText('displayName', given.displayname)
  if (displayName === '') fail('scim_value_invalid', { path: 'displayName', reason: { zh: '不能为空', en: 'it is required' } })
  return { displayName, externalId: readText('externalId', given.externalid), members: readMembers(given.members) }
}

/** '' for an absent value. Throws `scim_value_invalid`. */
export function readText(path: string, given: unknown): string {
  const value = unwrapped(given) ?? ''
  const text = typeof value === 'number' ? String(value) : value
  if (typeof text !== 'string') return fail('scim_value_invalid', { path, reason: { zh: '须为文本', en: 'it must be a string' } })
  if (text.length > textMax)
    return fail('scim_value_invalid', {
      path,
      reason: { zh: `最多 ${textMax} 个字符`, en: `it is longer than ${textMax} characters` },
    })
  return text.toWellFormed().trim()
}

/** Entra ID sends `"False"`. Throws `scim_value_invalid`. */
export function readFlag(path: string, given: unknown): boolean {
  const value = unwrapped(given)
  const text = typeof value === 'string' ? value.toLowerCase() : value
  if (text === true || text === 'true') return true
  if (text === false || text === 'false') return false
  return fail('scim_value_invalid', { path, reason: { zh: '须为 true 或 false', en: 'it must be true or false' } })
}

export function readName(given: unknown): Record<string, string> {
  const parts = byLowerName(given)
  const known = Object.entries(nameParts).map(([lower, name]) => [name, readText(`name.${name}`, parts[lower])] as const)
  return Object.fromEntries(known.filter(([, text]) => text !== ''))
}

export function readEmails(given: unknown): Email[] {
  const all = listOf(given)
  if (all.length > emailsMax)
    fail('scim_value_invalid', { path: 'emails', reason: { zh: `最多 ${emailsMax} 个`, en: `at most ${emailsMax} are stored` } })
  return all.flatMap((each) => {
    const { value, type, primary } = byLowerName(each)
    const address = readText('emails.value', typeof each === 'string' ? each : value)
    if (address === '') return []
    const kind = readText('emails.type', type)
    const isPrimary = primary !== undefined && primary !== null && readFlag('emails.primary', primary)
    return [{ value: address, ...(kind === '' ? {} : { type: kind }), ...(isPrimary ? { primary: true } : {}) }]
  })
}

/** The ids of `members`, or of a value of it. */
export function readMembers(given: unknown): string[] {
  const all = listOf(given)
  if (all.length > membersMax)
    fail('scim_value_invalid', { path: 'members', reason: { zh: `最多 ${membersMax} 个`, en: `at most ${membersMax} at once` } })
  return all.map((each) => {
    const id = typeof each === 'string' ? each : byLowerName(each).value
    return readText('members.value', id)
  })
}

/** A value without the object or the list of one that some directories put around it. */
function unwrapped(given: unknown): unknown {
  const value = Array.isArray(given) && given.length === 1 ? given[0] : given
  return isObject(value) && 'value' in value ? value.value : value
}

function listOf(given: unknown): readonly unknown[] {
  if (given === undefined || given === null) return []
  return Array.isArray(given) ? given : [given]
}
