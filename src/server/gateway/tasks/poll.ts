import { seconds } from '../../base/lib/time/clock.ts'
import type { Core } from '../../base/options/core.ts'
import { findUsedKey } from '../channels/index/find-used-key.ts'
import type { RunningChannel } from '../channels/index/model-index.ts'
import type { RelayParts } from '../relay/relay-parts.ts'
import { UpstreamFailure } from '../relay/upstream/failure.ts'
import { advanceTask, failTask } from './advance.ts'
import { callUpstreamList } from './call-upstream.ts'
import { isBeingPlaced } from './submit.ts'
import { eitherOf, readTask, selectTasks, type TaskRow, type TaskTable, taskTables } from './task-table.ts'
import { updatesById } from './task-update.ts'
import { type JobParts, readJob } from './videos/read-job.ts'

/** The polling request of the kinds that are asked for together, and the time limit of each. */
const ways = {
  midjourneys: { format: 'drawing', path: '/mj/task/list-by-condition', togetherMax: 50, agesSecondsMax: 3600 },
  tasks: { format: 'music', path: '/suno/fetch', togetherMax: 20, agesSecondsMax: 3 * 3600 },
  videos: { agesSecondsMax: 24 * 3600 },
} as const

const dueMax = 500
const channelsAtOnce = 8
const jobsAtOnce = 4
const answer = { timeoutMs: 15_000, sizeBytesMax: 12 * 1024 * 1024 }

/**
 * Polls the upstreams for due tasks, ends abandoned ones, and refunds failed ones. It may run on two nodes at a time: each step and
 * each refund happens once. Returns a short summary.
 */
export async function pollTasks(app: JobParts & Pick<RelayParts, 'channels' | 'ledger'>, signal: AbortSignal): Promise<string> {
  let asked = 0
  for (const table of taskTables) {
    const due = await dueTasks(app, table)
    asked += due.length
    await closeUnnamed(
      app,
      table,
      due.filter(({ upstreamId }) => upstreamId === ''),
    )
    const groups = [...byKey(due.filter(({ upstreamId }) => upstreamId !== ''))]
    for (let at = 0; at < groups.length && !signal.aborted; at += channelsAtOnce)
      await Promise.all(groups.slice(at, at + channelsAtOnce).map((group) => pollChannel(app, table, group, signal)))
  }
  return `${asked} asked`
}

async function dueTasks(app: Pick<RelayParts, 'db' | 'now'>, table: TaskTable): Promise<TaskRow[]> {
  const rows = await selectTasks(app, table)
    .where('ask_at', '>', 0)
    .where('ask_at', '<=', seconds(app.now()))
    .orderBy('ask_at')
    .limit(dueMax)
    .execute()
  return rows.map((row) => readTask(table, row))
}

/** Ends tasks whose process died before it could store the upstream's id; they are refunded if they were charged. */
async function closeUnnamed(app: Core & Pick<RelayParts, 'ledger'>, table: TaskTable, tasks: readonly TaskRow[]): Promise<void> {
  if (tasks.length === 0) return
  const requestIds = tasks.map(({ requestId }) => requestId)
  const holds = await app.db.selectFrom('holds').select('request_id').where('request_id', 'in', requestIds).execute()
  const held = new Set(holds.map((row) => row.request_id))
  const isOpen = ({ requestId }: TaskRow) => held.has(requestId) || isBeingPlaced(requestId)
  await askLater(app, table, tasks.filter(isOpen), { waitSeconds: 60 })
  for (const task of tasks.filter((each) => !isOpen(each)))
    await orAskLater(app, table, task, failTask(app, table, task, '提交被中断 / The submission was interrupted'))
}

/** Never throws: a task that cannot be ended now, as when its charge cannot be refunded yet, must not keep others waiting. */
async function orAskLater(
  app: Pick<RelayParts, 'db' | 'logger' | 'now'>,
  table: TaskTable,
  task: TaskRow,
  ending: Promise<unknown>,
): Promise<void> {
  try {
    await ending
  } catch (error) {
    app.logger.error({ error, task: task.id }, 'a task could not be ended, and is asked for again later')
    await askLater(app, table, [task], { waitSeconds: 60 }).catch(() => {})
  }
}

function byKey(tasks: readonly TaskRow[]): Iterable<TaskRow[]> {
  const groups = new Map<string, TaskRow[]>()
  for (const task of tasks) {
    const key = `${task.channelId}/${task.keyId}`
    const group = groups.get(key) ?? []
    group.push(task)
    groups.set(key, group)
  }
  return groups.values()
}

/** Never throws: a fault of one channel must not stop the polls of the others. */
async function pollChannel(
  app: JobParts & Pick<RelayParts, 'channels' | 'ledger'>,
  table: TaskTable,
  tasks: readonly TaskRow[],
  signal: AbortSignal,
): Promise<void> {
  try {
    const [first] = tasks
    const channel = first && (await findUsedKey(app, first))
    // If the channel's type was changed, it gets no request that it does not support, and its tasks are not failed by mistake.
    if (channel && !isServed(channel, table)) await closeOld(app, table, tasks)
    else if (channel && table === 'videos') await askForJobs(app, { channel, tasks }, signal)
    else if (channel && table !== 'videos') await askFor(app, { table, channel, tasks }, signal)
    else for (const task of tasks) await failTask(app, table, task, '渠道已被删除 / The channel was removed')
  } catch (error) {
    app.logger.error({ error, channel: tasks[0]?.channelId }, 'the tasks of a channel could not be asked for')
    await askLater(app, table, tasks, { waitSeconds: 60 })
  }
}

function isServed({ provider }: RunningChannel, table: TaskTable): boolean {
  return table === 'videos' ? provider.videos !== undefined : provider.tasks === ways[table].format
}

/** Asks for jobs one by one, some at a time. */
async function askForJobs(
  app: JobParts & Pick<RelayParts, 'ledger'>,
  { channel, tasks }: { readonly channel: RunningChannel; readonly tasks: readonly TaskRow[] },
  signal: AbortSignal,
): Promise<void> {
  const answered = new Map<string, unknown>()
  const waiting = tasks.values()
  const work = async () => {
    for (const task of waiting) {
      if (signal.aborted) return
      const update = await readJob(app, channel, task)
      if (update instanceof UpstreamFailure)
        app.logger.warn({ channel: channel.id, reason: update.reason }, 'an upstream did not tell of a job')
      else if (update) {
        if (update.seen.status !== '') answered.set(task.upstreamId, update)
        await orAskLater(app, 'videos', task, advanceTask(app, 'videos', { task, ...update }))
      }
    }
  }
  await Promise.all(Array.from({ length: jobsAtOnce }, work))
  await closeOld(app, 'videos', tasks, answered)
}

async function askFor(
  app: Core & Pick<RelayParts, 'ledger' | 'upstream'>,
  { table, channel, tasks }: { table: 'midjourneys' | 'tasks'; channel: RunningChannel; tasks: readonly TaskRow[] },
  signal: AbortSignal,
): Promise<void> {
  const { path, togetherMax } = ways[table]
  for (let at = 0; at < tasks.length && !signal.aborted; at += togetherMax) {
    const some = tasks.slice(at, at + togetherMax)
    const ids = [...new Set(some.map(({ upstreamId }) => upstreamId))]
    const items = await callUpstreamList(app.upstream, channel, { path, body: { ids }, ...answer })
    if (items instanceof UpstreamFailure) {
      app.logger.warn({ channel: channel.id, reason: items.reason }, 'an upstream did not tell of its tasks')
      return closeOld(app, table, tasks.slice(at))
    }
    const updates = updatesById(table, items, channel)
    for (const task of some) {
      const update = updates.get(task.upstreamId)
      if (!update) continue
      const { seen, details } = update
      await orAskLater(app, table, task, advanceTask(app, table, { task, seen, details }))
    }
    await closeOld(app, table, some, updates)
  }
}

/**
 * Fails tasks that are too old, and schedules the next poll of the others: the older they are, and the more often an upstream has
 * not answered for them, the later.
 */
async function closeOld(
  app: Core & Pick<RelayParts, 'ledger'>,
  table: TaskTable,
  tasks: readonly TaskRow[],
  answered?: ReadonlyMap<string, unknown>,
): Promise<void> {
  const now = seconds(app.now())
  const age = ({ submittedAt }: TaskRow) => now - submittedAt
  const isOld = (task: TaskRow) => age(task) > ways[table].agesSecondsMax
  for (const task of tasks.filter(isOld)) await failTask(app, table, task, '任务超时 / The task did not end in time')

  for (const task of tasks.filter((each) => !isOld(each))) {
    const isKnown = answered?.has(task.upstreamId) === true
    const waitSeconds = isKnown
      ? Math.min(60, Math.max(10, Math.round(age(task) / 20)))
      : Math.min(300, 15 * 2 ** Math.min(task.asked, 5))
    await askLater(app, table, [task], { waitSeconds, asked: isKnown ? 0 : task.asked + 1 })
  }
}

/** Tasks that have ended in the meantime are no longer polled. */
async function askLater(
  app: Pick<RelayParts, 'db' | 'now'>,
  table: TaskTable,
  tasks: readonly TaskRow[],
  { waitSeconds, asked }: { readonly waitSeconds: number; readonly asked?: number },
): Promise<void> {
  if (tasks.length === 0) return
  const ids = tasks.map(({ id }) => id)
  await app.db
    .updateTable(eitherOf(table))
    .set({ ask_at: seconds(app.now()) + waitSeconds, ...(asked === undefined ? {} : { asked }) })
    .where('id', 'in', ids)
    .where('ask_at', '>', 0)
    .execute()
}
