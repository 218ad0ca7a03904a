import { type JsonObject, objectAt, textAt } from '../../protocols/wire-format.ts'
import { joinUrl } from '../openai-compatible.ts'
import type { Upstream } from '../upstream.ts'
import { given, type JobState, type OrderedClip, pictureUrl, reasonIn, secondsIn, type VideoVendor } from './video-vendor.ts'

const pasted = ['/anthropic/v1', '/v1', '/v2']

/**
 * MiniMax: H3 and later at version 2 of the interface, older Hailuo models at version 1, whose files are told by an id. Errors have
 * status 200 and `base_resp`.
 */
export const hailuo: VideoVendor = {
  serves: (model) => /hailuo|video|^minimax-h|^[ist]2v|^s2v/i.test(model),
  passes: ['prompt_optimizer', 'fast_pretreatment', 'aigc_watermark'],
  order: (channel, clip) => ({
    method: 'POST',
    url: joinUrl(channel.baseUrl, `${versionOf(clip.model)}/video_generation`, pasted),
    body: given({
      ...clip.more,
      model: clip.model,
      prompt: clip.prompt,
      duration: clip.seconds,
      resolution: clip.resolution.toUpperCase(),
      aspect_ratio: versionOf(clip.model) === '/v2' ? clip.ratio : '',
      generate_audio: versionOf(clip.model) === '/v2' ? clip.hasSound : undefined,
      ...picturesOf(clip),
    }),
  }),
  accepted(reply) {
    const status = objectAt(reply, 'base_resp')
    const code = status?.status_code ?? 0
    if (code !== 0) {
      const refused = { code: String(code), reason: textAt(status ?? {}, 'status_msg') }
      return ofAccount.has(String(code)) ? { ...refused, isChannels: true } : refused
    }
    return textAt(reply, 'task_id') || textAt(reply, 'id') || reasonIn(reply)
  },
  query: (channel, { id, model }) => ({
    method: 'GET',
    url:
      versionOf(model) === '/v2'
        ? joinUrl(channel.baseUrl, `/v2/query/video_generation/${encodeURIComponent(id)}`, pasted)
        : joinUrl(channel.baseUrl, `/v1/query/video_generation?task_id=${encodeURIComponent(id)}`, pasted),
  }),
  read(reply, channel) {
    switch (textAt(reply, 'status').toLowerCase()) {
      case 'preparing':
      case 'queueing':
      case 'queued':
        return { state: 'queued' }
      case 'processing':
      case 'running':
        return { state: 'running' }
      case 'success':
      case 'succeeded':
        return done(reply, channel)
      case 'fail':
      case 'failed':
      case 'cancelled': {
        const told = textAt(objectAt(reply, 'base_resp') ?? {}, 'status_msg')
        return { state: 'failed', reason: reasonIn(reply).reason || (told === 'success' ? '' : told) }
      }
      default:
        return { state: 'unknown' }
    }
  },
}

/** Too many requests, a wrong key, no balance. */
const ofAccount: ReadonlySet<string> = new Set(['1002', '1004', '1008', '2049', '2056'])

function versionOf(model: string): '/v1' | '/v2' {
  return /minimax-h\d/i.test(model) ? '/v2' : '/v1'
}

function picturesOf({ model, first, last, references }: OrderedClip): JsonObject {
  const subject = references.length > 0 ? [{ type: 'character', image: references.map(pictureUrl) }] : undefined
  return {
    first_frame_image: first && pictureUrl(first),
    last_frame_image: last && pictureUrl(last),
    ...(versionOf(model) === '/v2'
      ? { reference_images: references.length > 0 ? references.map(pictureUrl) : undefined }
      : { subject_reference: subject }),
  }
}

function done(reply: JsonObject, channel: Upstream): JobState {
  const video = objectAt(reply, 'video') ?? objectAt(reply, 'content') ?? reply
  const url = textAt(video, 'url') || textAt(video, 'video_url') || textAt(video, 'download_url')
  const seconds = secondsIn(video, 'duration') ?? secondsIn(reply, 'duration')
  if (url !== '') return { state: 'done', files: [{ url }], seconds }
  const id = textAt(reply, 'file_id')
  if (id === '') return { state: 'done', files: [] }
  const where = joinUrl(channel.baseUrl, `/v1/files/retrieve?file_id=${encodeURIComponent(id)}`, pasted)
  return { state: 'done', files: [{ url: where, isKeyed: true, pointer: ['file', 'download_url'] }], seconds }
}
