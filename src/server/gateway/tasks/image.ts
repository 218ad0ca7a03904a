import { BudgetExceeded, type Share } from '../../base/lib/bytes/byte-budget.ts'
import { imageType } from '../../base/lib/bytes/image-type.ts'
import { Semaphore } from '../../base/lib/collections/semaphore.ts'
import { AppError, fail } from '../../base/lib/failure.ts'
import { callConfigured } from '../../base/lib/net/http-client.ts'
import { CallFailure, type Reply } from '../../base/lib/net/upstream-http/exchange.ts'
import type { ClientExchange } from '../relay/http/client-exchange.ts'
import type { RelayParts } from '../relay/relay-parts.ts'
import { fetchFile } from '../relay/upstream/fetch-media.ts'
import { readLinkKey } from './links.ts'

const imageBytesMax = 24 * 1024 * 1024
const timeoutMs = 20_000
/** Limits how many images are in memory at once. */
const semaphore = new Semaphore(4, 64)

/**
 * `GET /mj/image/{id}?key=…`: the image of a drawing, fetched by this server, so that the upstream's URL stays hidden. The link
 * carries a key for this drawing, only images are sent, and only addresses on the public internet are fetched. Throws
 * `task_unknown`, `upstream_failed` or `server_busy`.
 */
export async function showImage(
  app: Pick<RelayParts, 'db' | 'mediaMemory' | 'options' | 'secrets' | 'upstream'>,
  call: ClientExchange,
  upstreamId: string,
): Promise<void> {
  const key = new URL(call.request.url ?? '', 'http://site').searchParams.get('key') ?? ''
  const id = readLinkKey(app, 'drawing-image', key)
  const named = { id: upstreamId.slice(0, 100) }
  if (id === undefined) fail('task_unknown', named)
  const row = await app.db
    .selectFrom('midjourneys')
    .select(['mj_id', 'image_url', 'status'])
    .where('id', '=', id)
    .executeTakeFirst()
  if (!row || row.mj_id !== upstreamId || row.image_url === '') fail('task_unknown', named)

  const share = app.mediaMemory.open()
  try {
    const body = await semaphore.run(
      () => fetchImage(app, share, row.image_url),
      () => fail('server_busy'),
    )
    const type = imageType(body)
    if (!type) fail('upstream_failed', { reason: { zh: '不是图片', en: 'it is no picture' } })
    call.setHeader('x-content-type-options', 'nosniff')
    call.setHeader('content-security-policy', "default-src 'none'; sandbox")
    call.setHeader('cross-origin-resource-policy', 'cross-origin')
    // The image of an unfinished drawing changes.
    call.setHeader('cache-control', row.status === 'SUCCESS' ? 'private, max-age=86400' : 'no-store')
    call.answer(type, body)
  } finally {
    share.release()
  }
}

async function fetchImage(app: Pick<RelayParts, 'options' | 'upstream'>, share: Share, url: string): Promise<Buffer> {
  try {
    const { status, body } = await fetchWith(app, share, url)
    if (status === 200) return body
    return refuse({ zh: `地址答复状态码 ${status}`, en: `the address answered with status ${status}` })
  } catch (error) {
    if (error instanceof BudgetExceeded) fail('server_busy')
    if (error instanceof CallFailure) return refuse(error.text, error)
    throw error
  }
}

/** Fetches through the operator's worker, if there is one, so that the address of this server stays unknown. */
function fetchWith({ upstream, options }: Pick<RelayParts, 'options' | 'upstream'>, share: Share, url: string): Promise<Reply> {
  const { WorkerUrl, WorkerValidKey } = options.current
  const limits = { timeoutMs, sizeBytesMax: imageBytesMax }
  if (WorkerUrl === '') return fetchFile(upstream, share, { ...limits, url })
  const errand = JSON.stringify({ url, key: WorkerValidKey })
  const headers = { 'content-type': 'application/json' }
  const count = (bytes: number) => share.take(bytes)
  return callConfigured(upstream, { ...limits, url: `${WorkerUrl}/`, method: 'POST', headers, body: errand, count })
}

function refuse(reason: { zh: string; en: string }, cause?: unknown): never {
  throw new AppError('upstream_failed', { reason }, { cause })
}
