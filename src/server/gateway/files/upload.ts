import { AppError, fail } from '../../base/lib/failure.ts'
import { background } from '../../base/lib/log/logger.ts'
import type { RunningChannel } from '../channels/index/model-index.ts'
import type { JsonObject } from '../protocols/wire-format.ts'
import { newFileId } from '../relay/conversations/kept-files.ts'
import type { RelayParts } from '../relay/relay-parts.ts'
import { errorOf, tryChannels } from '../relay/try-channels/try-channels.ts'
import { callUpstream, type UpstreamAnswer, type UpstreamCall } from '../relay/upstream/call-upstream.ts'
import { parseObject, UpstreamFailure } from '../relay/upstream/failure.ts'
import { callerHeaders } from '../relay/upstream/request-target.ts'
import { ArrivingForm } from './arriving-form.ts'
import { type Asked, answerJson, placeFor, siteOf } from './asked.ts'
import type { FileForm } from './file-form.ts'

/** A whole upload may take this long, and stand still for this long. */
const uploadMs = 3_600_000
const stillMs = 300_000

/**
 * Stores a file that arrives as a form. It takes its room in the owner's quota before it is sent, by its announced length, and counts
 * with the size that the vendor tells once it is there.
 */
export async function uploadFile(app: RelayParts, form: FileForm, asked: Asked): Promise<void> {
  const { call, caller } = asked
  const arriving = new ArrivingForm(call.request, form.bytesMax)
  const place = placeFor(app, asked, form.format)
  const own = { id: newFileId(form.dialect), userId: caller.userId }
  await app.keptFiles.begin(caller, {
    ...{ id: own.id, dialect: form.dialect, bytes: arriving.length ?? form.bytesMax, filename: '', purpose: '' },
  })
  try {
    const asks = { call, caller, ...place, format: form.format, mayTryAnother: notRead(arriving) }
    const tried = await tryChannels(app, asks, async ({ channel }) =>
      answered(await send(app, asked, { channel, format: form.format, streamed: arriving.body })),
    )
    if (!tried.answer) {
      await app.keptFiles.forget(own)
      return call.sendError(errorOf(tried, place))
    }
    const { channel, answer } = tried
    const { vendorId, ...facts } = form.readObject(answer.object)
    const kept = { ...facts, vendorId, state: 'kept' as const, channelId: channel.id, keyId: channel.keyId }
    await keep(app, { ...own, form, channel, vendorId }, () => app.keptFiles.update(own, kept))
    answerJson(asked, form.writeFile({ id: own.id, vendorObject: facts.vendorObject }, siteOf(app, call)))
  } catch (error) {
    background(app.logger, 'forget a file that did not arrive', app.keptFiles.forgetUnarrived(own))
    throw error
  }
}

/** Another channel may have the file only while nothing of it was read. */
function notRead(arriving: { readonly hasBegun: boolean }): (failure: UpstreamFailure) => boolean {
  return (failure) => failure.isRetryable && !arriving.hasBegun
}

/** The answer of a channel that has taken a file or an upload. */
interface Taken {
  readonly object: JsonObject
  readonly headers: UpstreamAnswer['headers']
  readonly upstreamModel: string
}

export function answered(answer: UpstreamAnswer | UpstreamFailure): Taken | UpstreamFailure {
  if (answer instanceof UpstreamFailure) return answer
  return { object: parseObject(answer.body), headers: answer.headers, upstreamModel: '' }
}

interface Sent extends Pick<UpstreamCall, 'format' | 'body' | 'streamed' | 'suffix' | 'query' | 'headers'> {
  readonly channel: RunningChannel
}

/**
 * Sends something to a vendor that it stores. A body that the caller has not sent as announced, or has stopped sending, is no fault of the
 * channel.
 */
export async function send(
  app: RelayParts,
  { call }: Asked,
  { channel, ...sent }: Sent,
): Promise<UpstreamAnswer | UpstreamFailure> {
  const answer = await callUpstream(app, channel, {
    ...sent,
    ...{ model: '', method: 'POST', caller: callerHeaders({ call }, channel), timeoutMs: stillMs, totalMs: uploadMs },
    onStart: (breakOff) => call.onAborted(breakOff),
  })
  if (!(answer instanceof UpstreamFailure) || !sent.streamed) return answer
  if (answer.cause instanceof AppError) return new UpstreamFailure('stopped', { own: answer.cause })
  const isOfCaller = answer.kind === 'timeout' && !call.request.readableEnded
  return isOfCaller
    ? new UpstreamFailure('stopped', { own: new AppError('upload_form_invalid', { reason: stoodStill }) })
    : answer
}

const stoodStill = { zh: '上传停滞', en: 'it stood still for too long' }

interface Stored {
  readonly form: FileForm
  readonly channel: RunningChannel
  readonly vendorId: string
}

/** Records a file that the vendor has; a file that cannot be recorded is deleted there, since nobody could. */
export async function keep(app: RelayParts, { form, channel, vendorId }: Stored, record: () => Promise<void>): Promise<void> {
  if (vendorId === '') throw new AppError('upstream_failed', { reason: noFile })
  try {
    await record()
  } catch (error) {
    const suffix = `/${encodeURIComponent(vendorId)}`
    const call = { format: form.format, model: '', method: 'DELETE' as const, suffix, caller: {}, timeoutMs: 60_000 }
    background(app.logger, 'delete a file that could not be recorded', callUpstream(app, channel, call))
    throw error
  }
}

const noFile = { zh: '上游未返回文件', en: 'the answer has no file' }

export function requireOn({ options }: Pick<RelayParts, 'options'>): void {
  if (!options.current['files.enabled']) fail('not_implemented')
}
