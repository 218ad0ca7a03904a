import { arrayAt, isObject, textAt } from '../../protocols/wire-format.ts'
import { addressPiece } from '../address-piece.ts'
import { joinUrl } from '../openai-compatible.ts'
import { given, type OrderedClip, pictureUrl, reasonIn, secondsIn, type VideoVendor } from './video-vendor.ts'

/** Vidu's own interface. Links last a day. */
export const vidu: VideoVendor = {
  headers: ({ key }): Record<string, string> => (key === '' ? {} : { authorization: `Token ${key}` }),
  passes: ['style', 'movement_amplitude', 'bgm', 'watermark'],
  order: (channel, clip) => ({
    method: 'POST',
    url: joinUrl(channel.baseUrl, `/ent/v2/${wayOf(clip)}`),
    body: given({
      ...clip.more,
      model: clip.model,
      prompt: clip.prompt,
      duration: clip.seconds,
      resolution: clip.resolution,
      aspect_ratio: wayOf(clip) === 'img2video' ? '' : clip.ratio,
      audio: clip.hasSound,
      seed: clip.seed,
      images: imagesOf(clip),
    }),
  }),
  accepted: (reply) => textAt(reply, 'task_id') || reasonIn(reply),
  query: (channel, { id }) => ({
    method: 'GET',
    url: joinUrl(channel.baseUrl, `/ent/v2/tasks/${addressPiece(id)}/creations`),
  }),
  read(reply) {
    switch (textAt(reply, 'state')) {
      case 'created':
      case 'queueing':
        return { state: 'queued' }
      case 'processing':
        return { state: 'running' }
      case 'success': {
        const creations = arrayAt(reply, 'creations').filter(isObject)
        const files = creations.flatMap((each) => (textAt(each, 'url') === '' ? [] : [{ url: textAt(each, 'url') }]))
        return { state: 'done', files, seconds: secondsIn(reply, 'duration') }
      }
      case 'failed':
        return { state: 'failed', reason: textAt(reply, 'err_code') || reasonIn(reply).reason }
      default:
        return { state: 'unknown' }
    }
  },
}

function wayOf({ first, last, references }: OrderedClip): string {
  if (first && last) return 'start-end2video'
  if (first) return 'img2video'
  return references.length > 0 ? 'reference2video' : 'text2video'
}

function imagesOf({ first, last, references }: OrderedClip): string[] | undefined {
  const images = first ? [first, ...(last ? [last] : [])] : references
  return images.length > 0 ? images.map(pictureUrl) : undefined
}
