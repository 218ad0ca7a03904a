/** A span of a calendar, in unix seconds: from `start` up to `end`. */
export interface Span {
  readonly start: number
  readonly end: number
}

export type CalendarUnit = 'day' | 'week' | 'month'

const daySeconds = 86_400

/**
 * The day, week (from Monday) or month of a time zone that contains a moment. Days are as long as the zone makes them: 23 or 25 hours
 * where its clocks change. An unknown zone counts as UTC.
 */
export function spanOf(unit: CalendarUnit, timeZone: string, at: number): Span {
  const dateAt = dateReader(timeZone)
  const first = firstDay(unit, dateAt(at))
  return { start: beginningOf(first, dateAt), end: beginningOf(nextDay(unit, first), dateAt) }
}

/** Days since 1970 of a date in the zone. */
type DateAt = (unixSeconds: number) => number

function dateReader(timeZone: string): DateAt {
  const format = formatOf(timeZone)
  return (unixSeconds) => {
    const { year, month, day } = Object.fromEntries(
      format.formatToParts(unixSeconds * 1000).map(({ type, value }) => [type, Number(value)]),
    )
    return Date.UTC(Number(year), Number(month) - 1, Number(day)) / 1000 / daySeconds
  }
}

function formatOf(timeZone: string): Intl.DateTimeFormat {
  const shape = { calendar: 'iso8601', numberingSystem: 'latn', year: 'numeric', month: 'numeric', day: 'numeric' } as const
  try {
    return new Intl.DateTimeFormat('en-US', { ...shape, timeZone: timeZone === '' ? 'UTC' : timeZone })
  } catch {
    return new Intl.DateTimeFormat('en-US', { ...shape, timeZone: 'UTC' })
  }
}

function firstDay(unit: CalendarUnit, day: number): number {
  if (unit === 'day') return day
  // Day 0 was a Thursday.
  if (unit === 'week') return day - ((day + 3) % 7)
  const date = new Date(day * daySeconds * 1000)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1) / 1000 / daySeconds
}

function nextDay(unit: CalendarUnit, first: number): number {
  if (unit !== 'month') return first + (unit === 'day' ? 1 : 7)
  const date = new Date(first * daySeconds * 1000)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1) / 1000 / daySeconds
}

/** The first second of a date: found by halving, because a zone may skip its midnight or have it twice. */
function beginningOf(day: number, dateAt: DateAt): number {
  let before = (day - 1) * daySeconds
  let within = (day + 1) * daySeconds
  while (within - before > 1) {
    const middle = Math.floor((before + within) / 2)
    if (dateAt(middle) >= day) within = middle
    else before = middle
  }
  return within
}
