import { fail } from '../../../base/lib/failure.ts'
import { arrayAt, isObject, type JsonObject, textAt } from '../wire-format.ts'
import { type DirectConversion, refused } from './conversion.ts'
import { aspectRatioOf, readImageRequest, writeImages } from './image-forms.ts'

/** Images by Imagen, up to four per call. It returns bytes and never a URL. Source: protocols notes 2.5. */
export const imagesByImagen: DirectConversion = {
  from: 'openai.images',
  to: 'gemini.predict',

  convert(asked) {
    const { body, lose } = asked
    const ask = readImageRequest(asked, ['aspect_ratio', 'output_format'])
    if (ask.images.length > 0)
      fail('untranslatable', { field: 'image', reason: { zh: '该模型不接受图片', en: 'the model takes no images' } })
    if (body.response_format === 'url') lose('response_format')
    const aspectRatio = aspectRatioOf(asked, ask.size, ratios)
    const isLarge = ask.size !== undefined && Math.max(ask.size.width, ask.size.height) >= 1600
    const mimeType = mediaTypes.get(textAt(body, 'output_format'))
    const requestOf = (sampleCount: number): JsonObject => ({
      instances: [{ prompt: ask.prompt }],
      parameters: {
        sampleCount,
        ...(aspectRatio ? { aspectRatio } : {}),
        ...(isLarge ? { sampleImageSize: '2K' } : {}),
        ...(mimeType ? { outputOptions: { mimeType } } : {}),
      },
    })
    return {
      requests: sharesOf(ask.count).map((share) => ({ json: requestOf(share) })),
      takesSome: true,
      read(replies) {
        const predictions = replies.flatMap((reply) => arrayAt(reply, 'predictions')).filter(isObject)
        const images = predictions.flatMap((made) => textAt(made, 'bytesBase64Encoded') || []).map((data) => ({ b64_json: data }))
        const [filtered] = predictions.flatMap((made) => textAt(made, 'raiFilteredReason') || [])
        if (images.length > 0) return { kind: 'json', body: writeImages(asked, images) }
        return refused(filtered ?? 'The image was refused', { status: 400, code: 'content_policy_violation' })
      },
    }
  },
}

const ratios = ['1:1', '3:4', '4:3', '9:16', '16:9']
const perCall = 4
const mediaTypes: ReadonlyMap<string, string> = new Map([
  ['png', 'image/png'],
  ['jpeg', 'image/jpeg'],
])

function sharesOf(count: number): number[] {
  return Array.from({ length: Math.ceil(count / perCall) }, (_, at) => Math.min(perCall, count - at * perCall))
}
