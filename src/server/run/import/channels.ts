import { channelStatus } from '../../../contract/entities/channel-status.ts'
import type { Within } from '../../base/db/open.ts'
import { AppError } from '../../base/lib/failure.ts'
import { parseChannelUrl } from '../../base/lib/net/outgoing-url.ts'
import { isHeaderText, sealKey } from '../../gateway/channels/row/keys.ts'
import { readModelMapping, readNames, readSetting, readStatusCodeMapping } from '../../gateway/channels/row/read-columns.ts'
import { providerById } from '../../gateway/providers/index.ts'
import { readKeysOf, type SourceKey } from './channel-keys.ts'
import { readSettingOf } from './channel-setting.ts'
import { type Import, idToKeep } from './context.ts'
import type { SourceRow } from './source-row.ts'

/** The type of channels whose type is unknown: Custom, which sends nothing without an address. */
const unknownType = 8
const nameLengthMax = 100

/** Imports a channel with its keys, disabled if any part of it is uncertain. Returns its new id. */
export async function takeChannel(run: Import, within: Within, row: SourceRow): Promise<number> {
  const number = row.integer('type')
  const taken = run.family.channelTypes(number)
  const ownUrl = row.text('base_url')
  const { keys, other } = readKeysOf(run.family, row, number)
  const setting = readSettingOf(row)
  const reasons = [
    ...(taken ? [] : [`type ${number} of ${run.family.name} is not known for certain`]),
    ...(taken?.needsOwnUrl && ownUrl === '' ? [`type ${number} of ${run.family.name} has no default address`] : []),
    ...(keys.some(({ status }) => status === channelStatus.enabled) ? [] : ['it has no enabled key']),
    ...keyFaults(taken?.type, keys),
    ...fieldFaults(run, row, setting),
  ]
  const wanted = row.integer('status', channelStatus.enabled)
  const isOff = wanted !== channelStatus.enabled
  const status =
    reasons.length > 0 ? channelStatus.disabled : isOff && wanted !== channelStatus.autoDisabled ? channelStatus.disabled : wanted
  for (const reason of reasons) row.change(`the channel is disabled: ${reason}`)
  if (row.text('models') === '') row.note('the channel has no models')
  if (!taken) row.note('the type number of the source is stored in other_info', String(number))

  const { id } = await within
    .insertInto('channels')
    .values({
      ...(await idToKeep(run, within, 'channels', row.id)),
      type: taken?.type ?? unknownType,
      key_sealed: '',
      openai_organization: row.text('open_ai_organization'),
      test_model: row.text('test_model'),
      status,
      name: row.text('name').slice(0, nameLengthMax),
      weight: Math.max(0, row.integer('weight')),
      priority: row.integer('priority'),
      created_time: row.integer('created_time'),
      test_time: row.integer('test_time'),
      response_time: row.integer('response_time'),
      base_url: ownUrl || (taken?.baseUrl ?? ''),
      other,
      balance: row.decimal('balance'),
      balance_updated_time: row.integer('balance_updated_time'),
      models: readNames(row.text('models')).join(','),
      group: readNames(row.text('group')).join(',') || 'default',
      used_quota: row.integer('used_quota'),
      model_mapping: row.text('model_mapping'),
      status_code_mapping: row.text('status_code_mapping'),
      auto_ban: row.flag('auto_ban', 1),
      other_info: otherInfo(row, reasons, taken ? undefined : number),
      tag: row.text('tag'),
      setting,
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  const created_time = row.integer('created_time')
  if (keys.length > 0) {
    const rows = keys.map(({ key, ...state }) => ({
      ...state,
      channel_id: id,
      key_sealed: sealKey(run.core, id, key),
      created_time,
    }))
    await within.insertInto('channel_keys').values(rows).execute()
  }
  return id
}

function keyFaults(type: number | undefined, keys: readonly SourceKey[]): string[] {
  const provider = type === undefined ? undefined : providerById(type)
  const isGood = !provider || provider.keyHasLines || keys.every(({ key }) => isHeaderText(key))
  return isGood ? [] : ['a key has characters that an HTTP header cannot contain']
}

/** Columns that the relay cannot parse. They are imported unchanged, and an admin has to repair them. */
function fieldFaults({ core }: Import, row: SourceRow, setting: string): string[] {
  const checks: readonly [string, () => unknown][] = [
    ['model_mapping', () => readModelMapping(row.text('model_mapping'))],
    ['status_code_mapping', () => readStatusCodeMapping(row.text('status_code_mapping'))],
    ['setting', () => readSetting(setting)],
    [
      'base_url',
      () =>
        row.text('base_url') === '' || parseChannelUrl(row.text('base_url'), { blockPrivate: core.env.BLOCK_PRIVATE_UPSTREAMS }),
    ],
  ]
  return checks.flatMap(([column, check]) => {
    try {
      check()
      return []
    } catch (error) {
      if (error instanceof AppError) return [`${column}: ${error.message}`]
      throw error
    }
  })
}

function otherInfo(row: SourceRow, reasons: readonly string[], type: number | undefined): string {
  const known = row.object('other_info') ?? {}
  const now = reasons.length > 0 ? { status_reason: reasons.join('; ') } : {}
  const info = { ...known, ...now, ...(type === undefined ? {} : { imported_type: type }) }
  return Object.keys(info).length === 0 ? '' : JSON.stringify(info)
}
