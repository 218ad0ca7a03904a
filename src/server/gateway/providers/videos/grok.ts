import { objectAt, textAt } from '../../protocols/wire-format.ts'
import { addressPiece } from '../address-piece.ts'
import { joinUrl } from '../openai-compatible.ts'
import { given, pictureUrl, reasonIn, secondsIn, type VideoVendor } from './video-vendor.ts'

/** xAI. Its links are short-lived. */
export const grok: VideoVendor = {
  serves: (model) => /video/i.test(model),
  passes: [],
  order: (channel, clip) => ({
    method: 'POST',
    url: joinUrl(channel.baseUrl, '/v1/videos/generations'),
    body: given({
      model: clip.model,
      prompt: clip.prompt,
      duration: clip.seconds,
      resolution: clip.resolution,
      aspect_ratio: clip.ratio,
      image: clip.first && { url: pictureUrl(clip.first) },
      reference_images: clip.references.length > 0 ? clip.references.map((each) => ({ url: pictureUrl(each) })) : undefined,
    }),
  }),
  accepted: (reply) => textAt(reply, 'request_id') || reasonIn(reply),
  query: (channel, { id }) => ({
    method: 'GET',
    url: joinUrl(channel.baseUrl, `/v1/videos/${addressPiece(id)}`),
  }),
  read(reply) {
    const video = objectAt(reply, 'video')
    const url = video ? textAt(video, 'url') : ''
    const isModerated = video?.respect_moderation === false || reply.respect_moderation === false
    switch (textAt(reply, 'status') || (url === '' ? '' : 'done')) {
      case 'pending':
        return { state: 'running' }
      case 'done':
        if (isModerated) return { state: 'failed', reason: 'moderation' }
        return { state: 'done', files: url === '' ? [] : [{ url }], seconds: secondsIn(video, 'duration') }
      case 'failed':
      case 'expired':
        return { state: 'failed', reason: reasonIn(reply).reason || textAt(reply, 'status') }
      default:
        return { state: 'unknown' }
    }
  },
}
