import { seconds } from '../../base/lib/time/clock.ts'
import type { RelayCaller } from '../../people/tokens/authenticate.ts'
import type { RelayParts } from '../relay/relay-parts.ts'
import type { Details } from './advance.ts'
import type { Accepted, Order } from './order.ts'
import { isEnd } from './states.ts'
import { eitherOf, idColumn, type TaskRow, type TaskTable, timeIn } from './task-table.ts'

/** The row of an order, from before it is sent until the upstream has accepted it. */
export interface NewTask {
  readonly table: TaskTable
  readonly id: number
  readonly requestId: string
}

/** An upstream has a minute to answer an order; a row without an answer after this time was left by a dead process. */
const unansweredSeconds = 150
const firstAskSeconds = 10

/** Stores an order before it is sent, so that a charged but never accepted order is found. Resolves when it is durable. */
export async function openTask(
  app: Pick<RelayParts, 'db' | 'now'>,
  { order, caller, requestId, charged }: { order: Order; caller: RelayCaller; requestId: string; charged: TaskRow['charged'] },
): Promise<NewTask> {
  const { table, details } = order
  const nowMs = app.now()
  const at = seconds(nowMs)
  const common = {
    user_id: caller.userId,
    token_id: caller.tokenId,
    channel_id: 0,
    action: order.action,
    status: '',
    progress: '0%',
    submit_time: timeIn(table, nowMs),
    request_id: requestId,
    charged_model: charged.model,
    charged_group: charged.group,
    ask_at: at + unansweredSeconds,
  }
  if (table === 'videos') {
    const video = await app.db
      .insertInto(table)
      .values({ public_id: requestId, model: charged.model, clip: '{}', ...common, ...details })
      .returning('id')
      .executeTakeFirstOrThrow()
    return { table, id: video.id, requestId }
  }
  const music = { created_at: at, updated_at: at, task_id: '', platform: 'suno', ...common, ...details }
  const { id } =
    table === 'midjourneys'
      ? await app.db
          .insertInto(table)
          .values({ code: 0, mj_id: '', ...common, ...details })
          .returning('id')
          .executeTakeFirstOrThrow()
      : await app.db.insertInto(table).values(music).returning('id').executeTakeFirstOrThrow()
  return { table, id, requestId }
}

/** Stores that the upstream has accepted the order. False when the row was ended, and its charge refunded, in the meantime. */
export async function acceptTask(
  app: Pick<RelayParts, 'db' | 'now'>,
  task: NewTask,
  taken: { channelId: number; keyId: number; quota: number; verdict: Accepted },
): Promise<boolean> {
  const { verdict, quota, channelId, keyId } = taken
  const nowMs = app.now()
  const isOver = isEnd(verdict.status)
  const { numUpdatedRows } = await app.db
    .updateTable(eitherOf(task.table))
    .set({
      ...verdict.details,
      // A task that is completed at once has no id at the upstream, so it gets the id of the request.
      [idColumn(task.table)]: verdict.upstreamId || task.requestId,
      channel_id: channelId,
      key_id: keyId,
      quota,
      status: verdict.status,
      progress: isOver ? '100%' : '0%',
      ask_at: isOver ? 0 : seconds(nowMs) + firstAskSeconds,
      ...(isOver ? { finish_time: timeIn(task.table, nowMs) } : {}),
    })
    .where('id', '=', task.id)
    .where('status', '=', '')
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

/**
 * Ends the row of an order that the upstream did not accept and that is not charged: it stays if there is a reason to show, and is
 * deleted otherwise.
 */
export async function rejectTask(
  app: Pick<RelayParts, 'db' | 'now'>,
  task: NewTask,
  refusal: { channelId: number; reason: string; details: Details } | undefined,
): Promise<void> {
  if (!refusal) {
    await app.db.deleteFrom(eitherOf(task.table)).where('id', '=', task.id).where('status', '=', '').execute()
    return
  }
  await app.db
    .updateTable(eitherOf(task.table))
    .set({
      ...refusal.details,
      channel_id: refusal.channelId,
      status: 'FAILURE',
      progress: '100%',
      fail_reason: refusal.reason,
      ask_at: 0,
      finish_time: timeIn(task.table, app.now()),
    })
    .where('id', '=', task.id)
    .where('status', '=', '')
    .execute()
}
