import { type JsonObject, objectAt, textAt } from '../../protocols/wire-format.ts'
import { addressPiece } from '../address-piece.ts'
import { bearer, joinUrl } from '../openai-compatible.ts'
import type { Upstream } from '../upstream.ts'
import { type ClipFile, given, type OrderedClip, pictureUrl, reasonIn, secondsIn, type VideoVendor } from './video-vendor.ts'

/**
 * OpenAI's `/v1/videos`, which OpenAI itself has closed and many hosts speak. It has sizes in pixels and no switch for sound; the
 * clip is read at `/content` with the key.
 */
export const openAiVideos: VideoVendor = {
  passes: [],
  headers: (channel) => ({
    ...bearer(channel.key),
    ...(channel.organization === '' ? {} : { 'openai-organization': channel.organization }),
  }),
  order: (channel, clip) => ({
    method: 'POST',
    url: joinUrl(channel.baseUrl, '/v1/videos', ['/v1']),
    body: given({
      model: clip.model,
      prompt: clip.prompt,
      seconds: String(clip.seconds),
      size: sizeOf(clip),
      input_reference: clip.first && { image_url: pictureUrl(clip.first) },
    }),
  }),
  accepted: (reply) => textAt(reply, 'id') || textAt(reply, 'task_id') || reasonIn(reply),
  query: (channel, { id }) => ({ method: 'GET', url: addressOf(channel, id) }),
  read(reply, channel, { id }) {
    const percent = Number(reply.progress)
    switch (textAt(reply, 'status')) {
      case 'queued':
      case 'pending':
        return { state: 'queued' }
      case 'in_progress':
      case 'processing':
        return { state: 'running', percent: Number.isFinite(percent) ? percent : undefined }
      case 'completed':
      case 'succeeded':
        return { state: 'done', files: [fileOf(reply, channel, id)], seconds: secondsIn(reply, 'seconds') }
      case 'failed':
      case 'cancelled':
      case 'expired':
        return { state: 'failed', reason: textAt(objectAt(reply, 'error') ?? {}, 'message') || textAt(reply, 'status') }
      default:
        return { state: 'unknown' }
    }
  },
}

function addressOf(channel: Upstream, id: string, more = ''): string {
  return joinUrl(channel.baseUrl, `/v1/videos/${addressPiece(id)}${more}`, ['/v1'])
}

/** Hosts of the family may tell a link of their own, which then works without the key. */
function fileOf(reply: JsonObject, channel: Upstream, id: string): ClipFile {
  const link = textAt(reply, 'video_url') || textAt(reply, 'url')
  return /^https?:/.test(link) ? { url: link } : { url: addressOf(channel, id, '/content'), isKeyed: true }
}

/** The size in pixels, which must be even. */
export function sizeOf({ resolution, ratio }: Pick<OrderedClip, 'resolution' | 'ratio'>): string {
  const short = shortSides[resolution] ?? (Number.parseInt(resolution, 10) || 0)
  if (short === 0) return ''
  // The only sizes of Sora that are not 16:9.
  if (short === 1024) return ratio === '9:16' ? '1024x1792' : '1792x1024'
  const [width = 16, height = 9] = (ratio || '16:9').split(':').map(Number)
  if (!(width > 0 && height > 0)) return ''
  const long = Math.round((short * Math.max(width, height)) / Math.min(width, height) / 2) * 2
  return width >= height ? `${long}x${short}` : `${short}x${long}`
}

const shortSides: Readonly<Record<string, number>> = { '2k': 1440, '4k': 2160 }
