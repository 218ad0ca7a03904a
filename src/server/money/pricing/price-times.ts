import type { ConditionalPrice, PriceConstraint, PriceEntry, UnitPrices } from './vendor-prices.ts'

/** When a price applies: from a day on, and during the hours of a day. Days and hours are in UTC. Pure. */
interface InForce {
  readonly prices: UnitPrices
  /** The day since which it applies, as `2026-12-01`; '' where the data has no such day. */
  readonly from: string
  /** The hours of a day in which it applies, as `01:00–04:00, 06:00–10:00`; '' for the whole day. */
  readonly hours: string
}

const dayMs = 86_400_000

/** The prices of an entry at all times. */
export function pricesIn({ prices }: PriceEntry): readonly ConditionalPrice[] {
  return isList(prices) ? prices : [{ prices }]
}

function isList(prices: PriceEntry['prices']): prices is readonly ConditionalPrice[] {
  return Array.isArray(prices)
}

/** The day on which a price begins, if it has one. */
export function startOf({ constraint }: ConditionalPrice): string | undefined {
  return constraint && 'start_date' in constraint ? constraint.start_date : undefined
}

/** The price at a moment, in Unix milliseconds: the last one that applies, or the first where none does. */
export function inForce(entry: PriceEntry, ms: number): InForce {
  const list = pricesIn(entry)
  const prices = activeAt(list, ms)
  const days = list.flatMap((each) => startOf(each) ?? []).filter((day) => Date.parse(day) <= ms)
  return { prices, from: days.sort().at(-1) ?? '', hours: hoursOf(list, ms, prices) }
}

/**
 * The moments after this one at which another price begins, in ascending order: all later days, and the hours of the next two days.
 */
export function changesAfter(entry: PriceEntry, ms: number): readonly number[] {
  const list = pricesIn(entry)
  const midnight = ms - (ms % dayMs)
  const hours = timesIn(list).flatMap((time) => [0, 1, 2].map((day) => midnight + day * dayMs + time))
  const days = list.flatMap((each) => startOf(each) ?? []).map((day) => Date.parse(day))
  const later = [...new Set([...hours, ...days])].filter((at) => at > ms && (days.includes(at) || at <= ms + 2 * dayMs))
  return later.sort((a, b) => a - b).filter((at) => textOf(activeAt(list, at)) !== textOf(activeAt(list, at - 1)))
}

/** Whether a price with this constraint applies at a moment. */
export function isInForce(constraint: PriceConstraint | null | undefined, ms: number): boolean {
  if (!constraint) return true
  if ('start_date' in constraint) return ms >= Date.parse(constraint.start_date)
  const [start, end, now] = [timeOfDay(constraint.start_time), timeOfDay(constraint.end_time), ms % dayMs]
  return end < start ? now >= start || now < end : start <= now && now < end
}

function activeAt(list: readonly ConditionalPrice[], ms: number): UnitPrices {
  return (list.findLast(({ constraint }) => isInForce(constraint, ms)) ?? list[0])?.prices ?? {}
}

/** The times of the day at which a price begins or ends, in milliseconds since midnight. */
function timesIn(list: readonly ConditionalPrice[]): readonly number[] {
  const times = list.flatMap(({ constraint }) =>
    constraint && 'start_time' in constraint ? [timeOfDay(constraint.start_time), timeOfDay(constraint.end_time)] : [],
  )
  return [...new Set(times)].sort((a, b) => a - b)
}

function timeOfDay(text: string): number {
  const time = Date.parse(`1970-01-01T${text}`) % dayMs
  return time < 0 ? time + dayMs : time
}

/** The hours of the day of a moment in which the list has these prices. */
function hoursOf(list: readonly ConditionalPrice[], ms: number, prices: UnitPrices): string {
  const times = timesIn(list)
  const midnight = ms - (ms % dayMs)
  const wanted = textOf(prices)
  const isOn = (time: number) => textOf(activeAt(list, midnight + time)) === wanted
  const on = times.map(isOn)
  if (on.every((each) => each === on[0])) return ''
  // Each stretch from one time to the next, the last of them over midnight; those that touch are one.
  const stretches = times.flatMap((time, at) => (on[at] && !on.at(at - 1) ? [[time, endOf(times, on, at)] as const] : []))
  return stretches.map(([from, to]) => `${clock(from)}–${clock(to)}`).join(', ')
}

function endOf(times: readonly number[], on: readonly boolean[], from: number): number {
  let at = from
  while (on[at % times.length]) at++
  return times[at % times.length] ?? 0
}

function clock(time: number): string {
  return new Date(time).toISOString().slice(11, 16)
}

const texts = new WeakMap<UnitPrices, string>()

function textOf(prices: UnitPrices): string {
  const known = texts.get(prices) ?? JSON.stringify(prices)
  texts.set(prices, known)
  return known
}
