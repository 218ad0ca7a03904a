import { fail } from '../../../base/lib/failure.ts'

/**
 * Filters and paths of SCIM (RFC 7644, sections 3.4.2.2 and 3.5.2), as far as directories send them: comparisons by `eq`, joined by
 * `and`, and a path with such a filter. Names are compared without regard to capitals.
 */

export interface Condition {
  /** In lower case: `username`, `emails.value`. */
  readonly attribute: string
  readonly value: string | number | boolean | null
}

export interface Path {
  /** In lower case; '' for the whole resource. */
  readonly attribute: string
  readonly filter: readonly Condition[]
  /** In lower case; '' for none. */
  readonly sub: string
}

const lengthMax = 2000
/** `emails[type eq "work"].value eq "a@b"`, and what follows it. */
const comparison =
  /^\s*([\w$:.-]+)(?:\[([^\]]*)\](?:\.([\w$-]+))?)?\s+(\w+)\s+("(?:[^"\\]|\\.)*"|true|false|null|-?\d+(?:\.\d+)?)(?=\s|$)/i
const joint = /^\s+(\w+)\s/
const valuePath = /^([\w$:.-]+?)(?:\[([^\]]*)\])?(?:\.([\w$-]+))?$/
/** The schema before the name of an attribute of a resource itself. */
const schemaPrefix = /^urn:ietf:params:scim:schemas:core:2\.0:(?:user|group):/

/** Throws `scim_filter_invalid`. */
export function parseFilter(text: string): Condition[] {
  if (text.length > lengthMax)
    fail('scim_filter_invalid', { reason: { zh: `超过 ${lengthMax} 个字符`, en: `more than ${lengthMax} characters` } })
  const conditions: Condition[] = []
  let rest = text
  for (;;) {
    const [whole, name = '', , sub, operator = '', value = ''] =
      comparison.exec(rest) ?? fail('scim_filter_invalid', { reason: rest })
    if (operator.toLowerCase() !== 'eq') fail('scim_filter_invalid', { reason: operator })
    // A filter within the path selects one of several values; all of them are compared.
    conditions.push({ attribute: plainName(sub === undefined ? name : `${name}.${sub}`), value: literal(value) })
    rest = rest.slice(whole.length)
    if (rest.trim() === '') return conditions
    const [joined, word = ''] = joint.exec(rest) ?? fail('scim_filter_invalid', { reason: rest })
    if (word.toLowerCase() !== 'and') fail('scim_filter_invalid', { reason: word })
    rest = rest.slice(joined.length)
  }
}

/** Throws `scim_path_invalid`, `scim_filter_invalid`. */
export function parsePath(text: string): Path {
  const path = text.trim()
  if (path.length > lengthMax) fail('scim_path_invalid', { path: path.slice(0, 100) })
  const plain = plainName(path)
  const [, attribute = '', filter, sub = ''] =
    valuePath.exec(path.slice(path.length - plain.length)) ?? fail('scim_path_invalid', { path })
  return { attribute: attribute.toLowerCase(), filter: filter === undefined ? [] : parseFilter(filter), sub: sub.toLowerCase() }
}

function plainName(name: string): string {
  return name.toLowerCase().replace(schemaPrefix, '')
}

function literal(text: string): Condition['value'] {
  try {
    return JSON.parse(text.startsWith('"') ? text : text.toLowerCase()) as Condition['value']
  } catch {
    return fail('scim_filter_invalid', { reason: text })
  }
}
