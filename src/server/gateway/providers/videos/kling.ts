import { createHmac } from 'node:crypto'
import { arrayAt, isObject, type JsonObject, objectAt, textAt } from '../../protocols/wire-format.ts'
import { addressPiece } from '../address-piece.ts'
import { bearer, joinUrl } from '../openai-compatible.ts'
import type { Upstream } from '../upstream.ts'
import {
  actionOf,
  given,
  pictureText,
  reasonIn,
  secondsIn,
  type VideoAction,
  type VideoRequest,
  type VideoVendor,
} from './video-vendor.ts'

const paths: Readonly<Record<VideoAction, string>> = {
  TEXT: '/v1/videos/text2video',
  IMAGE: '/v1/videos/image2video',
  REFERENCE: '/v1/videos/multi-image2video',
}
const modes: Readonly<Record<string, string>> = { '720p': 'std', '1080p': 'pro', '4k': '4k' }
const tokenSeconds = 1800

/**
 * Kling's own interface. The key is `access key|secret key`, of which each call makes a token that is valid for half an hour; a key
 * without `|` is sent as it is, for hosts that resell it. Sizes are modes there, and the length is a text.
 */
export const kling: VideoVendor = {
  headers: ({ key }) => bearer(klingToken(key, Date.now())),
  passes: ['cfg_scale', 'camera_control', 'static_mask', 'dynamic_masks', 'watermark_info'],
  order(channel, clip) {
    const action = actionOf(clip)
    const { first, last, references } = clip
    return {
      ...request(channel, 'POST', paths[action]),
      body: given({
        ...clip.more,
        model_name: clip.model,
        prompt: clip.prompt,
        negative_prompt: clip.negativePrompt,
        duration: String(clip.seconds),
        mode: modes[clip.resolution],
        sound: clip.hasSound === undefined ? undefined : clip.hasSound ? 'on' : 'off',
        aspect_ratio: action === 'IMAGE' ? '' : clip.ratio,
        image: first && pictureText(first),
        image_tail: last && pictureText(last),
        image_list: action === 'REFERENCE' ? references.map((each) => ({ image: pictureText(each) })) : undefined,
      }),
    }
  },
  accepted(reply) {
    const data = objectAt(reply, 'data')
    return (reply.code === 0 && data && textAt(data, 'task_id')) || reasonIn(reply)
  },
  query: (channel, { id, action }) => request(channel, 'GET', `${paths[action]}/${addressPiece(id)}`),
  read(reply) {
    const data = objectAt(reply, 'data') ?? {}
    switch (textAt(data, 'task_status')) {
      case 'submitted':
        return { state: 'queued' }
      case 'processing':
        return { state: 'running' }
      case 'succeed': {
        const videos = arrayAt(objectAt(data, 'task_result') ?? {}, 'videos').filter(isObject)
        const files = videos.flatMap((video) => (textAt(video, 'url') === '' ? [] : [{ url: textAt(video, 'url') }]))
        return { state: 'done', files, seconds: secondsIn(videos[0], 'duration') }
      }
      case 'failed':
        return { state: 'failed', reason: textAt(data, 'task_status_msg') || textAt(reply, 'message') }
      default:
        return { state: 'unknown' }
    }
  },
}

function request(channel: Upstream, method: VideoRequest['method'], path: string): VideoRequest {
  return { method, url: joinUrl(channel.baseUrl, path) }
}

/** A JWT of the secret key. A key that is no pair is a token itself. */
function klingToken(key: string, nowMs: number): string {
  const [access = '', secret = ''] = key.split('|')
  if (access === '' || secret === '') return key
  const now = Math.floor(nowMs / 1000)
  const part = (value: JsonObject) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const head = part({ alg: 'HS256', typ: 'JWT' })
  const body = part({ iss: access, exp: now + tokenSeconds, nbf: now - 5 })
  return `${head}.${body}.${createHmac('sha256', secret).update(`${head}.${body}`).digest('base64url')}`
}
