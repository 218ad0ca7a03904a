import { type JsonObject, objectAt, textAt } from '../../protocols/wire-format.ts'
import { addressPiece } from '../address-piece.ts'
import { joinUrl } from '../openai-compatible.ts'
import { given, type OrderedClip, pictureUrl, reasonIn, secondsIn, type VideoVendor } from './video-vendor.ts'

const pasted = ['/compatible-mode/v1', '/api/v1']

/**
 * Wan, Happyhorse and Vidu on DashScope. Jobs and links last a day, in the region that made them; a job that it does not know is
 * answered with 200 and `UNKNOWN`.
 */
export const wan: VideoVendor = {
  serves: (model) => /wan|happyhorse|vidu|video|kling|pixverse/i.test(model),
  passes: ['watermark', 'prompt_extend', 'shot_type', 'template'],
  order: (channel, clip) => ({
    method: 'POST',
    url: joinUrl(channel.baseUrl, '/api/v1/services/aigc/video-generation/video-synthesis', pasted),
    headers: { 'x-dashscope-async': 'enable' },
    body: {
      model: clip.model,
      input: given({ prompt: clip.prompt, negative_prompt: clip.negativePrompt, ...picturesOf(clip) }),
      parameters: given({
        ...clip.more,
        duration: clip.seconds,
        ...sizeOf(clip),
        audio: clip.hasSound,
        seed: clip.seed,
      }),
    },
  }),
  accepted: (reply) => textAt(objectAt(reply, 'output') ?? {}, 'task_id') || reasonIn(reply),
  query: (channel, { id }) => ({
    method: 'GET',
    url: joinUrl(channel.baseUrl, `/api/v1/tasks/${addressPiece(id)}`, pasted),
  }),
  read(reply) {
    const output = objectAt(reply, 'output') ?? {}
    switch (textAt(output, 'task_status')) {
      case 'PENDING':
        return { state: 'queued' }
      case 'RUNNING':
        return { state: 'running' }
      case 'SUCCEEDED': {
        const url = textAt(output, 'video_url')
        const usage = objectAt(reply, 'usage')
        return {
          state: 'done',
          files: url === '' ? [] : [{ url }],
          seconds: secondsIn(usage, 'output_video_duration', 'video_duration', 'duration'),
        }
      }
      case 'FAILED':
      case 'CANCELED':
        return { state: 'failed', reason: textAt(output, 'message') || textAt(output, 'code') || textAt(output, 'task_status') }
      default:
        return { state: 'unknown' }
    }
  },
}

/** From Wan 2.7 on, pictures are a list of media with their roles; older models have a member for each. */
function picturesOf({ model, first, last, references }: OrderedClip): JsonObject {
  const isOld = /wan(x|2\.[0-6])/i.test(model)
  if (isOld) {
    return {
      img_url: first && !last ? pictureUrl(first) : undefined,
      first_frame_url: first && last ? pictureUrl(first) : undefined,
      last_frame_url: last && pictureUrl(last),
      ref_images_url: references.length > 0 ? references.map(pictureUrl) : undefined,
    }
  }
  const media = [
    ...(first ? [{ type: 'first_frame', url: pictureUrl(first) }] : []),
    ...(last ? [{ type: 'last_frame', url: pictureUrl(last) }] : []),
    ...references.map((each) => ({ type: 'reference_image', url: pictureUrl(each) })),
  ]
  return { media: media.length > 0 ? media : undefined }
}

/** Models up to 2.6 take the size of a clip from a text in pixels; all others its resolution and ratio. */
function sizeOf({ model, resolution, ratio, first }: OrderedClip): JsonObject {
  const isOld = /wan(x|2\.[0-6])-?t2v/i.test(model)
  if (!isOld || first) return { resolution: resolution.toUpperCase(), ratio: first ? '' : ratio }
  const short = Number.parseInt(resolution, 10)
  const [width = 16, height = 9] = (ratio || '16:9').split(':').map(Number)
  if (!(short > 0 && width > 0 && height > 0)) return {}
  const long = Math.round((short * Math.max(width, height)) / Math.min(width, height) / 2) * 2
  return { size: width >= height ? `${long}*${short}` : `${short}*${long}` }
}
