import { startOfDay } from '../../../lib/times.ts'
import type { Filter } from '../list-filters.tsx'

type Search = Readonly<Record<string, string>>

/** The most days before today for which times are recognized. */
const daysMax = 400

/** Times that begin a day are stored as the number of days before today, so that "the last 7 days" stays relative. */
export function withMovingTimes(search: Search, filters: readonly Filter[]): Search {
  return overTimes(search, filters, (text) => {
    for (let days = 0; days <= daysMax; days++) if (String(startOfDay(days)) === text) return `-${days}d`
    return text
  })
}

/** Replaces the numbers of days by the times of today. */
export function withTimesOfToday(search: Search, filters: readonly Filter[]): Search {
  return overTimes(search, filters, (text) => {
    const days = /^-(\d{1,3})d$/.exec(text)?.[1]
    return days === undefined ? text : String(startOfDay(Number(days)))
  })
}

function overTimes(search: Search, filters: readonly Filter[], change: (text: string) => string): Search {
  const times = new Set(filters.flatMap((filter) => (filter.kind === 'time' ? [filter.from, filter.to] : [])))
  return Object.fromEntries(Object.entries(search).map(([name, text]) => [name, times.has(name) ? change(text) : text]))
}
