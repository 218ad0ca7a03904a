import type { Incident } from '../../../contract/entities/incident.ts'
import { statusDays } from '../../../contract/entities/status-page.ts'
import type { Text } from '../../../contract/text.ts'
import { seconds } from '../../base/lib/time/clock.ts'
import { fiveMinutes, offerKey, oneDay, readOutcomes } from '../../usage/calls/call-sums.ts'
import { readShownIncidents } from './incidents.ts'
import { listOffers, type OfferParts, vendorsOf } from './offers.ts'

/** Numbers of answered and failed calls. */
export interface Outcomes {
  readonly answered: number
  readonly failed: number
}

/** A model in a group, with its outcomes by day, and its recent ones. */
export interface MeasuredOffer {
  readonly group: string
  readonly model: string
  readonly vendors: readonly Text[]
  /** Whether a channel is enabled for it. */
  readonly isServed: boolean
  /** Outcomes by the index of the day in the chart. */
  readonly days: ReadonlyMap<number, Outcomes>
  readonly lately: Outcomes
}

/** Everything that any reader may see, at one moment. */
export interface StatusSnapshot {
  readonly updatedAt: number
  readonly firstDay: number
  readonly offers: readonly MeasuredOffer[]
  readonly incidents: readonly Incident[]
}

const maxAgeMs = 15_000
const latelySeconds = 3600

/**
 * The state of the site, measured on request and at most every 15 seconds, so that readers cause no load. While the database is
 * unavailable, the last state is shown.
 */
export class StatusSnapshots {
  readonly #parts: OfferParts
  #last: { readonly value: StatusSnapshot; readonly atMs: number } | undefined
  #measuring: Promise<StatusSnapshot> | undefined

  constructor(parts: OfferParts) {
    this.#parts = parts
  }

  async read(): Promise<StatusSnapshot> {
    const last = this.#last
    if (last && this.#parts.steady() - last.atMs < maxAgeMs) return last.value
    this.#measuring ??= this.#measure().finally(() => {
      this.#measuring = undefined
    })
    if (!last) return this.#measuring
    return this.#measuring.catch((error: unknown) => {
      this.#parts.logger.warn({ error }, 'the status page shows an older state')
      return last.value
    })
  }

  /** Discards the snapshot after a change: the next reader gets a new one. */
  forget(): void {
    this.#last = undefined
  }

  async #measure(): Promise<StatusSnapshot> {
    const value = await measure(this.#parts)
    this.#last = { value, atMs: this.#parts.steady() }
    return value
  }
}

async function measure(parts: OfferParts): Promise<StatusSnapshot> {
  const { db, now, options } = parts
  const at = seconds(now())
  const firstDay = at - (at % oneDay) - (statusDays - 1) * oneDay
  const sides = ['offer', 'probe'] as const
  const since = at - Math.max(latelySeconds, 2 * options.current.StatusProbeMinutes * 60)
  const from = since - (since % fiveMinutes)
  const offers = await listOffers(parts)
  const recent = await readOutcomes(db, { sides, seconds: fiveMinutes, from, to: at + 1 })
  const daily = await readOutcomes(db, { sides, seconds: oneDay, from: firstDay, to: at + 1 })

  const lately = new Map<string, Outcomes>()
  for (const { key, ...row } of recent) lately.set(key, sum(lately.get(key), row))
  const days = new Map<string, Map<number, Outcomes>>()
  for (const { key, at: day, answered, failed } of daily) {
    const known = days.get(key) ?? new Map<number, Outcomes>()
    days.set(key, known.set(Math.round((day - firstDay) / oneDay), { answered, failed }))
  }
  return {
    updatedAt: at,
    firstDay,
    offers: offers.map((offer) => {
      const { group, model, channels } = offer
      const key = offerKey(group, model)
      return {
        group,
        model,
        vendors: vendorsOf(offer),
        isServed: channels.length > 0,
        days: days.get(key) ?? new Map(),
        lately: lately.get(key) ?? nothing,
      }
    }),
    incidents: await readShownIncidents(db, at),
  }
}

const nothing: Outcomes = { answered: 0, failed: 0 }

function sum(one: Outcomes | undefined, other: Outcomes): Outcomes {
  return { answered: (one?.answered ?? 0) + other.answered, failed: (one?.failed ?? 0) + other.failed }
}
