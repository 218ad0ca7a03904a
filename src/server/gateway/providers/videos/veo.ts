import { parseUrl } from '../../../base/lib/net/parse-url.ts'
import { arrayAt, isObject, type JsonObject, objectAt, textAt } from '../../protocols/wire-format.ts'
import type { Upstream } from '../upstream.ts'
import {
  type ClipFile,
  given,
  type JobState,
  type OrderedClip,
  type Picture,
  reasonIn,
  type VideoRequest,
  type VideoVendor,
} from './video-vendor.ts'

function isVeo(model: string): boolean {
  return /^(models\/|google\/|publishers\/google\/models\/)?veo/i.test(model)
}

/** The addresses of the two hosts of Veo. */
interface VeoHost {
  headers(channel: Upstream): Record<string, string>
  orderUrl(channel: Upstream, model: string): string
  query(channel: Upstream, job: { readonly id: string; readonly model: string }): VideoRequest
}

/**
 * Veo as Gemini and Vertex AI serve it: an operation, whose name is the id of the job. A clip that Google's filters keep back is not
 * in the answer, which says why.
 */
export function veo(host: VeoHost): VideoVendor {
  return {
    serves: isVeo,
    piecesMax: 4,
    needsBytes: true,
    headers: host.headers,
    passes: ['personGeneration', 'enhancePrompt', 'compressionQuality', 'resizeMode'],
    order: (channel, clip) => ({
      method: 'POST',
      url: host.orderUrl(channel, clip.model),
      body: { instances: [instanceOf(clip)], parameters: parametersOf(clip) },
    }),
    accepted: (reply) => textAt(reply, 'name') || reasonIn(reply),
    query: host.query,
    inline: (reply, index) => textAt(videosIn(objectAt(reply, 'response') ?? {})[index] ?? {}, 'bytesBase64Encoded'),
    read(reply, channel) {
      if (reply.done !== true) return { state: 'running' }
      const error = objectAt(reply, 'error')
      if (error) return { state: 'failed', reason: textAt(error, 'message') || 'error' }
      return delivered(objectAt(reply, 'response') ?? {}, channel)
    },
  }
}

function instanceOf({ prompt, first, last, references }: OrderedClip): JsonObject {
  return given({
    prompt,
    image: first && bytesOf(first),
    lastFrame: last && bytesOf(last),
    referenceImages:
      references.length > 0 ? references.map((each) => ({ image: bytesOf(each), referenceType: 'asset' })) : undefined,
  })
}

function bytesOf(picture: Picture): JsonObject | undefined {
  return picture.kind === 'bytes' ? { bytesBase64Encoded: picture.base64, mimeType: picture.mediaType } : undefined
}

function parametersOf(clip: OrderedClip): JsonObject {
  return given({
    ...clip.more,
    durationSeconds: clip.seconds,
    resolution: clip.resolution,
    aspectRatio: clip.ratio,
    negativePrompt: clip.negativePrompt,
    generateAudio: clip.hasSound,
    seed: clip.seed,
    ...(clip.pieces === 1 ? {} : { sampleCount: clip.pieces }),
  })
}

function delivered(response: JsonObject, channel: Upstream): JobState {
  const videos = videosIn(response)
  const files = videos.flatMap((video): ClipFile[] => {
    const uri = textAt(video, 'uri') || textAt(video, 'gcsUri')
    const url = uri.startsWith('gs://') ? `https://storage.googleapis.com/${uri.slice('gs://'.length)}` : uri
    if (!/^https?:/.test(url)) return []
    return [isOfGoogle(url, channel) ? { url, isKeyed: true } : { url }]
  })
  if (files.length > 0) return { state: 'done', files }
  const inline = videos.filter((video) => textAt(video, 'bytesBase64Encoded') !== '')
  if (inline.length > 0) return { state: 'done-inline', pieces: inline.length }
  const of = objectAt(response, 'generateVideoResponse') ?? {}
  const reasons = [...arrayAt(of, 'raiMediaFilteredReasons'), ...arrayAt(response, 'raiMediaFilteredReasons')]
  return { state: 'failed', reason: reasons.filter((each) => typeof each === 'string').join(' ') || 'filtered' }
}

/** The clips of Gemini's answer, or of Vertex AI's. */
function videosIn(response: JsonObject): JsonObject[] {
  const samples = arrayAt(objectAt(response, 'generateVideoResponse') ?? {}, 'generatedSamples').filter(isObject)
  return [...samples.map((sample) => objectAt(sample, 'video') ?? {}), ...arrayAt(response, 'videos').filter(isObject)]
}

/** Only Google's own hosts, and the channel's, get the key. */
function isOfGoogle(url: string, { baseUrl }: Upstream): boolean {
  const { hostname = '', protocol, origin } = parseUrl(url) ?? {}
  return (protocol === 'https:' && hostname.endsWith('.googleapis.com')) || origin === parseUrl(baseUrl)?.origin
}
