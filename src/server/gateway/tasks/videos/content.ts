import type { Row } from '../../../base/db/schema.ts'
import { fail } from '../../../base/lib/failure.ts'
import { findUsedKey } from '../../channels/index/find-used-key.ts'
import type { RunningChannel } from '../../channels/index/model-index.ts'
import { isObject, objectAt, textAt } from '../../protocols/wire-format.ts'
import type { ClipFile, VideoAction } from '../../providers/videos/video-vendor.ts'
import { authenticateCall, type CallerParts } from '../../relay/admission/authenticate.ts'
import type { ClientExchange } from '../../relay/http/client-exchange.ts'
import type { RelayParts } from '../../relay/relay-parts.ts'
import { UpstreamFailure } from '../../relay/upstream/failure.ts'
import { callUpstream } from '../call-upstream.ts'
import { readLinkKey } from '../links.ts'
import { ownVideo } from './answer-videos.ts'
import { askVendor, filesOf } from './read-job.ts'
import { sendBytes, streamFile } from './stream-file.ts'
import { keyedChannel, vendorHeaders } from './vendor-call.ts'
import { vendorOf } from './video-order.ts'

type ContentParts = CallerParts & Pick<RelayParts, 'accessTokens' | 'channels' | 'upstream'>

const pointerBytesMax = 256 * 1024

/**
 * `GET /v1/videos/{id}/content`: a clip, streamed from its vendor through this site, also in ranges. Its owner shows a token, or a link
 * that has a key for this one video. Throws `task_unknown`, `video_running`, `video_gone` or `upstream_failed`.
 */
export async function showClip(app: ContentParts, call: ClientExchange, id: string): Promise<void> {
  const query = new URL(call.request.url ?? '', 'http://site').searchParams
  const variant = query.get('variant') ?? 'video'
  if (variant !== 'video')
    fail('field_invalid', { field: 'variant', reason: { zh: '只提供 video', en: 'only video is offered' } })
  const row = await readRow(app, call, { id, key: query.get('key') ?? '' })
  if (row.status === 'FAILURE') fail('video_gone', { id: row.public_id })
  if (row.status !== 'SUCCESS') fail('video_running', { id: row.public_id })
  const index = Number(query.get('index') ?? 0)
  if (!(Number.isInteger(index) && index >= 0 && index < row.delivered))
    fail('task_unknown', { id: `${row.public_id}/${index}`.slice(0, 100) })

  const channel = await findUsedKey(app, { channelId: row.channel_id, keyId: row.key_id })
  if (!channel?.provider.videos) fail('video_gone', { id: row.public_id })
  const file = filesOf(app, row)[index]
  const facts = { id: row.public_id, range: rangeOf(call) }
  if (!file) return sendInline(app, call, { row, channel, index, ...facts })
  const source = await sourceOf(app, channel, file)
  await streamFile(app, call, { ...facts, ...source, channel })
}

async function readRow(
  app: ContentParts,
  call: ClientExchange,
  { id, key }: { id: string; key: string },
): Promise<Row<'videos'>> {
  if (key === '') {
    const { userId } = await authenticateCall(app, { from: 'token' }, call)
    return ownVideo(app, { userId, id })
  }
  const linked = readLinkKey(app, 'video-content', key)
  const unknown = { id: id.slice(0, 100) }
  if (linked === undefined) fail('task_unknown', unknown)
  const row = await app.db
    .selectFrom('videos')
    .selectAll()
    .where('id', '=', linked)
    .where('public_id', '=', id.slice(0, 100))
    .where('deleted_at', '=', 0)
    .executeTakeFirst()
  return row ?? fail('task_unknown', unknown)
}

/** One range of bytes; other forms are answered with the whole clip, as HTTP allows. */
function rangeOf({ request }: ClientExchange): string {
  const { range = '' } = request.headers
  return /^bytes=(\d{1,15}-\d{0,15}|-\d{1,15})$/.test(range) ? range : ''
}

/** The address of the clip, and the headers for it where the vendor wants its key. */
async function sourceOf(
  app: ContentParts,
  channel: RunningChannel,
  file: ClipFile,
): Promise<{ readonly url: string; readonly keyHeaders: Record<string, string> | undefined }> {
  if (!file.isKeyed) return { url: file.url, keyHeaders: undefined }
  const keyed = await keyedChannel(app, channel)
  if (keyed instanceof UpstreamFailure) return failed()
  const keyHeaders = vendorHeaders(keyed)
  if (!file.pointer) return { url: file.url, keyHeaders }
  const [object, member] = file.pointer
  const limits = { timeoutMs: 20_000, sizeBytesMax: pointerBytesMax }
  const reply = await callUpstream(app.upstream, channel, { method: 'GET', url: file.url, headers: keyHeaders, ...limits })
  const url = reply instanceof UpstreamFailure ? '' : textAt(objectAt(reply, object) ?? {}, member)
  return url === '' ? failed() : { url, keyHeaders: undefined }
}

interface InlineClip {
  readonly row: Row<'videos'>
  readonly channel: RunningChannel
  readonly index: number
  readonly id: string
  readonly range: string
}

/** A clip whose bytes are in the vendor's report. */
async function sendInline(
  app: ContentParts,
  call: ClientExchange,
  { row, channel, index, id, range }: InlineClip,
): Promise<void> {
  const vendor = vendorOf(channel)
  const job = { id: row.upstream_id, model: row.upstream_model, action: row.action as VideoAction }
  const reply = vendor.inline ? await askVendor(app, channel, job) : undefined
  const base64 = isObject(reply) && !(reply instanceof UpstreamFailure) ? (vendor.inline?.(reply, index) ?? '') : ''
  if (base64 === '') fail('video_gone', { id })
  sendBytes(call, { id, range, bytes: Buffer.from(base64, 'base64') })
}

function failed(): never {
  fail('upstream_failed', { reason: { zh: '无法取得视频文件', en: 'the file of the clip cannot be read' } })
}
