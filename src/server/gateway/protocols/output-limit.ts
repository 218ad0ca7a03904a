import type { Quirks } from './codec.ts'
import { countAt, isObject, type JsonObject, objectAt } from './wire-format.ts'

/** How a format limits the output of one answer. */
export interface OutputLimit {
  /** The members that may contain a limit. All present ones are lowered; if none is present, the first is written. */
  places(body: JsonObject, of: LimitedModel): readonly Place[]
  /** The lowest limit in tokens that the vendor accepts for this body: it has to be above a thinking budget. */
  least(body: JsonObject, of: LimitedModel): number
  /** A limit of 0 requests no output; in all other formats it means no limit. */
  readonly takesZero?: true
}

/** The path of a member. */
export type Place = readonly [string, ...string[]]

/** The upstream that a body is written for. */
export interface LimitedModel {
  /** As the upstream names it. */
  readonly model: string
  readonly quirks: Quirks
}

/** A limit in one member, of at least one token or as many as the vendor accepts. */
export function limitAt(place: Place, least = 1): OutputLimit {
  const places = [place]
  return { places: () => places, least: () => least }
}

/** The lowest limit beside a thinking budget, which is the member `budget_tokens`. */
export function aboveBudget(thinking: JsonObject | undefined): number {
  return countAt(thinking, 'budget_tokens') + 1
}

/** The declaration of a format, as far as it is about output limits. */
interface Limiting {
  readonly outputLimit?: OutputLimit
}

/**
 * The members that limit the output of one answer to at most `tokens`, in a body of an upstream's format, native or translated:
 * top-level members to set. A lower limit already in the body is kept, and `{}` means that no change is needed. The limit is never
 * written below `leastOutputLimit`, which the vendor would refuse, and is not compared with the model's maximum. Call it last, on the
 * final body: adjustments of the provider and overrides of the channel may write a limit too. Undefined for formats without a limit.
 */
export function writeOutputLimit(
  { outputLimit: rule }: Limiting,
  body: JsonObject,
  { tokens, ...of }: LimitedModel & { readonly tokens: number },
): JsonObject | undefined {
  if (!rule) return undefined
  const limit = Math.max(tokens, rule.least(body, of))
  const places = rule.places(body, of)
  const declared = places.filter((place) => isLimit(rule, valueAt(body, place)))
  const tooHigh = declared.filter((place) => Number(valueAt(body, place)) > limit)
  const written = declared.length > 0 ? tooHigh : places.slice(0, 1)
  const changed = written.reduce((result, place) => withValue(result, place, limit), body)
  return Object.fromEntries(Object.entries(changed).filter(([member, value]) => value !== body[member]))
}

/**
 * The limit in tokens of one answer in a body of an upstream's format; the greatest of several, because hosts differ on which one
 * counts. Undefined when it has none.
 */
export function readOutputLimit({ outputLimit: rule }: Limiting, body: JsonObject, of: LimitedModel): number | undefined {
  const stated = rule?.places(body, of).flatMap((place) => {
    const value = valueAt(body, place)
    return isLimit(rule, value) ? value : []
  })
  return stated && stated.length > 0 ? Math.max(...stated) : undefined
}

/**
 * The output limit of one answer that a changed body has above that of the body before it, and the member that a caller sees it in.
 * Undefined when the body before has none, or one that is as high.
 */
export function raisedLimit(
  format: Limiting,
  { before, after }: { readonly before: JsonObject; readonly after: JsonObject },
  of: LimitedModel,
): { readonly tokens: number; readonly member: string } | undefined {
  const asked = readOutputLimit(format, before, of)
  const tokens = asked === undefined ? undefined : readOutputLimit(format, after, of)
  if (asked === undefined || tokens === undefined || tokens <= asked) return undefined
  const place = format.outputLimit?.places(before, of).find((each) => valueAt(before, each) === asked)
  return { tokens, member: place?.at(-1) ?? '' }
}

/** The lowest limit in tokens that the vendor accepts for this body: it has to be above a thinking budget. */
export function leastOutputLimit({ outputLimit }: Limiting, body: JsonObject, of: LimitedModel): number {
  return outputLimit?.least(body, of) ?? 1
}

function valueAt(body: JsonObject, place: Place): unknown {
  return place.reduce<unknown>((value, key) => (isObject(value) ? value[key] : undefined), body)
}

function isLimit({ takesZero }: OutputLimit, value: unknown): value is number {
  return typeof value === 'number' && (value > 0 || (takesZero === true && value === 0))
}

/** A copy with this value at this path; the other members keep their order. */
function withValue(object: JsonObject, [key, ...rest]: Place, value: number): JsonObject {
  const [next, ...more] = rest
  if (next === undefined) return { ...object, [key]: value }
  return { ...object, [key]: withValue(objectAt(object, key) ?? {}, [next, ...more], value) }
}
