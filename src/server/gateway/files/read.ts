import { fail } from '../../base/lib/failure.ts'
import { background } from '../../base/lib/log/logger.ts'
import { findUsedKey } from '../channels/index/find-used-key.ts'
import type { RunningChannel } from '../channels/index/model-index.ts'
import type { KeptFile } from '../relay/conversations/kept-files.ts'
import type { RelayParts } from '../relay/relay-parts.ts'
import { callUpstream, targetOf, type UpstreamAnswer } from '../relay/upstream/call-upstream.ts'
import { parseObject, UpstreamFailure } from '../relay/upstream/failure.ts'
import { HttpExchange, type Receiver, type Running } from '../relay/upstream/http-exchange.ts'
import { callerHeaders } from '../relay/upstream/request-target.ts'
import { type Asked, answerJson, channelOf, queryOf, siteOf, tellFailure } from './asked.ts'
import { type FileForm, fileForms } from './file-form.ts'

const timeoutMs = 60_000
const downloadMs = 3_600_000

/** Lists the caller's files as they were last seen; vendors' own lists have those of all callers. */
export async function listFiles(app: RelayParts, form: FileForm, asked: Asked): Promise<void> {
  const page = form.readPage(queryOf(asked.call))
  const found = await app.keptFiles.list(asked.caller.userId, { dialect: form.dialect, ...page, limit: page.limit + 1 })
  const hasMore = found.length > page.limit
  // Towards the newest, the file too many is the first.
  const files = hasMore && page.before !== undefined ? found.slice(1) : found.slice(0, page.limit)
  answerJson(asked, form.writePage({ files, hasMore, site: siteOf(app, asked.call) }))
}

/** Reads a file's object from its vendor: its state may change. */
export async function readFile(app: RelayParts, form: FileForm, asked: Asked, id: string): Promise<void> {
  const file = await app.keptFiles.find(asked.caller.userId, { dialect: form.dialect, id })
  const channel = await channelOf(app, file)
  const answer = await ask(app, form, { asked, channel, suffix: `/${encodeURIComponent(file.vendorId)}` })
  if (answer instanceof UpstreamFailure) return refuse({ asked, file, channel }, answer)
  const { vendorObject, expiresAt } = form.readObject(parseObject(answer.body))
  await app.keptFiles.update(file, { vendorObject, expiresAt })
  answerJson(asked, form.writeFile({ id, vendorObject }, siteOf(app, asked.call)))
}

/** Deletes a file. It is gone for its owner at once; a vendor that cannot delete it now is asked again by a job. */
export async function deleteFile(app: RelayParts, form: FileForm, asked: Asked, id: string): Promise<void> {
  const file = await app.keptFiles.find(asked.caller.userId, { dialect: form.dialect, id })
  deleteAtVendorSoon(app, await app.keptFiles.remove(file))
  answerJson(asked, form.writeDeleted(id))
}

/** Has the vendor delete a file that its owner does not have any more, without waiting for it. */
export function deleteAtVendorSoon(app: RelayParts, file: KeptFile): void {
  background(app.logger, 'delete a file at its vendor', deleteAtVendor(app, file))
}

/** Has the vendor delete a file, and forgets it; a vendor that fails is asked again later. Returns whether it is gone. */
export async function deleteAtVendor(app: RelayParts, file: KeptFile): Promise<boolean> {
  const channel = file.vendorId === '' ? undefined : await findUsedKey(app, file)
  if (channel) {
    const suffix = `/${encodeURIComponent(file.vendorId)}`
    const call = { model: '', method: 'DELETE' as const, suffix, caller: {}, timeoutMs }
    const answer = await callUpstream(app, channel, { ...call, format: fileForms[file.dialect].format })
    if (answer instanceof UpstreamFailure && answer.status !== 404) return false
  }
  await app.keptFiles.forget(file)
  return true
}

/** Passes the content of a file on as the vendor sends it, no faster than the caller reads it. */
export async function readContent(app: RelayParts, form: FileForm, asked: Asked, id: string): Promise<void> {
  const { call, caller } = asked
  const file = await app.keptFiles.find(caller.userId, { dialect: form.dialect, id })
  const channel = await channelOf(app, file)
  const target = await targetOf(app, channel, {
    ...{ format: form.format, model: '', method: 'GET', ...form.content(file.vendorId), accept: '*/*' },
    ...{ caller: callerHeaders({ call }, channel), timeoutMs: 300_000, totalMs: downloadMs, answerBytesMax: form.bytesMax },
  })
  if (target instanceof UpstreamFailure) return tellFailure(asked, target, channel)
  const failure = await download(app, asked, (receiver) => new HttpExchange(app.deadlines, target, receiver))
  if (failure) refuse({ asked, file, channel }, failure)
}

/** Resolves when the content has ended, with a failure of the vendor. */
function download(
  app: Pick<RelayParts, 'steady'>,
  { call }: Asked,
  open: (receiver: Receiver) => Running & { start(): void },
): Promise<UpstreamFailure | undefined> {
  return new Promise((resolve) => {
    const exchange = open({
      begin(headers) {
        const disposition = headers['content-disposition']
        call.begin({
          'content-type': String(headers['content-type'] ?? 'application/octet-stream'),
          ...(typeof disposition === 'string' ? { 'content-disposition': disposition } : {}),
        })
      },
      data(chunk) {
        if (call.write(chunk.toString('latin1'), app.steady())) return
        exchange.pause()
        call.whenDrained(() => exchange.resume())
      },
      end() {
        call.end('')
        resolve(undefined)
      },
      fail: resolve,
    })
    call.onAborted(() => {
      exchange.abort()
      if (!call.isDisconnected) call.drop()
      resolve(undefined)
    })
    if (!call.isAborted) exchange.start()
  })
}

interface Failed {
  readonly asked: Asked
  readonly file: KeptFile
  readonly channel: RunningChannel
}

/** A file that the vendor does not have is unknown to its owner; it stays listed, since the vendor may have it again. */
function refuse({ asked, file, channel }: Failed, failure: UpstreamFailure): void {
  const { call } = asked
  const isGone = failure.status === 404 || (failure.status === 403 && file.dialect === 'gemini')
  if (call.isCommitted) call.drop()
  else if (isGone) fail('file_unknown', { id: file.id })
  else tellFailure(asked, failure, channel)
}

interface AskedOf {
  readonly asked: Asked
  readonly channel: RunningChannel
  readonly suffix: string
}

function ask(
  app: RelayParts,
  { format }: FileForm,
  { asked, channel, suffix }: AskedOf,
): Promise<UpstreamAnswer | UpstreamFailure> {
  const caller = callerHeaders({ call: asked.call }, channel)
  return callUpstream(app, channel, { format, model: '', method: 'GET', suffix, caller, timeoutMs })
}
