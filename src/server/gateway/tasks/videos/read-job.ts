import { readJson } from '../../../base/lib/bytes/read-json.ts'
import type { Core } from '../../../base/options/core.ts'
import type { RunningChannel } from '../../channels/index/model-index.ts'
import type { JsonObject } from '../../protocols/wire-format.ts'
import type { ClipFile, JobState, VideoAction, VideoJob } from '../../providers/videos/video-vendor.ts'
import type { RelayParts } from '../../relay/relay-parts.ts'
import { UpstreamFailure } from '../../relay/upstream/failure.ts'
import type { Details } from '../advance.ts'
import { callUpstream } from '../call-upstream.ts'
import type { SeenState } from '../states.ts'
import type { TaskRow } from '../task-table.ts'
import { cleanText } from '../text.ts'
import { costOfMade, readClip } from './stored-clip.ts'
import { keyedChannel, vendorCall } from './vendor-call.ts'
import { vendorOf } from './video-order.ts'

export type JobParts = Core & Pick<RelayParts, 'accessTokens' | 'upstream'>

interface JobUpdate {
  readonly seen: SeenState
  readonly details: Details
  /** Units that stay charged. */
  readonly kept: number | undefined
}

const answer = { timeoutMs: 15_000, sizeBytesMax: 128 * 1024 * 1024 }

/** The state of a job as its vendor reports it; undefined when the vendor tells none, and a failure when it could not be asked. */
export async function readJob(
  app: JobParts,
  channel: RunningChannel,
  task: TaskRow,
): Promise<JobUpdate | UpstreamFailure | undefined> {
  const row = await app.db
    .selectFrom('videos')
    .select(['public_id', 'upstream_model', 'action', 'clip', 'quota'])
    .where('id', '=', task.id)
    .executeTakeFirstOrThrow()
  const job = { id: task.upstreamId, model: row.upstream_model, action: row.action as VideoAction }
  const reply = await askVendor(app, channel, job)
  if (reply instanceof UpstreamFailure) return reply
  const found = vendorOf(channel).read(reply, channel, job)
  const made = madeBy(found)
  if (!made) return { kept: undefined, details: {}, seen: stateOf(found, channel) }
  if (made.pieces === 0) {
    const reason = '厂商没有交付视频 / The vendor has delivered no clip'
    return { kept: undefined, details: {}, seen: { status: 'FAILURE', failReason: reason, progress: 100 } }
  }
  const clip = readClip(row.clip)
  const kept = costOfMade(clip, made, row.quota)
  const sealed = app.secrets.seal(JSON.stringify(made.files), filesPlace(row.public_id))
  const details = { files_sealed: sealed, delivered: made.pieces, quota: kept }
  return { kept, details, seen: { status: 'SUCCESS', failReason: '', progress: 100 } }
}

/** The vendor's report on a job. */
export async function askVendor(app: JobParts, channel: RunningChannel, job: VideoJob): Promise<JsonObject | UpstreamFailure> {
  const keyed = await keyedChannel(app, channel)
  if (keyed instanceof UpstreamFailure) return keyed
  return callUpstream(app.upstream, channel, { ...vendorCall(keyed, vendorOf(channel).query(channel, job)), ...answer })
}

/** The files of an ended video; none where their bytes are in the vendor's report. */
export function filesOf(
  { secrets }: Pick<Core, 'secrets'>,
  row: { readonly public_id: string; readonly files_sealed: string },
): readonly ClipFile[] {
  if (row.files_sealed === '') return []
  const files = readJson(secrets.open(row.files_sealed, filesPlace(row.public_id)))
  // Only `readJob` writes the column.
  return Array.isArray(files) ? (files as ClipFile[]) : []
}

function filesPlace(publicId: string) {
  return { table: 'videos', column: 'files_sealed', row: publicId }
}

/** A report without a state changes nothing, and is repeated later. */
function stateOf(found: JobState, channel: RunningChannel): SeenState {
  if (found.state === 'failed') {
    const failReason = cleanText(found.reason, channel) || '厂商未说明原因 / The vendor gave no reason'
    return { status: 'FAILURE', failReason, progress: 100 }
  }
  const percent = found.state === 'running' ? found.percent : undefined
  return { status: states[found.state] ?? '', failReason: '', progress: percent }
}

const states: Readonly<Record<string, string>> = { queued: 'QUEUED', running: 'IN_PROGRESS' }

function madeBy(found: JobState): { pieces: number; seconds: number | undefined; files: readonly ClipFile[] } | undefined {
  if (found.state === 'done') return { pieces: found.files.length, seconds: found.seconds, files: found.files }
  return found.state === 'done-inline' ? { pieces: found.pieces, seconds: undefined, files: [] } : undefined
}
