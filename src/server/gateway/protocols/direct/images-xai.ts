import { arrayAt, isObject, type JsonObject } from '../wire-format.ts'
import { type DirectConversion, refused } from './conversion.ts'
import { aspectRatioOf, readImageRequest, urlOf, writeImages } from './image-forms.ts'

/** Edits by Grok: JSON in place of a form. Source: reference of xAI's interface, read 2026-11. */
export const imageEditsByGrok: DirectConversion = {
  from: 'openai.image-edits',
  to: 'xai.image-edits',

  convert(asked) {
    const { upstreamModel } = asked
    const ask = readImageRequest(asked, ['aspect_ratio'])
    const aspectRatio = aspectRatioOf(asked, ask.size, grokRatios)
    const images = ask.images.map((source) => ({ type: 'image_url', url: urlOf(source) }))
    const json: JsonObject = {
      model: upstreamModel,
      prompt: ask.prompt,
      n: ask.count,
      response_format: ask.wantsBytes ? 'b64_json' : 'url',
      ...(images.length === 1 ? { image: images[0] } : { images }),
      ...(aspectRatio ? { aspect_ratio: aspectRatio } : {}),
    }
    return {
      requests: [{ json }],
      read(replies) {
        const made = replies.flatMap((reply) => arrayAt(reply, 'data')).filter(isObject)
        const data = made.flatMap(({ url, b64_json }): JsonObject[] => (url ? [{ url }] : b64_json ? [{ b64_json }] : []))
        return data.length > 0 ? { kind: 'json', body: writeImages(asked, data) } : refused('it made no image')
      },
    }
  },
}

/** Grok accepts aspect ratios instead of sizes. */
export const grokRatios = ['1:1', '2:3', '3:2', '3:4', '4:3', '9:16', '16:9', '1:2', '2:1']
