import { fail } from '../../base/lib/failure.ts'
import { background } from '../../base/lib/log/logger.ts'
import { type JsonObject, objectAt, textAt } from '../protocols/wire-format.ts'
import { type KeptFile, newFileId } from '../relay/conversations/kept-files.ts'
import type { RelayParts } from '../relay/relay-parts.ts'
import { errorOf, tryChannels } from '../relay/try-channels/try-channels.ts'
import { parseObject, UpstreamFailure } from '../relay/upstream/failure.ts'
import { ArrivingForm } from './arriving-form.ts'
import { type Asked, answerJson, channelOf, placeFor, tellFailure } from './asked.ts'
import { fileForms } from './file-form.ts'
import { answered, keep, send } from './upload.ts'

/** OpenAI's uploads in parts: a file of up to 8 GB whose parts arrive one by one, and which exists when it is completed. */

const format = 'openai.uploads'
const partBytesMax = 64 * 1024 ** 2
const uploadBytesMax = 8 * 1024 ** 3

/** Opens an upload. It takes the room of its announced size in the owner's quota. */
export async function openUpload(app: RelayParts, asked: Asked): Promise<void> {
  const { call, caller } = asked
  const { json, bytes: body } = await call.readBody()
  const size = json.bytes
  if (typeof size !== 'number' || !Number.isSafeInteger(size) || size < 0)
    return fail('field_invalid', { field: 'bytes', reason: notSize })
  if (size > uploadBytesMax) fail('file_too_large', { limit: uploadBytesMax })
  const place = placeFor(app, asked, format)
  const own = { id: newFileId('upload'), userId: caller.userId }
  const named = { filename: textAt(json, 'filename'), purpose: textAt(json, 'purpose') }
  await app.keptFiles.begin(caller, { id: own.id, dialect: 'openai', bytes: size, ...named })
  try {
    const tried = await tryChannels(app, { call, caller, ...place, format }, async ({ channel }) =>
      answered(await send(app, asked, { channel, format, body })),
    )
    if (!tried.answer) {
      await app.keptFiles.forget(own)
      return call.sendError(errorOf(tried, place))
    }
    const { object } = tried.answer
    const { id: _, expires_at: expiresAt, ...vendorObject } = object
    const vendorId = textAt(object, 'id')
    if (vendorId === '') fail('upstream_failed', { reason: noUpload })
    const { id: channelId, keyId } = tried.channel
    const ends = typeof expiresAt === 'number' ? { expiresAt } : {}
    await app.keptFiles.update(own, { ...ends, vendorId, vendorObject, state: 'open', channelId, keyId })
    answerJson(asked, { ...object, id: own.id })
  } catch (error) {
    background(app.logger, 'forget an upload that was not opened', app.keptFiles.forgetUnarrived(own))
    throw error
  }
}

/** Passes a part on as it arrives. Ids of parts are the vendor's: they mean something only within their upload. */
export async function uploadPart(app: RelayParts, asked: Asked, id: string): Promise<void> {
  const upload = await findUpload(app, asked, id)
  const arriving = new ArrivingForm(asked.call.request, partBytesMax)
  const channel = await channelOf(app, upload)
  const answer = await send(app, asked, { channel, format, suffix: `${pathOf(upload)}/parts`, streamed: arriving.body })
  if (answer instanceof UpstreamFailure) return tellFailure(asked, answer, channel)
  answerJson(asked, { ...parseObject(answer.body), upload_id: id })
}

/** Makes the file of an upload. The row of the upload becomes that of the file, so that its room is never taken twice. */
export async function completeUpload(app: RelayParts, asked: Asked, id: string): Promise<void> {
  const upload = await findUpload(app, asked, id)
  const channel = await channelOf(app, upload)
  const { bytes: body } = await asked.call.readBody()
  const answer = await send(app, asked, { channel, format, suffix: `${pathOf(upload)}/complete`, body })
  if (answer instanceof UpstreamFailure) return tellFailure(asked, answer, channel)
  const object = parseObject(answer.body)
  const form = fileForms.openai
  const { vendorId, ...facts } = form.readObject(objectAt(object, 'file') ?? {})
  const file = { id: newFileId('openai'), vendorObject: facts.vendorObject }
  await keep(app, { form, channel, vendorId }, () =>
    app.keptFiles.update(upload, { ...facts, newId: file.id, vendorId, state: 'kept' }),
  )
  answerJson(asked, { ...object, id, file: form.writeFile(file, '') })
}

export async function cancelUpload(app: RelayParts, asked: Asked, id: string): Promise<void> {
  const upload = await findUpload(app, asked, id)
  const channel = await channelOf(app, upload)
  const answer = await send(app, asked, { channel, format, suffix: `${pathOf(upload)}/cancel` })
  if (answer instanceof UpstreamFailure) return tellFailure(asked, answer, channel)
  await app.keptFiles.forget(upload)
  const object: JsonObject = parseObject(answer.body)
  answerJson(asked, { ...object, id })
}

function findUpload(app: RelayParts, { caller }: Asked, id: string): Promise<KeptFile> {
  return app.keptFiles.find(caller.userId, { dialect: 'openai', id, state: 'open' })
}

function pathOf({ vendorId }: KeptFile): string {
  return `/${encodeURIComponent(vendorId)}`
}

const notSize = { zh: '须为字节数', en: 'it must be a number of bytes' }
const noUpload = { zh: '上游未返回上传', en: 'the answer has no upload' }
