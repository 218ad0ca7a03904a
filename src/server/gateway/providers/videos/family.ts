import { isObject, type JsonObject, objectAt, textAt } from '../../protocols/wire-format.ts'
import { addressPiece } from '../address-piece.ts'
import { joinUrl } from '../openai-compatible.ts'
import { sizeOf } from './openai-videos.ts'
import { given, type OrderedClip, pictureUrl, reasonIn, secondsIn, type VideoVendor } from './video-vendor.ts'

const path = '/v1/video/generations'

/** `/v1/video/generations`, which gateways of this family speak. Older ones wrap the answer in `data`. */
export const familyVideos: VideoVendor = {
  passes: ['fps', 'style', 'watermark', 'camera_control'],
  order: (channel, clip) => ({
    method: 'POST',
    url: joinUrl(channel.baseUrl, path, ['/v1']),
    body: given({
      model: clip.model,
      prompt: clip.prompt,
      duration: clip.seconds,
      ...pixelsOf(clip),
      seed: clip.seed,
      n: clip.pieces === 1 ? undefined : clip.pieces,
      image: clip.first && pictureUrl(clip.first),
      metadata: given({
        ...clip.more,
        resolution: clip.resolution,
        aspect_ratio: clip.ratio,
        negative_prompt: clip.negativePrompt,
        generate_audio: clip.hasSound,
        image_tail: clip.last && pictureUrl(clip.last),
        reference_images: clip.references.length > 0 ? clip.references.map(pictureUrl) : undefined,
      }),
    }),
  }),
  piecesMax: 10,
  accepted: (reply) => textAt(unwrapped(reply), 'task_id') || textAt(unwrapped(reply), 'id') || reasonIn(reply),
  query: (channel, { id }) => ({
    method: 'GET',
    url: joinUrl(channel.baseUrl, `${path}/${addressPiece(id)}`, ['/v1']),
  }),
  read(reply) {
    const task = unwrapped(reply)
    switch (textAt(task, 'status').toLowerCase()) {
      case 'queued':
      case 'submitted':
      case 'not_start':
        return { state: 'queued' }
      case 'in_progress':
      case 'processing':
        return { state: 'running', percent: Number.parseInt(String(task.progress ?? ''), 10) || undefined }
      case 'completed':
      case 'succeeded':
      case 'success': {
        // The first of them that is a link; some put it where the reason of a failure stands.
        const url = [task.url, task.video_url, task.result_url, task.fail_reason].find(isLink)
        const seconds = secondsIn(objectAt(task, 'metadata'), 'duration')
        return { state: 'done', files: url === undefined ? [] : [{ url }], seconds }
      }
      case 'failed':
      case 'failure':
        return { state: 'failed', reason: textAt(task, 'fail_reason') || reasonIn(task).reason || 'failed' }
      default:
        return { state: 'unknown' }
    }
  },
}

function unwrapped(reply: JsonObject): JsonObject {
  return isObject(reply.data) ? reply.data : reply
}

function isLink(value: unknown): value is string {
  return typeof value === 'string' && /^https?:\/\//.test(value)
}

function pixelsOf(clip: OrderedClip): JsonObject {
  const [width, height] = sizeOf(clip).split('x').map(Number)
  return width && height ? { width, height } : {}
}
