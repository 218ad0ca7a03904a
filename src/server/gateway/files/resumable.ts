import { spliceNested } from '../../base/lib/bytes/splice-nested.ts'
import { fail } from '../../base/lib/failure.ts'
import { background } from '../../base/lib/log/logger.ts'
import { parseUrl } from '../../base/lib/net/parse-url.ts'
import { objectAt, textAt } from '../protocols/wire-format.ts'
import { newFileId } from '../relay/conversations/kept-files.ts'
import type { Body } from '../relay/http/read-body.ts'
import type { RelayParts } from '../relay/relay-parts.ts'
import { errorOf, tryChannels } from '../relay/try-channels/try-channels.ts'
import type { UpstreamAnswer } from '../relay/upstream/call-upstream.ts'
import { parseObject, UpstreamFailure } from '../relay/upstream/failure.ts'
import { chunksOf, declaredLength } from './arriving-form.ts'
import { type Asked, answerJson, channelOf, placeFor, queryOf, siteOf, tellFailure } from './asked.ts'
import type { FileForm } from './file-form.ts'
import { answered, keep, send } from './upload.ts'

/**
 * Google's resumable uploads. A first call opens one and is told the address to which the bytes go, here an address of this site; further
 * calls send them, in as many pieces as the caller likes. The headers of both sides are Google's.
 */

const format = 'gemini.uploads'
const prefix = 'x-goog-upload-'

/** Opens an upload, or sends bytes of one that the query names. */
export function sendResumable(app: RelayParts, form: FileForm, asked: Asked): Promise<void> {
  const id = queryOf(asked.call).get('upload_id')
  return id === null ? openResumable(app, form, asked) : sendBytes(app, { form, asked, id })
}

async function openResumable(app: RelayParts, form: FileForm, asked: Asked): Promise<void> {
  const { call, caller } = asked
  const { headers } = call.request
  if (headers[`${prefix}protocol`] !== 'resumable' || headers[`${prefix}command`] !== 'start')
    fail('upload_form_invalid', { reason: onlyResumable })
  const bytes = Number(headers[`${prefix}header-content-length`] ?? form.bytesMax)
  if (!Number.isSafeInteger(bytes) || bytes < 0)
    fail('field_invalid', { field: `${prefix}header-content-length`, reason: notSize })
  if (bytes > form.bytesMax) fail('file_too_large', { limit: form.bytesMax })
  const sent = withoutName(await call.readBody())
  const place = placeFor(app, asked, format)
  const own = { id: newFileId('upload'), userId: caller.userId }
  const filename = textAt(objectAt(sent.json, 'file') ?? {}, 'displayName')
  await app.keptFiles.begin(caller, { id: own.id, dialect: 'gemini', bytes, filename, purpose: '' })
  try {
    const tried = await tryChannels(app, { call, caller, ...place, format }, async ({ channel }) =>
      answered(await send(app, asked, { channel, format, body: sent.bytes, headers: passed(headers) })),
    )
    if (!tried.answer) {
      await app.keptFiles.forget(own)
      return call.sendError(errorOf(tried, place))
    }
    const vendorId = parseUrl(String(tried.answer.headers[`${prefix}url`] ?? ''))?.search.slice(1) ?? ''
    if (vendorId === '') fail('upstream_failed', { reason: noAddress })
    const { id: channelId, keyId } = tried.channel
    await app.keptFiles.update(own, { vendorId, state: 'open', channelId, keyId })
    tellHeaders(asked, tried.answer.headers)
    call.setHeader(`${prefix}url`, `${siteOf(app, call)}/upload/v1beta/files?upload_id=${own.id}&upload_protocol=resumable`)
    answerJson(asked, tried.answer.object)
  } catch (error) {
    background(app.logger, 'forget an upload that was not opened', app.keptFiles.forgetUnarrived(own))
    throw error
  }
}

/** The vendor names each file, so that names are its own and not those of other callers. */
function withoutName({ json, bytes }: Body): Body {
  const named = objectAt(json, 'file')?.name !== undefined
  return named ? { json, bytes: spliceNested(bytes, new Map([['file', new Map([['name', undefined]])]])) } : { json, bytes }
}

interface Sending {
  readonly form: FileForm
  readonly asked: Asked
  /** Of the upload. */
  readonly id: string
}

/** Sends bytes, asks how many have arrived, or cancels; the last bytes make the file. */
async function sendBytes(app: RelayParts, { form, asked, id }: Sending): Promise<void> {
  const { call, caller } = asked
  const upload = await app.keptFiles.find(caller.userId, { dialect: 'gemini', id, state: 'open' })
  const channel = await channelOf(app, upload)
  const length = declaredLength(call.request)
  const offset = Number(call.request.headers[`${prefix}offset`] ?? 0)
  if (length !== undefined && offset + length > form.bytesMax) fail('file_too_large', { limit: form.bytesMax })
  const contentType = call.request.headers['content-type'] ?? 'application/octet-stream'
  const answer = await send(app, asked, {
    ...{ channel, format, query: new URLSearchParams(upload.vendorId), headers: passed(call.request.headers) },
    streamed: { pieces: limited(chunksOf(call.request), upload.bytes - offset), length, contentType },
  })
  if (answer instanceof UpstreamFailure) return tellFailure(asked, answer, channel)
  tellHeaders(asked, answer.headers)
  if (answer.headers[`${prefix}status`] !== 'final') return answerJson(asked, {})
  const { vendorId, ...facts } = form.readObject(parseObject(answer.body))
  const file = { id: newFileId('gemini'), vendorObject: facts.vendorObject }
  await keep(app, { form, channel, vendorId }, () =>
    app.keptFiles.update(upload, { ...facts, newId: file.id, vendorId, state: 'kept' }),
  )
  answerJson(asked, { file: form.writeFile(file, siteOf(app, call)) })
}

/** No more bytes than the upload has room for. */
async function* limited(chunks: AsyncIterable<Buffer>, bytesMax: number): AsyncGenerator<Buffer> {
  let bytes = 0
  for await (const chunk of chunks) {
    bytes += chunk.length
    if (bytes > bytesMax) fail('file_too_large', { limit: bytesMax })
    yield chunk
  }
}

function passed(headers: UpstreamAnswer['headers']): Record<string, string> {
  const own = Object.entries(headers).flatMap(([name, value]) =>
    name.startsWith(prefix) && typeof value === 'string' ? [[name, value] as const] : [],
  )
  return Object.fromEntries(own)
}

/** The vendor's headers about the upload, but for its address. */
function tellHeaders({ call }: Asked, headers: UpstreamAnswer['headers']): void {
  for (const [name, value] of Object.entries(passed(headers)))
    if (name !== `${prefix}url` && name !== `${prefix}control-url`) call.setHeader(name, value)
}

const onlyResumable = {
  zh: '仅支持可续传的上传（X-Goog-Upload-Protocol: resumable）',
  en: 'only resumable uploads are offered (X-Goog-Upload-Protocol: resumable)',
}
const notSize = { zh: '须为字节数', en: 'it must be a number of bytes' }
const noAddress = { zh: '上游未返回上传地址', en: 'the answer has no address for the bytes' }
