import { logType } from '../../../contract/entities/log.ts'
import type { Within } from '../../base/db/open.ts'
import { seconds } from '../../base/lib/time/clock.ts'
import { change } from '../../base/options/change.ts'
import type { Core } from '../../base/options/core.ts'
import { quotaText } from '../../money/ledger/quota-text.ts'
import { type Refund, refundCharge } from '../../money/ledger/refund.ts'
import { recordLog } from '../../usage/log/log.ts'
import type { RelayParts } from '../relay/relay-parts.ts'
import { isEnd, type NextState, nextState, type SeenState, statesBefore } from './states.ts'
import { eitherOf, type TaskRow, type TaskTable, timeIn } from './task-table.ts'

/** Further columns of the task's table that the update sets. */
export type Details = Readonly<Record<string, string | number>>

/**
 * Applies an update to a task if it is a step forward. Of any number of concurrent updates on any nodes, one changes the state, and a
 * failure refunds the task's charge in the same transaction, and a success what is beyond `kept`. Returns whether the state changed.
 */
export async function advanceTask(
  app: Core & Pick<RelayParts, 'ledger'>,
  table: TaskTable,
  { task, seen, details = {}, kept }: { task: TaskRow; seen: SeenState; details?: Details; kept?: number | undefined },
): Promise<boolean> {
  const next = nextState(task, seen)
  if (!next) return false
  const { isChanged, refund } = await change(app, undefined, async (within, report) => {
    if (!(await writeState(app, within, { table, task, next, details }))) return { isChanged: false, refund: undefined }
    const stays = next.status === 'FAILURE' ? 0 : next.status === 'SUCCESS' ? kept : undefined
    const refund = stays === undefined ? undefined : await giveBack(app, within, { table, task, stays })
    if (refund && refund.tokenId !== 0) report({ topic: 'token', id: refund.tokenId })
    return { isChanged: true, refund }
  })
  if (refund) app.ledger.refresh({ userId: refund.userId, tokenId: refund.tokenId, budgets: true })
  return isChanged
}

/** Ends a task as failed for a reason of this server, not of the upstream. */
export function failTask(
  app: Core & Pick<RelayParts, 'ledger'>,
  table: TaskTable,
  task: TaskRow,
  failReason: string,
): Promise<boolean> {
  return advanceTask(app, table, { task, seen: { status: 'FAILURE', failReason, progress: 100 } })
}

interface Step {
  readonly table: TaskTable
  readonly task: TaskRow
  readonly next: NextState
  readonly details: Details
}

async function writeState(app: Pick<RelayParts, 'now'>, within: Within, { table, task, next, details }: Step): Promise<boolean> {
  const now = app.now()
  const isOver = isEnd(next.status)
  const { numUpdatedRows } = await within
    .updateTable(eitherOf(table))
    .set({
      ...(table === 'tasks' ? { updated_at: seconds(now) } : {}),
      ...(isOver ? { finish_time: timeIn(table, now), ask_at: 0 } : {}),
      ...details,
      status: next.status,
      progress: next.progress,
      fail_reason: next.failReason.slice(0, 2000),
    })
    .where('id', '=', task.id)
    .where('status', 'in', statesBefore(next.status))
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

async function giveBack(
  app: Pick<RelayParts, 'ledger' | 'now' | 'options'>,
  within: Within,
  { table, task, stays }: { readonly table: TaskTable; readonly task: TaskRow; readonly stays: number },
): Promise<Refund | undefined> {
  const at = seconds(app.now())
  const name = task.shownId || String(task.id)
  const { userId, requestId, channelId, charged } = task
  const refund = await refundCharge(app.ledger, within, {
    ...{ requestId, channelId, at, detail: `${table}:${task.id}`, kept: stays },
    ...charged,
  })
  if (!refund) return undefined
  const owner = await within.selectFrom('users').select('username').where('id', '=', userId).executeTakeFirst()
  const units = quotaText(app, refund.amount)
  const content = stays > 0 ? partText(name, units) : failureTexts[table](name, units)
  const row = { type: logType.system, at, userId, username: owner?.username ?? '', content, quota: refund.amount }
  await recordLog(within, row)
  return refund
}

const failureTexts: Readonly<Record<TaskTable, (name: string, units: string) => string>> = {
  midjourneys: (name, units) => `绘图任务 ${name} 失败，退还 ${units} / Drawing ${name} failed, ${units} was given back`,
  tasks: (name, units) => `异步任务 ${name} 失败，退还 ${units} / Task ${name} failed, ${units} was given back`,
  videos: (name, units) => `视频 ${name} 失败，退还 ${units} / Video ${name} failed, ${units} was given back`,
}

function partText(name: string, units: string): string {
  return `视频 ${name} 少于所订，退还 ${units} / Video ${name} is less than was ordered, ${units} was given back`
}
