import { randomBytes } from 'node:crypto'
import { type ExpressionBuilder, type SqlBool, sql } from 'kysely'
import { type Redemption, type RedemptionInput, redemptionStatus } from '../../contract/entities/redemption.ts'
import type { Queries, Within } from '../db/open.ts'
import { type PageOf, startingWith } from '../db/page.ts'
import type { Row, Tables } from '../db/schema.ts'
import { seconds } from '../lib/clock.ts'
import { fail } from '../lib/failure.ts'
import { sha256 } from '../lib/secrets.ts'
import { type AuditEntry, recordAudit } from '../options/audit.ts'
import type { Caller, Core } from '../options/core.ts'

/**
 * Redemption codes as admins make and change them. A code is found by its SHA-256 and kept sealed, because admins list and download
 * codes later. A used code never changes again, but that it may be deleted from the list. Not here: redeeming (redeem.ts).
 */
type RedemptionRow = Row<'redemptions'>

/** A page of the codes, newest first, and the number of all. */
export function listRedemptions(core: Core, page: PageOf) {
  return searchRedemptions(core, { keyword: '', page })
}

/** The codes whose name begins with the keyword, whose id it is or that it is itself; all of them for ''. */
export async function searchRedemptions(core: Core, { keyword, page }: { keyword: string; page: PageOf }) {
  const matching = present(core.db).$if(keyword !== '', (query) =>
    query.where((eb) =>
      eb.or([
        sql<SqlBool>`lower(name) like lower(${startingWith(keyword)}) escape '\\'`,
        eb('key_hash', '=', sha256(keyword)),
        ...(/^\d{1,15}$/.test(keyword) ? [eb('id', '=', Number(keyword))] : []),
      ]),
    ),
  )
  const rows = await matching.selectAll().orderBy('id', 'desc').offset(page.offset).limit(page.limit).execute()
  const { total } = await matching.select((eb) => eb.fn.countAll<number>().as('total')).executeTakeFirstOrThrow()
  return { items: rows.map((row) => presentRedemption(core, row)), total }
}

/** Throws `not_found`. */
export async function findRedemption(core: Core, id: number): Promise<Redemption> {
  return presentRedemption(core, await readRow(core.db, id))
}

/** Makes `count` codes worth `quota` units each, all of them or none, and answers them in the order of their ids. */
export async function createRedemptions(
  core: Core,
  { input: { name, quota, expired_time = 0 }, count, caller }: { input: RedemptionInput; count: number; caller: Caller },
): Promise<string[]> {
  const keys = Array.from({ length: count }, newRedemptionKey)
  const created_time = seconds(core.now())
  const rows = keys.map((key) => {
    const key_hash = sha256(key)
    const key_sealed = core.secrets.seal(key, keyPlace(key_hash))
    return { user_id: caller.id, key_hash, key_sealed, name, quota, expired_time, created_time }
  })

  await core.db.transaction().execute(async (within) => {
    const made = await within.insertInto('redemptions').values(rows).returning('id').execute()
    const ids = made.map(({ id }) => id).sort((a, b) => a - b)
    const after = JSON.stringify({ count, name, quota, expired_time, ids })
    await recordAudit(core, within, { caller, action: 'redemption.create', target: `redemption:${ids[0]}`, after })
  })
  return keys
}

/** Changes name, quota and expiry of an unused code. Throws `not_found` or `redemption_not_editable`. */
export function editRedemption(
  core: Core,
  { id, input, caller }: { id: number; input: RedemptionInput; caller: Caller },
): Promise<Redemption> {
  return changeRedemption(core, { id, caller, action: 'redemption.edit' }, (before) => {
    if (before.status !== redemptionStatus.unused) fail('redemption_not_editable')
    const { expired_time = before.expired_time, ...named } = input
    return { ...named, expired_time }
  })
}

/** Enables or disables a code. Throws `not_found`, or `redemption_used` for a used one. */
export function setRedemptionStatus(
  core: Core,
  { id, status, caller }: { id: number; status: 1 | 2; caller: Caller },
): Promise<Redemption> {
  return changeRedemption(core, { id, caller, action: 'redemption.status' }, (before) => {
    if (before.status === redemptionStatus.used) fail('redemption_used')
    return { status }
  })
}

/** Takes a code off the list, whatever its status; nobody can redeem it any more. Throws `not_found`, also when it is repeated. */
export async function deleteRedemption(core: Core, { id, caller }: { id: number; caller: Caller }): Promise<void> {
  await changeRedemption(core, { id, caller, action: 'redemption.delete' }, () => ({ deleted_at: seconds(core.now()) }))
}

/** Takes all codes off the list that nobody can redeem: used, disabled or expired; answers how many. */
export function deleteInvalidRedemptions(core: Core, { caller }: { caller: Caller }): Promise<number> {
  const now = seconds(core.now())
  return core.db.transaction().execute(async (within) => {
    const { numUpdatedRows } = await within
      .updateTable('redemptions')
      .set({ deleted_at: now })
      .where('deleted_at', 'is', null)
      .where((eb) => eb.or([eb('status', '<>', redemptionStatus.unused), eb.not(unexpired(now)(eb))]))
      .executeTakeFirstOrThrow()
    const after = JSON.stringify({ deleted: Number(numUpdatedRows) })
    await recordAudit(core, within, { caller, action: 'redemption.delete-invalid', target: 'redemptions', after })
    return Number(numUpdatedRows)
  })
}

/** The condition that a code has not expired at `now` (unix seconds). */
export function unexpired(now: number) {
  return (eb: ExpressionBuilder<Tables, 'redemptions'>) => eb.or([eb('expired_time', '=', 0), eb('expired_time', '>', now)])
}

type Change = Partial<Pick<RedemptionRow, 'name' | 'quota' | 'expired_time' | 'status' | 'deleted_at'>>

async function changeRedemption(
  core: Core,
  { id, caller, action }: { id: number; caller: Caller; action: AuditEntry['action'] },
  change: (before: RedemptionRow) => Change,
): Promise<Redemption> {
  const row = await core.db.transaction().execute(async (within) => {
    const before = await readRow(within, id, core.database.dialect === 'postgres')
    const values = change(before)
    const after = await within
      .updateTable('redemptions')
      .set(values)
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirstOrThrow()
    const told = { before: auditText(before), after: values.deleted_at ? '' : auditText(after) }
    await recordAudit(core, within, { caller, action, target: `redemption:${id}`, ...told })
    return after
  })
  return presentRedemption(core, row)
}

async function readRow(db: Queries | Within, id: number, lock = false): Promise<RedemptionRow> {
  const row = await present(db)
    .selectAll()
    .where('id', '=', id)
    .$if(lock, (query) => query.forUpdate())
    .executeTakeFirst()
  return row ?? fail('not_found')
}

function present(db: Queries) {
  return db.selectFrom('redemptions').where('deleted_at', 'is', null)
}

function presentRedemption(core: Core, row: RedemptionRow): Redemption {
  const { key_hash, key_sealed, deleted_at: _deleted, ...shown } = row
  return { ...shown, key: core.secrets.open(key_sealed, keyPlace(key_hash)) }
}

/** Sealed to the hash instead of the id, which a row has only after its insert: a hundred codes are one statement. */
function keyPlace(keyHash: string) {
  return { table: 'redemptions', column: 'key_sealed', row: keyHash }
}

/** 128 bits in hex, as the codes of this family of consoles are. */
function newRedemptionKey(): string {
  return randomBytes(16).toString('hex')
}

function auditText({ name, quota, expired_time, status }: RedemptionRow): string {
  return JSON.stringify({ name, quota, expired_time, status })
}
