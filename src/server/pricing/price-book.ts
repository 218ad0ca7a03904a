import { Snapshot } from '../lib/snapshot.ts'
import type { Core } from '../options/core.ts'
import type { ReadVendors } from './price-changes.ts'
import type { PriceData, PricePackage, PriceVendors } from './price-data.ts'
import { keepReadable } from './published-data.ts'

/**
 * The public price data that is in use: that of the package, until a super admin applies newer data (`newer-prices.ts`). It is kept in
 * the database, so that it is the same on every node and after a restart. Calls that have begun keep the price that they began with.
 */
export interface PriceBook {
  readonly current: PriceData
  readonly inUse: DataInUse
  readonly package: PricePackage
  /** Resolves when `current` is at least as new as this call. */
  refresh(): Promise<void>
  close(): void
}

export interface DataInUse extends ReadVendors {
  /** '' for the data of the package. */
  readonly hash: string
  /** Unix seconds; 0 for the data of the package. */
  readonly fetchedAt: number
}

export async function openPriceBook({ db, bus, logger }: Core, prices: PricePackage): Promise<PriceBook> {
  const ofPackage: DataInUse = { data: prices.read(prices.vendors), vendors: prices.vendors, hash: '', fetchedAt: 0 }
  let last = ofPackage
  const snapshot = new Snapshot(async () => {
    const row = await db.selectFrom('price_data').selectAll().where('slot', '=', 'in_use').executeTakeFirst()
    if (row?.hash === last.hash) return last
    last = row ? { ...readKept(row.vendors, prices), hash: row.hash, fetchedAt: row.fetched_at } : ofPackage
    return last
  })
  await snapshot.refresh()
  const unsubscribe = bus.on('prices', () =>
    snapshot.follow((error) => logger.error({ error }, 'the price data could not be read')),
  )
  return {
    get current() {
      return snapshot.current.data
    },
    get inUse() {
      return snapshot.current
    },
    package: prices,
    async refresh() {
      await snapshot.refresh()
    },
    close() {
      unsubscribe()
      snapshot.close()
    },
  }
}

/** Data of the table `price_data`, which was validated before it was written. */
export function readKept(json: string, prices: PricePackage): ReadVendors {
  const vendors = keepReadable(JSON.parse(json) as PriceVendors, prices)
  return { data: prices.read(vendors), vendors }
}
