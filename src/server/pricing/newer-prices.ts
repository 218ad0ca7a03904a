import { createHash } from 'node:crypto'
import type { PriceChange } from '../../contract/routes/pricing.ts'
import type { Within } from '../db/open.ts'
import type { Row } from '../db/schema.ts'
import { seconds } from '../lib/clock.ts'
import { AppError, fail } from '../lib/failure.ts'
import { callConfigured, type UpstreamAgents } from '../lib/http-client.ts'
import { CallFailure } from '../lib/upstream-http/exchange.ts'
import { yieldToEventLoop } from '../lib/yield-to-event-loop.ts'
import { recordAudit } from '../options/audit.ts'
import type { Caller, Core } from '../options/core.ts'
import { mergePrices } from './merge-prices.ts'
import { type PriceBook, readKept } from './price-book.ts'
import { comparePrices, keyOf, type VendorModel } from './price-changes.ts'
import { readPrices } from './price-data.ts'
import { readPublished } from './published-data.ts'

/**
 * Newer public price data: fetched, checked and stored as a proposal with its differences. No price of it is charged before a super
 * admin applies it, completely or for single models. Every action of a person is in the audit.
 */
type Parts = Core & { readonly priceBook: PriceBook }

export interface NewerPrices {
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
export type Found = 'newer' | 'same' | 'older' | 'dismissed'

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
  const hash = hashOf(vendors)
  if (!again && (await isDismissed(db, hash))) return 'dismissed'
  const row = { hash, vendors, left_out: read.leftOut, fetched_at: seconds(now()), dismissed: 0 }
  await db
    .insertInto('price_data')
    .values({ slot: 'newer', ...row })
    .onConflict((conflict) => conflict.column('slot').doUpdateSet(row))
    .execute()
  return 'newer'
}

async function isDismissed(db: Parts['db'], hash: string): Promise<boolean> {
  const row = await db.selectFrom('price_data').select(['hash', 'dismissed']).where('slot', '=', 'newer').executeTakeFirst()
  return row?.hash === hash && row.dismissed === 1
}

/** Like `findNewerPrices`, at the request of an admin: dismissed data is proposed again, and the audit log records the outcome. */
export async function checkPrices(
  parts: Fetching,
  { served, caller }: { served: readonly VendorModel[]; caller: Caller },
): Promise<Found> {
  const record = (after: string) =>
    parts.db
      .transaction()
      .execute((within) => recordAudit(parts, within, { caller, action: 'price-data.check', target: 'price-data', after }))
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

function hashOf(vendors: string): string {
  return createHash('sha256').update(vendors).digest('hex')
}

interface Seen {
  /** `NewerPrices.hash` of the data that the caller has seen. */
  readonly hash: string
}

/**
 * Charges by the newer data of this hash from now on, on every node: by all of it, or only by its prices of `models`; the others stay
 * a proposal. Throws `price_data_changed` if it is no longer the proposal, or the data in use has changed meanwhile.
 */
export async function applyPrices(
  parts: Parts,
  caller: Caller,
  { hash, models }: Seen & { readonly models?: readonly VendorModel[] | undefined },
): Promise<void> {
  const merged = models && (await merge(parts, hash, models))
  await decide(parts, { caller, action: 'price-data.apply' }, async (within, inUse) => {
    const newer = await lockProposal(within, hash)
    if (merged && merged.onto !== inUse) fail('price_data_changed')
    const { slot, ...whole } = newer
    const row = merged ? { ...whole, hash: merged.hash, vendors: merged.vendors } : whole
    await within
      .insertInto('price_data')
      .values({ slot: 'in_use', ...row })
      .onConflict((conflict) => conflict.column('slot').doUpdateSet(row))
      .execute()
    if (!merged) await within.deleteFrom('price_data').where('slot', '=', slot).execute()
    return models ? JSON.stringify({ hash: row.hash, models: models.map(keyOf) }) : row.hash
  })
}

/**
 * Runs before the transaction, because it takes a while for many models. `onto`: the hash of the data that the prices were merged
 * into.
 */
async function merge(parts: Parts, hash: string, models: readonly VendorModel[]) {
  const { db, priceBook } = parts
  await priceBook.refresh()
  const before = priceBook.inUse
  const row = await db
    .selectFrom('price_data')
    .select('vendors')
    .where('slot', '=', 'newer')
    .where('hash', '=', hash)
    .where('dismissed', '=', 0)
    .executeTakeFirst()
  if (!row) return fail('price_data_changed')
  const vendors = JSON.stringify(await mergePrices({ before, after: readKept(row.vendors, priceBook.shipped) }, models))
  return { onto: before.hash, hash: hashOf(vendors), vendors }
}

/** Dismisses the newer data of this hash. Throws `price_data_changed` if it is not the proposal. */
export function dismissPrices(parts: Parts, caller: Caller, { hash }: Seen): Promise<void> {
  return decide(parts, { caller, action: 'price-data.dismiss' }, async (within) => {
    const { slot } = await lockProposal(within, hash)
    await within.updateTable('price_data').set({ dismissed: 1, vendors: '' }).where('slot', '=', slot).execute()
    return hash
  })
}

/** Charges by the data of the package again, on every node. Throws `price_data_changed` where that is in use already. */
export function restorePrices(parts: Parts, caller: Caller): Promise<void> {
  return decide(parts, { caller, action: 'price-data.restore' }, async (within, inUse) => {
    if (inUse === '') fail('price_data_changed')
    await within.deleteFrom('price_data').where('slot', '=', 'in_use').execute()
    return ''
  })
}

/** The proposal, locked against other decisions until the end of the transaction. */
async function lockProposal(within: Within, hash: string): Promise<Row<'price_data'>> {
  const found = await within
    .updateTable('price_data')
    .set({ dismissed: 0 })
    .where('slot', '=', 'newer')
    .where('hash', '=', hash)
    .where('dismissed', '=', 0)
    .returningAll()
    .executeTakeFirst()
  return found ?? fail('price_data_changed')
}

/** `act` gets the hash of the data in use, '' for that of the package, and returns the audit entry. */
async function decide(
  parts: Parts,
  { caller, action }: { caller: Caller; action: string },
  act: (within: Within, inUse: string) => Promise<string>,
): Promise<void> {
  await parts.db.transaction().execute(async (within) => {
    const row = await within
      .selectFrom('price_data')
      .select('hash')
      .where('slot', '=', 'in_use')
      .$if(parts.database.dialect === 'postgres', (query) => query.forUpdate())
      .executeTakeFirst()
    const before = row?.hash ?? ''
    const after = await act(within, before)
    await recordAudit(parts, within, { caller, action, target: 'price-data', before, after })
  })
  parts.bus.publish('prices')
  await parts.priceBook.refresh()
}
