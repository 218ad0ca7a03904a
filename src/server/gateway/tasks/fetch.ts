import { fail } from '../../base/lib/failure.ts'
import { findUsedKey } from '../channels/index/find-used-key.ts'
import { arrayAt, textAt } from '../protocols/wire-format.ts'
import { authenticateCall, type CallerParts } from '../relay/admission/authenticate.ts'
import type { ClientExchange } from '../relay/http/client-exchange.ts'
import type { RelayParts } from '../relay/relay-parts.ts'
import { UpstreamFailure } from '../relay/upstream/failure.ts'
import { callUpstream } from './call-upstream.ts'
import { sendJson } from './order-reply.ts'
import { presentDrawing, presentMusic } from './present.ts'
import { ownTask } from './task-table.ts'
import { toldText } from './text.ts'

/**
 * Callers' queries about their own tasks; other tasks do not exist for them. The queries are free of charge, and only the seed is
 * requested from the upstream.
 */

const idsMax = 200
const bodyBytesMax = 64 * 1024

/** `GET /mj/task/{id}/fetch`. Throws `task_unknown`. */
export async function fetchDrawing(app: CallerParts, call: ClientExchange, id: string): Promise<void> {
  const { userId } = await authenticateCall(app, { from: 'token' }, call)
  const [row] = await ownDrawings(app, userId, [id])
  sendJson(call, presentDrawing(app, row ?? fail('task_unknown', { id: id.slice(0, 100) })))
}

/** `POST /mj/task/list-by-condition` with `ids`. */
export async function listDrawings(app: CallerParts, call: ClientExchange): Promise<void> {
  const { userId } = await authenticateCall(app, { from: 'token' }, call)
  const rows = await ownDrawings(app, userId, await readIds(call))
  sendJson(
    call,
    rows.map((row) => presentDrawing(app, row)),
  )
}

/** `GET /mj/task/{id}/image-seed`: only the upstream knows it. Throws `task_unknown` or `channel_disabled`. */
export async function fetchSeed(
  app: CallerParts & Pick<RelayParts, 'channels' | 'upstream'>,
  call: ClientExchange,
  id: string,
): Promise<void> {
  const { userId } = await authenticateCall(app, { from: 'token' }, call)
  const task = await ownTask(app, 'midjourneys', { userId, id })
  if (!task) fail('task_unknown', { id: id.slice(0, 100) })
  const channel = await findUsedKey(app, task)
  if (channel?.provider.tasks !== 'drawing') fail('channel_disabled')
  const path = `/mj/task/${encodeURIComponent(id)}/image-seed`
  const answer = await callUpstream(app.upstream, channel, { method: 'GET', path, timeoutMs: 60_000, sizeBytesMax: 64 * 1024 })
  if (answer instanceof UpstreamFailure) return call.sendError(answer.forCaller())
  const { code, result } = answer
  sendJson(call, {
    code: typeof code === 'number' ? code : 5,
    description: toldText(textAt(answer, 'description'), channel),
    result: typeof result === 'string' || typeof result === 'number' ? String(result).slice(0, 200) : '',
  })
}

/** `GET /suno/fetch/{id}`. Throws `task_unknown`. */
export async function fetchSong(app: CallerParts, call: ClientExchange, id: string): Promise<void> {
  const { userId } = await authenticateCall(app, { from: 'token' }, call)
  const [row] = await ownSongs(app, userId, [id])
  sendJson(call, { code: 'success', message: '', data: presentMusic(row ?? fail('task_unknown', { id: id.slice(0, 100) })) })
}

/** `POST /suno/fetch` with `ids`. */
export async function listSongs(app: CallerParts, call: ClientExchange): Promise<void> {
  const { userId } = await authenticateCall(app, { from: 'token' }, call)
  const rows = await ownSongs(app, userId, await readIds(call))
  sendJson(call, { code: 'success', message: '', data: rows.map(presentMusic) })
}

async function readIds(call: ClientExchange): Promise<string[]> {
  const { json } = await call.readBody(bodyBytesMax)
  const ids = arrayAt(json, 'ids').filter((id): id is string => typeof id === 'string' && id !== '' && id.length <= 200)
  const reason = { zh: `最多 ${idsMax} 个`, en: `at most ${idsMax}` }
  return ids.length > idsMax ? fail('field_invalid', { field: 'ids', reason }) : ids
}

/** The newest row of each id. */
async function ownDrawings({ db }: Pick<RelayParts, 'db'>, userId: number, ids: readonly string[]) {
  if (ids.length === 0) return []
  const rows = await db
    .selectFrom('midjourneys')
    .selectAll()
    .where('mj_id', 'in', ids)
    .where('user_id', '=', userId)
    .orderBy('id', 'desc')
    .limit(idsMax * 2)
    .execute()
  return rows.filter((row, at) => rows.findIndex((other) => other.mj_id === row.mj_id) === at)
}

async function ownSongs({ db }: Pick<RelayParts, 'db'>, userId: number, ids: readonly string[]) {
  if (ids.length === 0) return []
  return db
    .selectFrom('tasks')
    .selectAll()
    .where('task_id', 'in', ids)
    .where('user_id', '=', userId)
    .orderBy('id', 'desc')
    .limit(idsMax)
    .execute()
}
