import { type ExpressionBuilder, type SqlBool, sql } from 'kysely'
import { type Redemption, redemptionFilters, redemptionStatus } from '../../contract/entities/redemption.ts'
import { type PageOf, startingWith } from '../db/page.ts'
import type { Row, Tables } from '../db/schema.ts'
import { seconds } from '../lib/clock.ts'
import { csvLine, csvTime } from '../lib/csv.ts'
import { fail } from '../lib/failure.ts'
import { sha256 } from '../lib/secrets.ts'
import { recordAudit } from '../options/audit.ts'
import type { Caller, Core } from '../options/core.ts'

/** Redemption codes as admins read them. Codes are opened here, and nowhere else. */
export interface RedemptionFilter {
  /** The beginning of the name, an id, or the whole code; '' for all. */
  readonly keyword: string
  /** One of `redemptionFilters`; 0 for all. */
  readonly status?: number
}

type Expressions = ExpressionBuilder<Tables, 'redemptions'>

const exportedAtOnce = 500
const statusNames: Readonly<Record<number, string>> = { 1: 'unused', 2: 'disabled', 3: 'used' }
const sorted = ['id', 'name', 'quota', 'created_time', 'expired_time', 'redeemed_time'] as const

/** A page of all codes, newest first, and their number. */
export function listRedemptions(core: Core, page: PageOf) {
  return searchRedemptions(core, { keyword: '', page })
}

/** A page of the matching codes and their number: newest first, or by the column that `sort` names, downwards with a `-` before it. */
export async function searchRedemptions(
  core: Core,
  { sort = '', page, ...filter }: RedemptionFilter & { readonly sort?: string; readonly page: PageOf },
) {
  const column = sorted.find((name) => name === sort.replace(/^-/, ''))
  const rows = await withNames(core)
    .where(matching(core, filter))
    .$if(column !== undefined, (query) => query.orderBy(`redemptions.${column ?? 'id'}`, sort.startsWith('-') ? 'desc' : 'asc'))
    .orderBy('redemptions.id', 'desc')
    .offset(page.offset)
    .limit(page.limit)
    .execute()
  const { total } = await core.db
    .selectFrom('redemptions')
    .where(matching(core, filter))
    .select((eb) => eb.fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow()
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

/**
 * The matching codes as CSV lines, newest first, with the codes themselves; some hundred are read at a time. The audit tells who took
 * them before the first leaves.
 */
export async function* exportRedemptions(
  core: Core,
  { filter, caller }: { filter: RedemptionFilter; caller: Caller },
): AsyncGenerator<string> {
  const entry = { caller, action: 'redemption.export', target: 'redemptions', after: JSON.stringify(filter) }
  await core.db.transaction().execute((within) => recordAudit(core, within, entry))
  yield csvLine(['id', 'key', 'name', 'status', 'quota', 'created', 'expires', 'redeemed', 'redeemed_by'])

  let lastId = Number.MAX_SAFE_INTEGER
  for (;;) {
    const rows = await withNames(core)
      .where(matching(core, filter))
      .where('redemptions.id', '<', lastId)
      .orderBy('redemptions.id', 'desc')
      .limit(exportedAtOnce)
      .execute()
    for (const row of rows) {
      lastId = row.id
      yield exportLine(presentRedemption(core, row))
    }
    if (rows.length < exportedAtOnce) return
  }
}

/** The condition that a code has not expired at `now` (unix seconds). */
export function unexpired(now: number) {
  return (eb: Expressions) => eb.or([eb('redemptions.expired_time', '=', 0), eb('redemptions.expired_time', '>', now)])
}

/** Sealed to the hash instead of the id, which a row has only after its insert: a hundred codes are one statement. */
export function keyPlace(keyHash: string) {
  return { table: 'redemptions', column: 'key_sealed', row: keyHash }
}

function exportLine(code: Redemption): string {
  const times = [code.created_time, code.expired_time, code.redeemed_time].map((at) => (at === 0 ? '' : csvTime(at)))
  return csvLine([code.id, code.key, code.name, statusNames[code.status] ?? '', code.quota, ...times, code.used_username])
}

function matching(core: Core, { keyword, status = 0 }: RedemptionFilter) {
  const now = seconds(core.now())
  return (eb: Expressions) => {
    const isNamed = [
      sql<SqlBool>`lower(redemptions.name) like lower(${startingWith(keyword)}) escape '\\'`,
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

/** Codes that have run out of time are a state of their own, so that those called unused can be given away. */
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
  return { ...shown, ...names, key: core.secrets.open(key_sealed, keyPlace(key_hash)) }
}
