import { seconds } from '../../base/lib/time/clock.ts'
import type { Core } from '../../base/options/core.ts'

/** Drawings are in `midjourneys`, music in `tasks`, clips in `videos`: this file has what they have in common. Only this folder writes them. */
export type TaskTable = 'midjourneys' | 'tasks' | 'videos'

export const taskTables: readonly TaskTable[] = ['midjourneys', 'tasks', 'videos']

/** Common columns under one set of names. `upstreamId` is '' until the upstream has accepted the task. */
export interface TaskRow {
  readonly id: number
  readonly userId: number
  readonly channelId: number
  readonly keyId: number
  readonly requestId: string
  readonly upstreamId: string
  /** The id that its owner sees. */
  readonly shownId: string
  readonly status: string
  readonly progress: string
  /** Unix seconds. */
  readonly submittedAt: number
  readonly asked: number
  /** Model and group of its charge's hour bucket. */
  readonly charged: { readonly model: string; readonly group: string }
}

interface Stored {
  readonly id: number
  readonly user_id: number
  readonly channel_id: number
  readonly key_id: number
  readonly request_id: string
  readonly upstream_id: string
  readonly shown_id: string
  readonly status: string
  readonly progress: string
  readonly submit_time: number
  readonly asked: number
  readonly charged_model: string
  readonly charged_group: string
}

/** Types the tables as one: every column that this folder uses through it exists in all of them. */
export function eitherOf(table: TaskTable): 'midjourneys' {
  // The compiler cannot unite the types of the tables; the migrations create these columns in each.
  return table as 'midjourneys'
}

/** The column with the upstream's id of a task. */
export function idColumn(table: TaskTable): 'mj_id' {
  // As above: each is the column of its own table.
  return idColumns[table] as 'mj_id'
}

const idColumns: Readonly<Record<TaskTable, string>> = { midjourneys: 'mj_id', tasks: 'task_id', videos: 'upstream_id' }

/** The column with the id that its owner sees. */
export function shownColumn(table: TaskTable): 'mj_id' {
  return (table === 'videos' ? 'public_id' : idColumns[table]) as 'mj_id'
}

/** The time in the unit of the table: milliseconds for drawings, seconds for all others. */
export function timeIn(table: TaskTable, nowMs: number): number {
  return table === 'midjourneys' ? nowMs : seconds(nowMs)
}

export function selectTasks({ db }: Pick<Core, 'db'>, table: TaskTable) {
  return db
    .selectFrom(eitherOf(table))
    .select(['id', 'user_id', 'channel_id', 'key_id', 'request_id', 'status', 'progress', 'submit_time', 'asked'])
    .select(['charged_model', 'charged_group'])
    .select([`${idColumn(table)} as upstream_id`, `${shownColumn(table)} as shown_id`])
}

export function readTask(table: TaskTable, row: Stored): TaskRow {
  return {
    id: row.id,
    userId: row.user_id,
    channelId: row.channel_id,
    keyId: row.key_id,
    requestId: row.request_id,
    upstreamId: row.upstream_id,
    shownId: row.shown_id,
    status: row.status,
    progress: row.progress,
    submittedAt: table === 'midjourneys' ? seconds(row.submit_time) : row.submit_time,
    asked: row.asked,
    charged: { model: row.charged_model, group: row.charged_group },
  }
}

/** A user's newest task with that id: a task that is continued by a `modal` order has the same id as the task before it. */
export async function ownTask(core: Core, table: TaskTable, { userId, id }: { userId: number; id: string }) {
  if (id === '') return undefined
  const row = await selectTasks(core, table)
    .where(idColumn(table), '=', id)
    .where('user_id', '=', userId)
    .orderBy('id', 'desc')
    .executeTakeFirst()
  return row && readTask(table, row)
}
