import { isObject } from '../../../base/lib/bytes/read-json.ts'
import { fail } from '../../../base/lib/failure.ts'
import { type Path, parsePath } from './filter.ts'
import { byLowerName, type Email, nameParts, readEmails, readFlag, readName, readText, type UserFacts } from './read.ts'

/** PATCH of SCIM (RFC 7644, section 3.5.2), as Entra ID and Okta send it. */

export interface Operation {
  readonly op: 'add' | 'replace' | 'remove'
  readonly path: Path
  readonly value: unknown
}

const operationsMax = 1000

/**
 * The operations of a body, each for one attribute: a value without a path is one operation for each of its members, whose names may be
 * paths. Throws `scim_value_invalid`, `scim_path_invalid`.
 */
export function readOperations(body: unknown): Operation[] {
  const { operations } = byLowerName(body)
  if (!Array.isArray(operations) || operations.length === 0 || operations.length > operationsMax)
    return fail('scim_value_invalid', {
      path: 'Operations',
      reason: { zh: `须为 1 到 ${operationsMax} 个操作`, en: `it must list 1 to ${operationsMax} operations` },
    })
  return operations.flatMap((each) => {
    const { op: given, path, value } = byLowerName(each)
    const op = readOp(given)
    if (path !== undefined && path !== null && path !== '') return [{ op, path: parsePath(readText('path', path)), value }]
    if (!isObject(value))
      return fail('scim_value_invalid', { path: 'value', reason: { zh: '须为对象', en: 'without a path it must be an object' } })
    return Object.entries(value).flatMap(([name, inner]) => {
      // The id never changes, and schemas say nothing.
      if (['schemas', 'id', 'meta'].includes(name.toLowerCase()) || /^urn:.*:extension:/i.test(name)) return []
      return [{ op, path: parsePath(name), value: inner }]
    })
  })
}

function readOp(given: unknown): Operation['op'] {
  const op = typeof given === 'string' ? given.toLowerCase() : ''
  if (op === 'add' || op === 'replace' || op === 'remove') return op
  return fail('scim_value_invalid', {
    path: 'op',
    reason: { zh: '须为 add、replace 或 remove', en: 'it must be add, replace or remove' },
  })
}

/** The facts of a user after the operations. Unknown attributes are left out. Throws `scim_value_invalid`. */
export function patchUser(before: UserFacts, operations: readonly Operation[]): UserFacts {
  return operations.reduce(patchOnce, before)
}

function patchOnce(user: UserFacts, { op, path, value }: Operation): UserFacts {
  const isRemoval = op === 'remove'
  switch (path.attribute) {
    case 'username':
      return { ...user, userName: readText('userName', isRemoval ? '' : value) }
    case 'externalid':
      return { ...user, externalId: isRemoval ? '' : readText('externalId', value) }
    case 'displayname':
      return { ...user, displayName: isRemoval ? '' : readText('displayName', value) }
    case 'active':
      return { ...user, active: isRemoval ? false : readFlag('active', value) }
    case 'name':
      return { ...user, name: patchName(user.name, { op, path, value }) }
    case 'emails':
      return { ...user, emails: patchEmails(user.emails, { op, path, value }) }
    default:
      return user
  }
}

function patchName(before: UserFacts['name'], { op, path: { sub }, value }: Operation): UserFacts['name'] {
  if (sub === '') return op === 'remove' ? {} : { ...before, ...readName(value) }
  const part = nameParts[sub]
  if (part === undefined) return before
  return { ...before, [part]: op === 'remove' ? '' : readText(`name.${part}`, value) }
}

function patchEmails(before: readonly Email[], { op, path: { filter, sub }, value }: Operation): Email[] {
  const type = filter.find(({ attribute }) => attribute === 'type')?.value
  const isMeant = (email: Email) =>
    filter.every(
      (each) =>
        byLowerName(email)[each.attribute] === each.value || (each.attribute === 'primary' && email.primary === each.value),
    )
  if (op === 'remove') return filter.length === 0 ? [] : before.filter((email) => !isMeant(email))
  if (filter.length === 0 && sub === '') return op === 'replace' ? readEmails(value) : merged(before, readEmails(value))

  const change = sub === '' ? (readEmails(value)[0] ?? {}) : changeOf(sub, value)
  if (before.some(isMeant)) return before.map((email) => (isMeant(email) ? { ...email, ...change } : email))
  return readEmails([...before, { ...(typeof type === 'string' ? { type } : {}), ...change }])
}

function changeOf(sub: string, value: unknown): Partial<Email> {
  if (sub === 'value') return { value: readText('emails.value', value) }
  if (sub === 'type') return { type: readText('emails.type', value) }
  return sub === 'primary' ? { primary: readFlag('emails.primary', value) } : {}
}

/** A new address of the same type or value takes the place of the old one. */
function merged(before: readonly Email[], added: readonly Email[]): Email[] {
  const replaces = (email: Email) =>
    added.some(({ value, type }) => value === email.value || (type !== undefined && type === email.type))
  return readEmails([...before.filter((email) => !replaces(email)), ...added])
}
