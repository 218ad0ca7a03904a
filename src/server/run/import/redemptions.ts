import { redemptionStatus } from '../../../contract/entities/redemption.ts'
import type { Within } from '../../base/db/open.ts'
import { sha256 } from '../../base/lib/secrets/secrets.ts'
import { keyPlace } from '../../money/payments/list-redemptions.ts'
import { type Import, idToKeep, mappedIds } from './context.ts'
import { Refused, type SourceRow } from './source-row.ts'

const statuses: ReadonlySet<number> = new Set(Object.values(redemptionStatus))

/** Imports a redemption code with its status. Returns its new id. */
export async function takeRedemption(run: Import, within: Within, row: SourceRow): Promise<number> {
  const key = row.text('key')
  if (key === '') throw new Refused('the code is empty')
  const key_hash = sha256(key)
  const other = await within.selectFrom('redemptions').select('id').where('key_hash', '=', key_hash).executeTakeFirst()
  if (other) throw new Refused('this code already exists')
  const status = row.integer('status', redemptionStatus.unused)
  const quota = row.integer('quota')
  const redeemable = statuses.has(status) && (quota > 0 || status === redemptionStatus.used)
  if (!statuses.has(status)) row.change('unknown status: the code is disabled', String(status))
  else if (!redeemable) row.change('its quota is not positive: the code is disabled', String(quota))

  const [maker, user] = [row.integer('user_id'), row.integer('used_user_id')]
  const users = await mappedIds(within, run.id, 'users', [maker, user])
  const { id } = await within
    .insertInto('redemptions')
    .values({
      ...(await idToKeep(run, within, 'redemptions', row.id)),
      user_id: users.get(maker) ?? 0,
      key_hash,
      key_sealed: run.core.secrets.seal(key, keyPlace(key_hash)),
      status: redeemable ? status : redemptionStatus.disabled,
      name: row.text('name'),
      quota,
      created_time: row.integer('created_time'),
      redeemed_time: row.integer('redeemed_time'),
      used_user_id: users.get(user) ?? 0,
      expired_time: row.integer('expired_time'),
      deleted_at: row.time('deleted_at'),
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}
