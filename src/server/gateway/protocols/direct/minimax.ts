import { fail } from '../../../base/lib/failure.ts'
import { arrayAt, type JsonObject, objectAt, textAt } from '../wire-format.ts'
import { type DirectConversion, loseAllBut, refused } from './conversion.ts'
import { aspectRatioOf, readImageRequest, writeImages } from './image-forms.ts'

/** Images by MiniMax, up to nine per call, as URLs or bytes. Source: reference of its interface, read 2026-11. */
export const imagesByMiniMax: DirectConversion = {
  from: 'openai.images',
  to: 'minimax.images',

  convert(asked) {
    const { body, upstreamModel } = asked
    const ask = readImageRequest(asked, ['aspect_ratio', 'seed', 'prompt_optimizer'])
    if (ask.images.length > 0)
      fail('untranslatable', { field: 'image', reason: { zh: '该模型不接受图片', en: 'the model takes no images' } })
    const aspectRatio = aspectRatioOf(asked, ask.size, ratios)
    const requestOf = (n: number): JsonObject => ({
      model: upstreamModel,
      prompt: ask.prompt,
      n,
      response_format: ask.wantsBytes ? 'base64' : 'url',
      ...(aspectRatio ? { aspect_ratio: aspectRatio } : {}),
      ...Object.fromEntries(
        ['seed', 'prompt_optimizer'].flatMap((word) => (body[word] === undefined ? [] : [[word, body[word]]])),
      ),
    })
    const shares = ask.count > perCall ? [perCall, ask.count - perCall] : [ask.count]
    return {
      requests: shares.map((share) => ({ json: requestOf(share) })),
      takesSome: true,
      read(replies) {
        const made = replies.map((reply) => objectAt(reply, 'data') ?? {})
        const images = made.flatMap((data) => [
          ...arrayAt(data, 'image_urls').map((url) => ({ url })),
          ...arrayAt(data, 'image_base64').map((bytes) => ({ b64_json: bytes })),
        ])
        return images.length > 0 ? { kind: 'json', body: writeImages(asked, images) } : refused('it made no image')
      },
    }
  },
}

/** Speech by MiniMax, which returns audio as hexadecimal digits in JSON. */
export const speechByMiniMax: DirectConversion = {
  from: 'openai.speech',
  to: 'minimax.speech',

  convert(asked) {
    const { body, upstreamModel } = asked
    const format = textAt(body, 'response_format') || 'mp3'
    const mediaType = mediaTypes.get(format)
    if (!mediaType) fail('untranslatable', { field: 'response_format', reason: someFormats })
    if (asked.stream) fail('untranslatable', { field: 'stream_format', reason: noEvents })
    loseAllBut(asked, ['model', 'input', 'voice', 'speed', 'response_format', 'stream_format'])
    const voice = textAt(body, 'voice') || textAt(objectAt(body, 'voice') ?? {}, 'id')
    const speed = typeof body.speed === 'number' ? { speed: Math.min(2, Math.max(0.5, body.speed)) } : {}
    const json = {
      model: upstreamModel,
      text: textAt(body, 'input'),
      stream: false,
      output_format: 'hex',
      voice_setting: { ...(voice === '' ? {} : { voice_id: voice }), ...speed },
      audio_setting: { format, ...(format === 'pcm' ? { sample_rate: pcmRateHz } : {}) },
    }
    return {
      requests: [{ json }],
      read([reply = {}]) {
        const bytes = Buffer.from(textAt(objectAt(reply, 'data') ?? {}, 'audio'), 'hex')
        return bytes.length > 0 ? { kind: 'bytes', contentType: mediaType, bytes, usage: undefined } : refused('it said nothing')
      },
    }
  },
}

const ratios = ['1:1', '16:9', '4:3', '3:2', '2:3', '3:4', '9:16', '21:9']
const perCall = 9
/** The rate of OpenAI's raw samples, which have no header that names it; MiniMax's own default is 32 kHz. */
const pcmRateHz = 24_000
const someFormats = { zh: '该渠道只给出 mp3、wav、flac 和 pcm', en: 'the channel only gives mp3, wav, flac and pcm' }
const noEvents = { zh: '该渠道只给出完整的文件', en: 'the channel only gives whole files' }

const mediaTypes: ReadonlyMap<string, string> = new Map([
  ['mp3', 'audio/mpeg'],
  ['wav', 'audio/wav'],
  ['flac', 'audio/flac'],
  ['pcm', 'audio/pcm'],
])
