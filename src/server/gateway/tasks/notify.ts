import { fail } from '../../base/lib/failure.ts'
import type { Core } from '../../base/options/core.ts'
import { findUsedKey } from '../channels/index/find-used-key.ts'
import type { JsonObject } from '../protocols/wire-format.ts'
import type { ClientExchange } from '../relay/http/client-exchange.ts'
import { readBody } from '../relay/http/read-body.ts'
import type { RelayParts } from '../relay/relay-parts.ts'
import { advanceTask } from './advance.ts'
import { readLinkKey } from './links.ts'
import { sendJson } from './order-reply.ts'
import { readTask, selectTasks } from './task-table.ts'
import { readTaskUpdate } from './task-update.ts'

const bodyBytesMax = 1024 * 1024

/**
 * `POST /mj/notify`: an upstream reports on a drawing. The URL that it was given contains a key for that one drawing; nothing else
 * authorizes a report, and a report can only move the drawing forward. Throws `task_notice_refused`, and `server_busy` for a report
 * that arrives before the answer to the order: the upstream repeats it, or the poller gets the state.
 */
export async function handleNotice(app: Core & Pick<RelayParts, 'channels' | 'ledger'>, call: ClientExchange): Promise<void> {
  const url = new URL(call.request.url ?? '', 'http://site')
  const id = readLinkKey(app, 'drawing-notice', url.searchParams.get('key') ?? '')
  if (id === undefined) fail('task_notice_refused')
  const { json } = await readBody(call.request, bodyBytesMax)
  await serializeByTask(id, () => take(app, id, json))
  sendJson(call, { code: 1, description: 'success' })
}

async function take(app: Core & Pick<RelayParts, 'channels' | 'ledger'>, id: number, report: JsonObject): Promise<void> {
  const row = await selectTasks(app, 'midjourneys').where('id', '=', id).executeTakeFirst()
  if (!row) fail('task_notice_refused')
  const task = readTask('midjourneys', row)
  if (task.upstreamId === '') fail('server_busy')
  const update = readTaskUpdate('midjourneys', report, await findUsedKey(app, task))
  if (update.id !== task.upstreamId) fail('task_notice_refused')
  await advanceTask(app, 'midjourneys', { task, seen: update.seen, details: update.details })
}

const last = new Map<number, Promise<unknown>>()

/**
 * Serializes the work on one task within this node: concurrent reports on it wait here, and not in transactions that wait for the lock of
 * its row and occupy connections.
 */
async function serializeByTask<Result>(id: number, work: () => Promise<Result>): Promise<Result> {
  const previous = last.get(id) ?? Promise.resolve()
  const current = previous.then(work, work)
  last.set(id, current)
  try {
    return await current
  } finally {
    if (last.get(id) === current) last.delete(id)
  }
}
