import { Snapshot } from '../../base/lib/collections/snapshot.ts'
import type { Core } from '../../base/options/core.ts'
import type { ReadVendors } from './price-changes.ts'
import { type PriceData, readPrices, type ShippedPrices } from './price-data.ts'
import { keepReadable } from './published-data.ts'
import type { PriceVendors } from './vendor-prices.ts'

/**
 * The public price data that is in use: that of this version, until a super admin applies newer data (`price-decisions.ts`). It is kept in
 * the database, so that it is the same on every node and after a restart. Calls that have begun keep the price that they began with.
 */
export interface PriceBook {
  readonly current: PriceData
  readonly inUse: DataInUse
  readonly shipped: ShippedPrices
  /** Resolves when `current` is at least as new as this call. */
  refresh(): Promise<void>
  close(): void
}

interface DataInUse extends ReadVendors {
  /** '' for the data of this version. */
  readonly hash: string
  /** Unix seconds; 0 for the data of this version. */
  readonly fetchedAt: number
}

export async function openPriceBook({ db, bus, logger }: Core, shipped: ShippedPrices): Promise<PriceBook> {
  const { vendors } = shipped
  const ofVersion: DataInUse = { data: readPrices(vendors), vendors, hash: '', fetchedAt: 0 }
  let last = ofVersion
  const snapshot = new Snapshot(async () => {
    const row = await db.selectFrom('price_data').selectAll().where('slot', '=', 'in_use').executeTakeFirst()
    if (row?.hash === last.hash) return last
    last = row ? { ...readKept(row.vendors, shipped), hash: row.hash, fetchedAt: row.fetched_at } : ofVersion
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
    shipped,
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
export function readKept(json: string, shipped: ShippedPrices): ReadVendors {
  const vendors = keepReadable(JSON.parse(json) as PriceVendors, shipped.vendors)
  return { data: readPrices(vendors), vendors }
}
