import type { Row } from '../../../base/db/schema.ts'
import { fail } from '../../../base/lib/failure.ts'
import { seconds } from '../../../base/lib/time/clock.ts'
import { authenticateCall, type CallerParts } from '../../relay/admission/authenticate.ts'
import type { ClientExchange } from '../../relay/http/client-exchange.ts'
import type { VideoShape } from '../../relay/http/task-paths.ts'
import { sendJson } from '../order-reply.ts'
import { isEnd } from '../states.ts'
import { presentFamilyTask, presentVideo } from './present-video.ts'

/** Callers' calls about their own videos; those of others do not exist for them. Free of charge. */

type From = 'token' | 'session'

const listedMax = 100

/** `GET /v1/videos/{id}` and `GET /v1/video/generations/{id}`. Throws `task_unknown`. */
export async function getVideo(
  app: CallerParts,
  call: ClientExchange,
  { id, shape, from }: { readonly id: string; readonly shape: VideoShape; readonly from: From },
): Promise<void> {
  const { userId } = await authenticateCall(app, { from }, call)
  const row = await ownVideo(app, { userId, id })
  sendJson(call, shape === 'videos' ? presentVideo(row) : presentFamilyTask(app, row))
}

/** `GET /v1/videos?limit=…&after=…&order=…`. Throws `task_unknown` for an unknown `after`, `field_invalid`. */
export async function listVideos(app: CallerParts, call: ClientExchange, from: From): Promise<void> {
  const { userId } = await authenticateCall(app, { from }, call)
  const query = new URL(call.request.url ?? '', 'http://site').searchParams
  const limit = Number(query.get('limit') ?? 20)
  if (!(Number.isInteger(limit) && limit >= 1 && limit <= listedMax))
    fail('field_invalid', { field: 'limit', reason: { zh: `须为 1 到 ${listedMax}`, en: `must be from 1 to ${listedMax}` } })
  const order = query.get('order') === 'asc' ? 'asc' : 'desc'
  const after = query.get('after') ?? ''
  const behind = after === '' ? undefined : await ownVideo(app, { userId, id: after })
  let found = app.db.selectFrom('videos').selectAll().where('user_id', '=', userId).where('deleted_at', '=', 0)
  if (behind) found = found.where('id', order === 'desc' ? '<' : '>', behind.id)
  const rows = await found
    .orderBy('id', order)
    .limit(limit + 1)
    .execute()
  const data = rows.slice(0, limit).map(presentVideo)
  sendJson(call, {
    object: 'list',
    data,
    first_id: data.at(0)?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: rows.length > limit,
  })
}

/** `DELETE /v1/videos/{id}`: of an ended video; its row stays for the operator. Throws `task_unknown`, `video_running`. */
export async function deleteVideo(
  app: CallerParts,
  call: ClientExchange,
  { id, from }: { readonly id: string; readonly from: From },
): Promise<void> {
  const { userId } = await authenticateCall(app, { from }, call)
  const row = await ownVideo(app, { userId, id })
  if (!isEnd(row.status)) fail('video_running', { id: row.public_id })
  await app.db
    .updateTable('videos')
    .set({ deleted_at: seconds(app.now()), files_sealed: '', prompt: '' })
    .where('id', '=', row.id)
    .where('deleted_at', '=', 0)
    .execute()
  sendJson(call, { id: row.public_id, object: 'video.deleted', deleted: true })
}

/** Throws `task_unknown`. */
export async function ownVideo(
  { db }: Pick<CallerParts, 'db'>,
  { userId, id }: { readonly userId: number; readonly id: string },
): Promise<Row<'videos'>> {
  const row = await db
    .selectFrom('videos')
    .selectAll()
    .where('public_id', '=', id.slice(0, 100))
    .where('user_id', '=', userId)
    .where('deleted_at', '=', 0)
    .executeTakeFirst()
  return row ?? fail('task_unknown', { id: id.slice(0, 100) })
}
