import { isDeepStrictEqual } from 'node:util'
import type { BodyRule, HeaderOverrides, RuleCondition } from '../../../../contract/entities/channel-overrides.ts'
import { isObject, type JsonObject } from '../../protocols/wire-format.ts'
import type { CallerHeaders, Upstream } from '../../providers/provider.ts'
import { matchesName } from '../row/match-name.ts'
import { siteHops } from './site-hops.ts'

/**
 * Overrides of a channel: changes to the body and the headers of a request before it is sent upstream. Pure functions. This folder is what a
 * channel makes of any request: its format, its system prompt, its overrides, and the header of sites. It knows no other channel.
 */

export interface RuleContext {
  /** The model name sent upstream. */
  readonly model: string
  /** The model name that the caller sent; a condition holds if either name matches. */
  readonly asked?: string
}

/**
 * Applies the rules to a body, one after the other. Untouched values stay the same objects; without a change the body itself is
 * returned. A rule whose path goes through a value other than an object or a list changes nothing.
 */
export function overrideBody(body: JsonObject, rules: readonly BodyRule[] = [], context: RuleContext): JsonObject {
  return rules.reduce((now, rule) => (holds(rule.when, now, context) ? apply(now, rule) : now), body)
}

/** The top-level members that differ, with undefined for removed ones: the splices to apply to the bytes of `before`. */
export function changedMembers(before: JsonObject, after: JsonObject): Record<string, unknown> {
  const names = new Set([...Object.keys(before), ...Object.keys(after)])
  const memberOf = (object: JsonObject, name: string) => (Object.hasOwn(object, name) ? object[name] : undefined)
  return Object.fromEntries(
    [...names].filter((name) => memberOf(before, name) !== memberOf(after, name)).map((name) => [name, memberOf(after, name)]),
  )
}

/**
 * The headers with the overrides of the channel on top: `{api_key}` is replaced by the key, a null removes the header. Names are lower
 * case.
 */
export function overrideHeaders(
  headers: Readonly<Record<string, string>>,
  overrides: HeaderOverrides = {},
  { apiKey }: { apiKey: string },
): Record<string, string> {
  const changed = new Map(Object.entries(headers))
  for (const [name, value] of Object.entries(overrides)) {
    if (value === null) changed.delete(name.toLowerCase())
    // A key of several lines is not valid in a header.
    else
      changed.set(
        name.toLowerCase(),
        value.replaceAll('{api_key}', () => apiKey.replace(/[\r\n]+/g, ' ')),
      )
  }
  return Object.fromEntries(changed)
}

/**
 * The headers of any call to a channel: `headers`, the ids of the sites that the request has passed, and the header overrides of the
 * channel on top. `key` authorises the call; `received` are the headers of the caller's request.
 */
export function withHeaderOverrides(
  { setting, key, siteId }: Pick<Upstream, 'setting' | 'key'> & { readonly siteId?: string },
  headers: Readonly<Record<string, string>>,
  received: CallerHeaders = {},
): Record<string, string> {
  const { header_override: overrides } = setting
  const all = { ...headers, ...siteHops(siteId, received) }
  return overrides ? overrideHeaders(all, overrides, { apiKey: key }) : all
}

/** A member name, an index of a list, or all entries of a list. */
type Step = string | number | typeof each

const each = Symbol('each')
const gone = Symbol('gone')

/** Returns the new value of a member, or `gone`. `exists` distinguishes a member that is undefined from a missing one. */
type Edit = (old: unknown, exists: boolean) => unknown

function apply(body: JsonObject, rule: BodyRule): JsonObject {
  if ('remove' in rule) return edited(body, rule.remove, (_old, exists) => (exists ? gone : undefined))
  if ('default' in rule) return edited(body, rule.default, (old) => old ?? rule.to, true)
  if ('set' in rule) return edited(body, rule.set, () => rule.to, true)
  const [value] = valuesAt(body, stepsOf(rule.rename))
  if (value === undefined) return body
  const without = edited(body, rule.rename, () => gone)
  const renamed = edited(without, rule.to, (old) => old ?? value, true)
  // There is no place for it: better kept under its old name than lost.
  return valuesAt(renamed, stepsOf(rule.to)).length === 0 ? body : renamed
}

function edited(body: JsonObject, path: string, edit: Edit, makes = false): JsonObject {
  const after = changed(body, stepsOf(path), edit, makes)
  return isObject(after) ? after : body
}

function changed(value: unknown, [step, ...rest]: readonly Step[], edit: Edit, makes: boolean): unknown {
  if (step === undefined) return value
  const next = (old: unknown, exists: boolean) => {
    if (rest.length === 0) return edit(old, exists)
    return changed(exists ? old : emptyFor(rest[0]), rest, edit, makes)
  }
  if (Array.isArray(value)) return changedList(value, step, next, makes)
  if (!isObject(value) || typeof step !== 'string') return value

  const exists = Object.hasOwn(value, step)
  if (!exists && !makes) return value
  const after = next(value[step], exists)
  if (exists && after === value[step]) return value
  if (after !== gone) return { ...value, [step]: after }
  return Object.fromEntries(Object.entries(value).filter(([name]) => name !== step))
}

function changedList(list: readonly unknown[], step: Step, next: Edit, makes: boolean): readonly unknown[] {
  if (typeof step === 'string') return list
  const isNew = step === list.length && makes
  const after = (isNew ? [...list, undefined] : list).map((old, at) =>
    step === each || step === at ? next(old, at < list.length) : old,
  )
  const isSame = after.length === list.length && after.every((value, at) => value === list[at])
  return isSame ? list : after.filter((value) => value !== gone)
}

function emptyFor(step: Step | undefined): unknown {
  return typeof step === 'string' ? {} : []
}

function holds(when: RuleCondition | undefined, body: JsonObject, { model, asked = model }: RuleContext): boolean {
  if (!when) return true
  const patterns = when.model === undefined ? ['*'] : [when.model].flat()
  if (!patterns.some((pattern) => matchesName(pattern, model) || matchesName(pattern, asked))) return false
  if (when.path === undefined) return true

  const values = valuesAt(body, stepsOf(when.path))
  if (values.length > 0 !== (when.exists ?? true)) return false
  return when.equals === undefined || values.some((value) => isDeepStrictEqual(value, when.equals))
}

function valuesAt(value: unknown, [step, ...rest]: readonly Step[]): unknown[] {
  if (step === undefined) return value === undefined ? [] : [value]
  if (step === each) return Array.isArray(value) ? value.flatMap((entry) => valuesAt(entry, rest)) : []
  if (typeof step === 'number') return Array.isArray(value) ? valuesAt(value[step], rest) : []
  return isObject(value) && Object.hasOwn(value, step) ? valuesAt(value[step], rest) : []
}

/** The contract has checked the form: `a.b[0]["c.d"][*]`, perhaps behind `$.`. */
function stepsOf(path: string): Step[] {
  const found = path.replace(/^\$\.?/, '').matchAll(/\["([^"]*)"\]|\[(\d+)\]|\[\*\]|([\w-]+)/g)
  return [...found].map(([, quoted, at, name]) => quoted ?? name ?? (at === undefined ? each : Number(at)))
}
