import { objectAt, textAt } from '../../protocols/wire-format.ts'
import { addressPiece } from '../address-piece.ts'
import { joinUrl } from '../openai-compatible.ts'
import { given, type OrderedClip, pictureUrl, reasonIn, secondsIn, type VideoVendor } from './video-vendor.ts'

const path = '/api/v3/contents/generations/tasks'

/** Seedance on Volcengine's Ark. The link of a clip lasts about a day. */
export const seedance: VideoVendor = {
  serves: (model) => /seedance|seaweed|wan|^ep-|video/i.test(model),
  passes: ['camera_fixed', 'watermark', 'return_last_frame'],
  order: (channel, clip) => ({
    method: 'POST',
    url: joinUrl(channel.baseUrl, path),
    body: given({
      ...clip.more,
      model: clip.model,
      content: contentOf(clip),
      duration: clip.seconds,
      resolution: clip.resolution,
      ratio: clip.ratio,
      generate_audio: clip.hasSound,
      seed: clip.seed,
    }),
  }),
  accepted: (reply) => textAt(reply, 'id') || reasonIn(reply),
  query: (channel, { id }) => ({
    method: 'GET',
    url: joinUrl(channel.baseUrl, `${path}/${addressPiece(id)}`),
  }),
  read(reply) {
    switch (textAt(reply, 'status')) {
      case 'queued':
        return { state: 'queued' }
      case 'running':
        return { state: 'running' }
      case 'succeeded': {
        const url = textAt(objectAt(reply, 'content') ?? {}, 'video_url')
        return { state: 'done', files: url === '' ? [] : [{ url }], seconds: secondsIn(reply, 'duration') }
      }
      case 'failed':
      case 'cancelled':
      case 'expired':
        return { state: 'failed', reason: reasonIn(reply).reason || textAt(reply, 'status') }
      default:
        return { state: 'unknown' }
    }
  },
}

function contentOf({ prompt, first, last, references }: OrderedClip) {
  const picture = (url: string, role: string) => ({ type: 'image_url', image_url: { url }, role })
  return [
    { type: 'text', text: prompt },
    ...(first ? [picture(pictureUrl(first), 'first_frame')] : []),
    ...(last ? [picture(pictureUrl(last), 'last_frame')] : []),
    ...references.map((each) => picture(pictureUrl(each), 'reference_image')),
  ]
}
