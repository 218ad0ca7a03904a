import { randomBytes } from 'node:crypto'
import { type Redemption, type RedemptionInput, redemptionStatus } from '../../../contract/entities/redemption.ts'
import { locked } from '../../base/db/locked.ts'
import type { Row } from '../../base/db/schema.ts'
import { fail } from '../../base/lib/failure.ts'
import { sha256 } from '../../base/lib/secrets/secrets.ts'
import { seconds } from '../../base/lib/time/clock.ts'
import { change } from '../../base/options/change.ts'
import type { Caller, Core } from '../../base/options/core.ts'
import { findRedemption, keyPlace, unexpired } from './list-redemptions.ts'

/**
 * Redemption codes as admins make and change them. A code is found by its SHA-256 and kept sealed, because admins list and download
 * codes later. A used code never changes again, except that it may be deleted from the list. Not here: lists (list-redemptions.ts)
 * and redeeming (redeem.ts).
 */
type RedemptionRow = Row<'redemptions'>

/**
 * Creates `count` codes of `quota` units each, all of them or none, and returns them in the order of their ids. Throws
 * `field_invalid` for codes that would have expired already.
 */
export async function createRedemptions(
  core: Core,
  { input: { name, quota, expired_time = 0 }, count, caller }: { input: RedemptionInput; count: number; caller: Caller },
): Promise<string[]> {
  requireLater(core, expired_time)
  const keys = Array.from({ length: count }, newRedemptionKey)
  const created_time = seconds(core.now())
  const rows = keys.map((key) => {
    const key_hash = sha256(key)
    const key_sealed = core.secrets.seal(key, keyPlace(key_hash))
    return { user_id: caller.id, key_hash, key_sealed, name, quota, expired_time, created_time }
  })

  await change(core, caller, async (within, audit) => {
    const made = await within.insertInto('redemptions').values(rows).returning('id').execute()
    const ids = made.map(({ id }) => id).sort((a, b) => a - b)
    audit({ action: 'redemption.create', target: `redemption:${ids[0]}`, after: { count, name, quota, expired_time, ids } })
  })
  return keys
}

/** Changes name, quota and expiry of an unused code. Throws `not_found`, `redemption_not_editable` or `field_invalid`. */
export async function editRedemption(
  core: Core,
  { id, input, caller }: { id: number; input: RedemptionInput; caller: Caller },
): Promise<Redemption> {
  await changeRedemption(core, { id, caller, action: 'redemption.edit' }, (before) => {
    if (before.status !== redemptionStatus.unused) fail('redemption_not_editable')
    const { expired_time = before.expired_time, ...named } = input
    if (expired_time !== before.expired_time) requireLater(core, expired_time)
    return { ...named, expired_time }
  })
  return findRedemption(core, id)
}

/** Enables or disables a code. Throws `not_found`, or `redemption_used` for a used one. */
export async function setRedemptionStatus(
  core: Core,
  { id, status, caller }: { id: number; status: 1 | 2; caller: Caller },
): Promise<Redemption> {
  await changeRedemption(core, { id, caller, action: 'redemption.status' }, (before) => {
    if (before.status === redemptionStatus.used) fail('redemption_used')
    return { status }
  })
  return findRedemption(core, id)
}

/**
 * Deletes a code, whatever its status; it can no longer be redeemed. Throws `not_found`, also for a code that is deleted already.
 */
export async function deleteRedemption(core: Core, { id, caller }: { id: number; caller: Caller }): Promise<void> {
  await changeRedemption(core, { id, caller, action: 'redemption.delete' }, () => ({ deleted_at: seconds(core.now()) }))
}

/**
 * Enables, disables or deletes several codes in one transaction, and returns the number of changed codes. Used ones can only be
 * deleted; missing and unchanged ones are skipped.
 */
export function changeRedemptions(
  core: Core,
  { ids, action, caller }: { ids: readonly number[]; action: 'enable' | 'disable' | 'delete'; caller: Caller },
): Promise<number> {
  const { unused, disabled } = redemptionStatus
  const wanted = action === 'enable' ? { from: disabled, to: unused } : { from: unused, to: disabled }

  return change(core, caller, async (within, audit) => {
    const rows = await within
      .updateTable('redemptions')
      .set(action === 'delete' ? { deleted_at: seconds(core.now()) } : { status: wanted.to })
      .where('id', 'in', ids)
      .where('deleted_at', 'is', null)
      .$if(action !== 'delete', (query) => query.where('status', '=', wanted.from))
      .returning('id')
      .execute()
    const changed = rows.map(({ id }) => id).sort((a, b) => a - b)
    if (changed.length > 0) audit({ action: `redemption.${action}`, target: 'redemptions', after: { ids: changed } })
    return changed.length
  })
}

/** Removes all codes that cannot be redeemed: used, disabled or expired; returns how many. */
export function deleteInvalidRedemptions(core: Core, { caller }: { caller: Caller }): Promise<number> {
  const now = seconds(core.now())
  return change(core, caller, async (within, audit) => {
    const { numUpdatedRows } = await within
      .updateTable('redemptions')
      .set({ deleted_at: now })
      .where('deleted_at', 'is', null)
      .where((eb) => eb.or([eb('status', '<>', redemptionStatus.unused), eb.not(unexpired(now)(eb))]))
      .executeTakeFirstOrThrow()
    const deleted = Number(numUpdatedRows)
    audit({ action: 'redemption.delete-invalid', target: 'redemptions', after: { deleted } })
    return deleted
  })
}

type Values = Partial<Pick<RedemptionRow, 'name' | 'quota' | 'expired_time' | 'status' | 'deleted_at'>>

/** Writes the values that `valuesOf` computes from a code. Throws `not_found`. */
function changeRedemption(
  core: Core,
  { id, caller, action }: { id: number; caller: Caller; action: string },
  valuesOf: (before: RedemptionRow) => Values,
): Promise<void> {
  return change(core, caller, async (within, audit) => {
    const found = within.selectFrom('redemptions').selectAll().where('id', '=', id).where('deleted_at', 'is', null)
    const before = (await locked(core, found).executeTakeFirst()) ?? fail('not_found')
    const values = valuesOf(before)
    const after = await within
      .updateTable('redemptions')
      .set(values)
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirstOrThrow()
    audit({ action, target: `redemption:${id}`, before: audited(before), after: values.deleted_at ? '' : audited(after) })
  })
}

/** 0 means that the code never expires. */
function requireLater(core: Core, expiredTime: number): void {
  const reason = { zh: '须晚于当前时间', en: 'must be later than now' }
  if (expiredTime !== 0 && expiredTime <= seconds(core.now())) fail('field_invalid', { field: 'expired_time', reason })
}

/** 128 bits in hex, the form of codes in this family of consoles. */
function newRedemptionKey(): string {
  return randomBytes(16).toString('hex')
}

function audited({ name, quota, expired_time, status }: RedemptionRow): object {
  return { name, quota, expired_time, status }
}
