import { tokenStatus } from '../../../contract/entities/token.ts'
import type { Within } from '../../base/db/open.ts'
import { readAddressList } from '../../base/lib/net/addresses.ts'
import { sha256 } from '../../base/lib/secrets/secrets.ts'
import { keyPlace } from '../../people/tokens/tokens.ts'
import { type Import, idToKeep, mappedIds } from './context.ts'
import { Refused, type SourceRow } from './source-row.ts'

const statuses: ReadonlySet<number> = new Set(Object.values(tokenStatus))

/** Imports a token with its key. Returns its new id. */
export async function takeToken(run: Import, within: Within, row: SourceRow): Promise<number> {
  const owner = row.integer('user_id')
  const userId = (await mappedIds(within, run.id, 'users', [owner])).get(owner)
  if (userId === undefined) throw new Refused('its user was not imported')
  const key = row.text('key')
  if (!/^\w{1,128}$/.test(key)) throw new Refused('the key is empty or has characters that a request cannot send')
  const key_hash = sha256(key)
  const other = await within.selectFrom('tokens').select('id').where('key_hash', '=', key_hash).executeTakeFirst()
  if (other) throw new Refused('a token with this key already exists')

  const { id } = await within
    .insertInto('tokens')
    .values({
      ...(await idToKeep(run, within, 'tokens', row.id)),
      ...columnsOf(row),
      user_id: userId,
      key_hash,
      key_sealed: '',
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  await within
    .updateTable('tokens')
    .set({ key_sealed: run.core.secrets.seal(key, keyPlace(id)) })
    .where('id', '=', id)
    .execute()
  return id
}

function columnsOf(row: SourceRow) {
  const status = row.integer('status', tokenStatus.enabled)
  if (!statuses.has(status)) row.change('unknown status: the token is disabled', String(status))
  const expired_time = row.integer('expired_time', -1)
  if (expired_time === 0) row.note('the expiry is 0: the token stays expired until its owner sets another time')
  const remain_quota = row.integer('remain_quota')
  if (remain_quota < 0) row.note('the remaining quota is below zero', String(remain_quota))
  const allow_ips = row
    .text(row.has('subnet') ? 'subnet' : 'allow_ips')
    .split(/[\s,]+/)
    .filter(Boolean)
    .join('\n')
  const addresses = readAddressList(allow_ips)
  if ('invalid' in addresses)
    row.note('an entry of the address list is not an address: the token cannot be used', addresses.invalid)
  const models = row.text(row.has('models') ? 'models' : 'model_limits')
  if (row.flag('cross_group_retry')) row.note('retries in other groups are not supported')

  return {
    status: statuses.has(status) ? status : tokenStatus.disabled,
    name: row.text('name'),
    created_time: row.integer('created_time'),
    accessed_time: row.integer('accessed_time'),
    expired_time,
    remain_quota,
    unlimited_quota: row.flag('unlimited_quota'),
    used_quota: row.integer('used_quota'),
    model_limits_enabled: row.has('models') ? Number(models !== '') : row.flag('model_limits_enabled'),
    model_limits: models,
    allow_ips,
    group: row.text('group'),
    deleted_at: row.time('deleted_at'),
  }
}
