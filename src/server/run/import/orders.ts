import { topUpStatus } from '../../../contract/entities/top-up.ts'
import { quotaPerUsd } from '../../../contract/quota.ts'
import type { Within } from '../../base/db/open.ts'
import { type Entity, type Import, idToKeep, mappedIds } from './context.ts'
import { Refused, type SourceRow } from './source-row.ts'

const currency = 'CNY'
const ended: ReadonlySet<string> = new Set(['SUCCESS', 'FAILURE'])

/**
 * Imports an order as a record only: its credit is part of the opening balance. Its provider is the name of the source program, so that no
 * payment notification can credit it a second time.
 */
export async function takeTopUp(run: Import, within: Within, row: SourceRow): Promise<number> {
  const user_id = await ownerOf(run, within, row)
  const trade_no = row.text('trade_no')
  const other = await within.selectFrom('top_ups').select('id').where('trade_no', '=', trade_no).executeTakeFirst()
  if (other || trade_no === '') throw new Refused('an order with this number already exists, or it has no number')
  const amount = Math.trunc(row.decimal('amount'))
  const isPaid = row.text('status') === 'success'
  if (row.text('status') === 'pending') row.change('the order is unpaid: an admin has to credit a later payment')
  const created_time = row.integer('create_time')
  const { id } = await within
    .insertInto('top_ups')
    .values({
      ...(await idToKeep(run, within, 'top_ups', row.id)),
      user_id,
      provider: run.family.name,
      method: row.text('payment_method'),
      trade_no,
      quota: amount * run.unitsPerUsd,
      amount,
      money_minor: Math.round(row.decimal('money') * 100),
      currency,
      status: isPaid ? topUpStatus.success : topUpStatus.expired,
      created_time,
      completed_time: isPaid ? row.integer('complete_time') || created_time : 0,
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

/** Imports a drawing. Unfinished drawings are not polled: their upstream does not know this site. */
export async function takeDrawing(run: Import, within: Within, row: SourceRow): Promise<number> {
  const values = {
    ...(await placeOf(run, within, row, 'midjourneys')),
    code: row.integer('code'),
    mj_id: row.text('mj_id'),
    prompt: row.text('prompt'),
    prompt_en: row.text('prompt_en'),
    description: row.text('description'),
    state: row.text('state'),
    image_url: row.text('image_url'),
    buttons: row.text('buttons'),
  }
  return (await within.insertInto('midjourneys').values(values).returning('id').executeTakeFirstOrThrow()).id
}

/** Imports a music task, with the same rules as a drawing. */
export async function takeTask(run: Import, within: Within, row: SourceRow): Promise<number> {
  const values = {
    ...(await placeOf(run, within, row, 'tasks')),
    created_at: row.integer('created_at'),
    updated_at: row.integer('updated_at'),
    task_id: row.text('task_id'),
    platform: row.text('platform'),
    data: row.text('data'),
  }
  return (await within.insertInto('tasks').values(values).returning('id').executeTakeFirstOrThrow()).id
}

/** The columns that drawings and music tasks share. */
async function placeOf(run: Import, within: Within, row: SourceRow, entity: Entity) {
  const channel = row.integer('channel_id')
  const status = row.text('status')
  if (!ended.has(status)) row.note('it is unfinished: its result is not fetched')
  return {
    ...(await idToKeep(run, within, entity, row.id)),
    user_id: await ownerOf(run, within, row),
    channel_id: (await mappedIds(within, run.id, 'channels', [channel])).get(channel) ?? 0,
    action: row.text('action'),
    submit_time: row.integer('submit_time'),
    start_time: row.integer('start_time'),
    finish_time: row.integer('finish_time'),
    status,
    progress: row.text('progress'),
    fail_reason: row.text('fail_reason'),
    quota: row.integer('quota'),
    properties: row.text('properties'),
  }
}

async function ownerOf(run: Import, within: Within, row: SourceRow): Promise<number> {
  const owner = row.integer('user_id')
  const id = (await mappedIds(within, run.id, 'users', [owner])).get(owner)
  if (id === undefined) throw new Refused('its user was not imported')
  return id
}

/** Quota units per US dollar in the source. */
export async function unitsPerUsdOf({ source }: Pick<Import, 'source'>): Promise<number> {
  const rows = source.tables.has('options') ? await source.all('options') : []
  const units = Number(rows.find(({ key }) => key === 'QuotaPerUnit')?.value ?? quotaPerUsd)
  return Number.isSafeInteger(units) && units > 0 ? units : quotaPerUsd
}
