import { createHash } from 'node:crypto'
import type { PriceChange } from '../../../contract/routes/pricing.ts'
import { AppError, fail } from '../../base/lib/failure.ts'
import { callConfigured, type UpstreamAgents } from '../../base/lib/net/http-client.ts'
import { CallFailure } from '../../base/lib/net/upstream-http/exchange.ts'
import { seconds } from '../../base/lib/time/clock.ts'
import { yieldToEventLoop } from '../../base/lib/time/yield-to-event-loop.ts'
import { recordAction } from '../../base/options/audit.ts'
import type { Caller, Core } from '../../base/options/core.ts'
import { type PriceBook, readKept } from './price-book.ts'
import { comparePrices, type VendorModel } from './price-changes.ts'
import { readPrices } from './price-data.ts'
import { readPublished } from './published-data.ts'

/**
 * Newer public price data: fetched, checked and stored as a proposal with its differences. `price-decisions.ts` applies it. Every action
 * of a person is in the audit.
 */
type Parts = Core & { readonly priceBook: PriceBook }

interface NewerPrices {
  /** SHA-256 of the stored vendors. It identifies the data that is applied or dismissed. */
  readonly hash: string
  /** The day of its newest price. */
  readonly date: string
  /** Unix seconds. */
  readonly fetchedAt: number
  /** Models of the published data that this version cannot price. */
  readonly leftOut: number
  readonly changes: PriceChange[]
}

/**
 * The proposal, if it still changes a price of the data in use and is not older, and has not been decided on. `served`: names used by
 * calls.
 */
export async function readNewerPrices(parts: Parts, served: readonly VendorModel[]): Promise<NewerPrices | undefined> {
  const { db, priceBook, now } = parts
  const row = await db
    .selectFrom('price_data')
    .selectAll()
    .where('slot', '=', 'newer')
    .where('dismissed', '=', 0)
    .executeTakeFirst()
  if (!row) return undefined
  const before = priceBook.inUse
  const after = readKept(row.vendors, priceBook.shipped)
  if (after.data.date < before.data.date) return undefined
  const changes = await comparePrices({ before, after }, { served, nowMs: now() })
  if (changes.length === 0) return undefined
  return { hash: row.hash, date: after.data.date, fetchedAt: row.fetched_at, leftOut: row.left_out, changes }
}

/**
 * `same`: the data changes no price. `older`: its newest price is older than that of the data in use, as in an unmaintained copy.
 * `dismissed`: it is the data that was dismissed last.
 */
type Found = 'newer' | 'same' | 'older' | 'dismissed'

interface Checked {
  readonly served: readonly VendorModel[]
  /** Whether data that was dismissed is proposed again. */
  readonly again: boolean
}

type Fetching = Parts & { readonly upstream: UpstreamAgents }

/**
 * Fetches the published data, and stores it as the proposal if it changes a price. Throws `price_data_unreadable`; then an earlier
 * proposal stays.
 */
export async function findNewerPrices(parts: Fetching, { served, again }: Checked): Promise<Found> {
  const { db, priceBook, options, now } = parts
  const { shipped } = priceBook
  const body = await fetchPublished(parts.upstream, options.current.PriceDataUrl || shipped.updateUrl)
  await priceBook.refresh()
  const before = priceBook.inUse
  await yieldToEventLoop()
  const read = readPublished(body, { shipped: shipped.vendors, inUse: before.vendors })
  if ('reason' in read) return fail('price_data_unreadable', { reason: read.reason })
  await yieldToEventLoop()

  const after = { vendors: read.vendors, data: readPrices(read.vendors) }
  if (after.data.date < before.data.date) return 'older'
  const changes = await comparePrices({ before, after }, { served, nowMs: now() })
  if (changes.length === 0) return 'same'
  const vendors = JSON.stringify(read.vendors)
  const row = { hash: hashOf(vendors), vendors, left_out: read.leftOut, fetched_at: seconds(now()), dismissed: 0 }
  // Someone may dismiss the same data while it is fetched: the statement that stores it decides.
  const stored = await db
    .insertInto('price_data')
    .values({ slot: 'newer', ...row })
    .onConflict((conflict) => {
      const update = conflict.column('slot').doUpdateSet(row)
      if (again) return update
      return update.where((eb) => eb.or([eb('price_data.hash', '!=', row.hash), eb('price_data.dismissed', '=', 0)]))
    })
    .executeTakeFirst()
  return stored.numInsertedOrUpdatedRows === 0n ? 'dismissed' : 'newer'
}

/** Like `findNewerPrices`, at the request of an admin: dismissed data is proposed again, and the audit log records the outcome. */
export async function checkPrices(
  parts: Fetching,
  { served, caller }: { served: readonly VendorModel[]; caller: Caller },
): Promise<Found> {
  const record = (after: string) => recordAction(parts, { caller, action: 'price-data.check', target: 'price-data', after })
  try {
    const found = await findNewerPrices(parts, { served, again: true })
    await record(found)
    return found
  } catch (error) {
    if (error instanceof AppError) await record(error.code)
    throw error
  }
}

const fetchLimits = { timeoutMs: 30_000, sizeBytesMax: 8 * 1024 * 1024 }

async function fetchPublished(upstream: UpstreamAgents, url: string): Promise<string> {
  try {
    const { status, body } = await callConfigured(upstream, { url, headers: { accept: 'application/json' }, ...fetchLimits })
    if (status === 200) return body.toString('utf8')
    return fail('price_data_unreadable', { reason: { zh: `返回了状态 ${status}`, en: `it answered with status ${status}` } })
  } catch (error) {
    if (error instanceof CallFailure) return fail('price_data_unreadable', { reason: error.text }, { cause: error })
    throw error
  }
}

/** SHA-256 of stored vendors, which identifies them. */
export function hashOf(vendors: string): string {
  return createHash('sha256').update(vendors).digest('hex')
}
