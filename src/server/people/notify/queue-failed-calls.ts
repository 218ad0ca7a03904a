import type { EventType } from '../../../contract/entities/destination.ts'
import { destinationStatus } from '../../../contract/entities/destination.ts'
import { logType } from '../../../contract/entities/log.ts'
import { seconds } from '../../base/lib/time/clock.ts'
import type { Core } from '../../base/options/core.ts'
import { newMessage } from '../../usage/log/record-event.ts'
import { queueMessage } from './deliveries.ts'

const type: EventType = 'call.failed'
/** The greatest number of calls of one run of which a webhook is notified; the last message contains the number of the others. */
const callsMax = 10
/** Rows of concurrent transactions become visible out of order: rows younger than this are left to the next run. */
const settledSeconds = 2

/**
 * Queues, for each webhook that subscribes to failed calls, those added to the log since the last run. They are read from the log,
 * so that calls are not slowed down. Returns the number of queued messages.
 */
export async function queueFailedCalls(core: Core): Promise<number> {
  const subscribed = await core.db
    .selectFrom('destinations')
    .select(['id', 'failed_call_id'])
    .where('status', '=', destinationStatus.enabled)
    .where('organisation_id', '=', 0)
    .where('events', 'like', `%"${type}"%`)
    .execute()
  let queued = 0
  for (const { id, failed_call_id } of subscribed) queued += await queueFor(core, id, failed_call_id)
  return queued
}

async function queueFor(core: Core, destinationId: number, after: number): Promise<number> {
  const rows = await core.db
    .selectFrom('logs')
    .select([
      'id',
      'request_id',
      'user_id',
      'username',
      'token_id',
      'token_name',
      'model_name',
      'channel_id',
      'group',
      'created_at',
    ])
    .select(['error_status', 'error_code', 'is_stream'])
    .where('type', '=', logType.error)
    .where('id', '>', after)
    .where('created_at', '<=', seconds(core.now()) - settledSeconds)
    .orderBy('id')
    .limit(1000)
    .execute()
  const last = rows.at(-1)
  if (!last) return 0
  const told = rows.slice(0, callsMax)
  const omitted = rows.length - told.length
  const messages = told.map(({ id: _id, model_name: model, error_status: status, error_code: code, is_stream, ...call }, at) =>
    newMessage(core, {
      type,
      data: {
        ...call,
        model,
        status,
        code,
        is_stream: is_stream === 1,
        ...(at === told.length - 1 && omitted > 0 ? { omitted } : {}),
      },
    }),
  )
  return core.db.transaction().execute(async (within) => {
    // Skipped when another node that read the same rows was first.
    const mine = await within
      .updateTable('destinations')
      .set({ failed_call_id: last.id })
      .where('id', '=', destinationId)
      .where('failed_call_id', '=', after)
      .returning('id')
      .executeTakeFirst()
    if (!mine) return 0
    for (const message of messages) await queueMessage(within, message, [destinationId])
    return messages.length
  })
}
