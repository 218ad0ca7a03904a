import { type ExpressionBuilder, sql } from 'kysely'
import {
  type Redemption,
  type RedemptionSort,
  redemptionFilters,
  redemptionStatus,
} from '../../../contract/entities/redemption.ts'
import type { SortBy } from '../../../contract/envelope.ts'
import { beginsWithText, endless, inOrder, type PageOf, readPage } from '../../base/db/page.ts'
import type { Row, Tables } from '../../base/db/schema.ts'
import { type CsvColumn, csvFile, csvTime } from '../../base/lib/bytes/csv.ts'
import { fail } from '../../base/lib/failure.ts'
import { sha256 } from '../../base/lib/secrets/secrets.ts'
import { seconds } from '../../base/lib/time/clock.ts'
import type { Caller, Core } from '../../base/options/core.ts'
import { recordExport } from '../../base/options/record-export.ts'

/** Redemption codes as admins read them. Codes are decrypted here, and nowhere else. */
interface RedemptionFilter {
  /** The beginning of the name, an id, or the whole code; '' for all. */
  readonly keyword: string
  /** One of `redemptionFilters`; 0 for all. */
  readonly status?: number
}

type Expressions = ExpressionBuilder<Tables, 'redemptions'>

const statusNames: Readonly<Record<number, string>> = { 1: 'unused', 2: 'disabled', 3: 'used' }
const ends = { expired_time: endless('redemptions.expired_time', sql`redemptions.expired_time = 0`) }
const utc = (at: number) => (at === 0 ? '' : csvTime(at))
const exported: readonly CsvColumn<Redemption>[] = [
  ...(['id', 'key', 'name'] as const),
  { name: 'status', value: ({ status }) => statusNames[status] ?? '' },
  'quota',
  { name: 'created', value: ({ created_time: at }) => utc(at) },
  { name: 'expires', value: ({ expired_time: at }) => utc(at) },
  { name: 'redeemed', value: ({ redeemed_time: at }) => utc(at) },
  { name: 'redeemed_by', value: ({ used_username: name }) => name },
]

/** A page of all codes, newest first, and their number. */
export function listRedemptions(core: Core, page: PageOf) {
  return searchRedemptions(core, { keyword: '', page })
}

/** A page of the matching codes and their number, newest first unless `sort` names a column. */
export async function searchRedemptions(
  core: Core,
  { sort, page, ...filter }: RedemptionFilter & { readonly sort?: SortBy<RedemptionSort> | undefined; readonly page: PageOf },
) {
  const found = withNames(core).where(matching(core, filter))
  const { rows, total } = await readPage(inOrder(found, 'redemptions', sort, ends), page)
  return { items: rows.map((row) => presentRedemption(core, row)), total }
}

/** Throws `not_found`. */
export async function findRedemption(core: Core, id: number): Promise<Redemption> {
  const row = await withNames(core)
    .where('redemptions.id', '=', id)
    .where('redemptions.deleted_at', 'is', null)
    .executeTakeFirst()
  return presentRedemption(core, row ?? fail('not_found'))
}

/** The matching codes as CSV, newest first, with the codes themselves. The export is recorded in the audit log. */
export async function* exportRedemptions(
  core: Core,
  { filter, caller }: { filter: RedemptionFilter; caller: Caller },
): AsyncGenerator<string> {
  await recordExport(core, caller, { action: 'redemption.export', target: 'redemptions', asked: filter })
  yield* csvFile({
    columns: exported,
    read: async (below, limit) => {
      const rows = await withNames(core)
        .where(matching(core, filter))
        .where('redemptions.id', '<', below)
        .orderBy('redemptions.id', 'desc')
        .limit(limit)
        .execute()
      return rows.map((row) => presentRedemption(core, row))
    },
  })
}

/** The condition that a code has not expired at `now` (unix seconds). */
export function unexpired(now: number) {
  return (eb: Expressions) => eb.or([eb('redemptions.expired_time', '=', 0), eb('redemptions.expired_time', '>', now)])
}

/**
 * The hash identifies the row for the encryption, because the id is known only after the insert: so a hundred codes are inserted by
 * one statement.
 */
export function keyPlace(keyHash: string) {
  return { table: 'redemptions', column: 'key_sealed', row: keyHash }
}

function matching(core: Core, { keyword, status = 0 }: RedemptionFilter) {
  const now = seconds(core.now())
  return (eb: Expressions) => {
    const isNamed = [
      beginsWithText('redemptions.name', keyword),
      eb('redemptions.key_hash', '=', sha256(keyword)),
      ...(/^\d{1,15}$/.test(keyword) ? [eb('redemptions.id', '=', Number(keyword))] : []),
    ]
    return eb.and([
      eb('redemptions.deleted_at', 'is', null),
      ...(keyword === '' ? [] : [eb.or(isNamed)]),
      ...(status === 0 ? [] : inState(eb, status, now)),
    ])
  }
}

/** Expired codes are a state of their own, so that all codes listed as unused can still be redeemed. */
function inState(eb: Expressions, status: number, now: number) {
  if (status === redemptionFilters.expired)
    return [eb('redemptions.status', '=', redemptionStatus.unused), eb.not(unexpired(now)(eb))]
  const own = eb('redemptions.status', '=', status)
  return status === redemptionStatus.unused ? [own, unexpired(now)(eb)] : [own]
}

function withNames({ db }: Core) {
  return db
    .selectFrom('redemptions')
    .selectAll('redemptions')
    .select((eb) => [
      eb.selectFrom('users').select('username').whereRef('users.id', '=', 'redemptions.user_id').as('username'),
      eb.selectFrom('users').select('username').whereRef('users.id', '=', 'redemptions.used_user_id').as('used_username'),
    ])
}

type NamedRow = Row<'redemptions'> & { username: string | null; used_username: string | null }

function presentRedemption(core: Core, row: NamedRow): Redemption {
  const { key_hash, key_sealed, deleted_at: _deleted, username, used_username, ...shown } = row
  const names = { username: username ?? '', used_username: used_username ?? '' }
  return { ...shown, ...names, key: core.secrets.open(key_sealed, keyPlace(key_hash)), count: 0, DeletedAt: null }
}
