import { locked } from '../../base/db/locked.ts'
import type { Within } from '../../base/db/open.ts'
import type { Row } from '../../base/db/schema.ts'
import { fail } from '../../base/lib/failure.ts'
import { change } from '../../base/options/change.ts'
import type { Caller, Core } from '../../base/options/core.ts'
import { automaticModels } from './automatic-prices.ts'
import { mergePrices } from './merge-prices.ts'
import { hashOf, readNewerPrices } from './newer-prices.ts'
import { type PriceBook, readKept } from './price-book.ts'
import { keyOf, type VendorModel } from './price-changes.ts'
import { readPrices } from './price-data.ts'

/**
 * Which price data is charged: newer data (`newer-prices.ts`) that a super admin applies, completely or for single models, or whose
 * changes apply by themselves (`automatic-prices.ts`). Every change is in the audit, and the last one can be undone.
 */
type Parts = Core & { readonly priceBook: PriceBook }

interface Seen {
  /** `NewerPrices.hash` of the data that the caller has seen. */
  readonly hash: string
}

/**
 * Applies the changes of the proposal that need no person, by `PriceDataApply`. Returns the number of models. Throws
 * `price_data_changed` if a person has decided on it meanwhile.
 */
export async function applyAutomatically(parts: Parts, served: readonly VendorModel[]): Promise<number> {
  const mode = parts.options.current.PriceDataApply
  if (mode === 'none') return 0
  const first = await readNewerPrices(parts, served)
  const own = automaticModels(first?.changes ?? [], mode)
  if (own.length === 0) return 0
  // Vendors that fall back to the lists of others are compared by the names that change there.
  const { vendors } = parts.priceBook.inUse
  const following = own.flatMap(({ vendor, model }) =>
    vendors.flatMap(({ id, fallback_model_providers: others }) => (others?.includes(vendor) ? [{ vendor: id, model }] : [])),
  )
  const newer = following.length === 0 ? first : await readNewerPrices(parts, [...served, ...following])
  const models = automaticModels(newer?.changes ?? [], mode)
  if (newer) await applyPrices(parts, undefined, { hash: newer.hash, models })
  return models.length
}

/**
 * Charges by the newer data of this hash from now on, on every node: by all of it, or only by its prices of `models`; the others stay
 * a proposal. Throws `price_data_changed` if it is no longer the proposal, or the data in use has changed meanwhile.
 */
export async function applyPrices(
  parts: Parts,
  caller: Caller | undefined,
  { hash, models }: Seen & { readonly models?: readonly VendorModel[] | undefined },
): Promise<void> {
  const merged = models && (await merge(parts, hash, models))
  await decide(parts, { caller, action: 'price-data.apply' }, async (within, inUse) => {
    const newer = await lockProposal(parts, within, hash)
    if (merged && merged.onto !== inUse) fail('price_data_changed')
    const { slot, ...whole } = newer
    const row = merged ? { ...whole, hash: merged.hash, vendors: merged.vendors } : whole
    await keepForUndo(within)
    await put(within, 'in_use', row)
    if (!merged) await within.deleteFrom('price_data').where('slot', '=', slot).execute()
    return models ? { hash: row.hash, models: models.map(keyOf) } : row.hash
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
    const { slot } = await lockProposal(parts, within, hash)
    await within.updateTable('price_data').set({ dismissed: 1, vendors: '' }).where('slot', '=', slot).execute()
    return hash
  })
}

/** Charges by the data of the package again, on every node. Throws `price_data_changed` where that is in use already. */
export function restorePrices(parts: Parts, caller: Caller): Promise<void> {
  return decide(parts, { caller, action: 'price-data.restore' }, async (within, inUse) => {
    if (inUse === '') fail('price_data_changed')
    await keepForUndo(within)
    await within.deleteFrom('price_data').where('slot', '=', 'in_use').execute()
    return ''
  })
}

/**
 * Charges by the data before the last change again, on every node, and applies nothing automatically from now on: otherwise the next check
 * would repeat what was undone. Throws `price_data_changed` where there is nothing to undo.
 */
export async function undoPrices(parts: Parts, caller: Caller): Promise<void> {
  if ((await previousData(parts.db)) === undefined) fail('price_data_changed')
  if (parts.options.current.PriceDataApply !== 'none') await parts.options.edit(caller, () => ({ PriceDataApply: 'none' }))
  await decide(parts, { caller, action: 'price-data.undo' }, async (within) => {
    const previous = await within.deleteFrom('price_data').where('slot', '=', 'previous').returningAll().executeTakeFirst()
    if (!previous) return fail('price_data_changed')
    const { slot: _, ...row } = previous
    if (row.hash === '') await within.deleteFrom('price_data').where('slot', '=', 'in_use').execute()
    else await put(within, 'in_use', row)
    return row.hash
  })
}

/** The day of the newest price in the data before the last change; undefined where there is nothing to undo. */
export async function undoableDate({ db, priceBook }: Pick<Parts, 'db' | 'priceBook'>): Promise<string | undefined> {
  const previous = await previousData(db)
  if (!previous) return undefined
  const { shipped } = priceBook
  return (previous.hash === '' ? readPrices(shipped.vendors) : readKept(previous.vendors, shipped).data).date
}

function previousData(db: Parts['db']) {
  return db.selectFrom('price_data').selectAll().where('slot', '=', 'previous').executeTakeFirst()
}

/** Keeps the data in use, '' for that of this version, until the next change. */
async function keepForUndo(within: Within): Promise<void> {
  const found = await within.selectFrom('price_data').selectAll().where('slot', '=', 'in_use').executeTakeFirst()
  const { slot: _, ...row } = found ?? { slot: 'in_use', hash: '', vendors: '', left_out: 0, fetched_at: 0, dismissed: 0 }
  await put(within, 'previous', row)
}

function put(within: Within, slot: Row<'price_data'>['slot'], row: Omit<Row<'price_data'>, 'slot'>) {
  return within
    .insertInto('price_data')
    .values({ slot, ...row })
    .onConflict((conflict) => conflict.column('slot').doUpdateSet(row))
    .execute()
}

/** The proposal, locked against other decisions until the end of the transaction. */
async function lockProposal(parts: Parts, within: Within, hash: string): Promise<Row<'price_data'>> {
  const proposals = within.selectFrom('price_data').selectAll().where('slot', '=', 'newer').where('dismissed', '=', 0)
  return (await locked(parts, proposals.where('hash', '=', hash)).executeTakeFirst()) ?? fail('price_data_changed')
}

/** `act` gets the hash of the data in use, '' for that of the package, and returns the value after it for the audit log. */
async function decide(
  parts: Parts,
  { caller, action }: { caller: Caller | undefined; action: string },
  act: (within: Within, inUse: string) => Promise<string | object>,
): Promise<void> {
  await change(parts, caller, async (within, audit) => {
    const inUse = within.selectFrom('price_data').select('hash').where('slot', '=', 'in_use')
    const before = (await locked(parts, inUse).executeTakeFirst())?.hash ?? ''
    audit({ action, target: 'price-data', before, after: await act(within, before), topic: 'prices' })
  })
  await parts.priceBook.refresh()
}
