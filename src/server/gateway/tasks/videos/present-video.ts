import type { Video } from '../../../../contract/entities/task.ts'
import type { Row } from '../../../base/db/schema.ts'
import { withoutOperatorDetails } from '../../../base/lib/log/operator-details.ts'
import type { Core } from '../../../base/options/core.ts'
import { videoPath } from '../links.ts'
import { readPercent } from '../states.ts'
import { filesOf } from './read-job.ts'
import { readClip } from './stored-clip.ts'

type VideoRow = Row<'videos'>

/** The object of `/v1/videos`. */
export function presentVideo(row: VideoRow) {
  const { seconds, resolution, size } = readClip(row.clip)
  return {
    id: row.public_id,
    object: 'video',
    model: row.model,
    status: stateOf(row),
    progress: row.status === 'SUCCESS' ? 100 : Math.trunc(readPercent(row.progress) ?? 0),
    created_at: row.submit_time,
    completed_at: row.status === 'SUCCESS' ? row.finish_time : null,
    expires_at: null,
    error: errorOf(row),
    seconds: String(seconds),
    size: size || resolution,
    prompt: row.prompt,
    remixed_from_video_id: null,
  }
}

/** The answer of `/v1/video/generations/{id}`. The link is one of this site, and works without a key of the caller. */
export function presentFamilyTask(core: Core, row: VideoRow) {
  const { seconds, size } = readClip(row.clip)
  const [width = 0, height = 0] = /^\d+\D\d+$/.test(size) ? size.split(/\D/).map(Number) : []
  const links = linksOf(core, row)
  return {
    task_id: row.public_id,
    status: stateOf(row),
    progress: Math.trunc(readPercent(row.progress) ?? 0),
    url: links[0] ?? '',
    ...(links.length > 1 ? { urls: links } : {}),
    format: 'mp4',
    metadata: { duration: seconds, ...(width > 0 ? { width, height } : {}) },
    error: errorOf(row),
  }
}

/** A row of the lists of the console. `refund` in units. */
export function presentVideoRow(core: Core, row: VideoRow & { readonly username: string | null }, refund: number): Video {
  const { seconds, resolution, sound, pieces } = readClip(row.clip)
  const clips = pathsOf(core, row)
  const { id, user_id, channel_id, action, model, prompt, status, progress, fail_reason, submit_time, finish_time } = row
  return {
    ...{ id, user_id, channel_id, action, model, prompt, status, progress, fail_reason, submit_time, finish_time },
    ...{ seconds, resolution, sound: sound ?? null, pieces, refund, clips },
    video_id: row.public_id,
    username: row.username ?? '',
    quota: status === 'FAILURE' ? 0 : row.quota,
    has_ranges: clips.length > 0 && filesOf(core, row).length > 0,
    deleted: row.deleted_at !== 0,
  }
}

/** The addresses of the clips on this site. */
function linksOf(core: Core, row: VideoRow): string[] {
  const site = core.options.current.ServerAddress || core.env.BASE_PATH
  return pathsOf(core, row).map((path) => site + path)
}

function pathsOf(core: Core, { id, public_id: publicId, status, delivered, deleted_at }: VideoRow): string[] {
  if (status !== 'SUCCESS' || deleted_at !== 0) return []
  return Array.from({ length: delivered }, (_, index) => videoPath(core, { id, publicId, index }))
}

function stateOf({ status }: VideoRow): 'queued' | 'in_progress' | 'completed' | 'failed' {
  if (status === 'SUCCESS') return 'completed'
  if (status === 'FAILURE') return 'failed'
  return status === 'IN_PROGRESS' ? 'in_progress' : 'queued'
}

function errorOf({ status, fail_reason }: VideoRow) {
  return status === 'FAILURE' ? { code: 'video_failed', message: withoutOperatorDetails(fail_reason) } : null
}
