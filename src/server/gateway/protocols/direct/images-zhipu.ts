import { fail } from '../../../base/lib/failure.ts'
import { arrayAt, isObject, textAt } from '../wire-format.ts'
import { type DirectConversion, refused } from './conversion.ts'
import { readImageRequest, writeImages } from './image-forms.ts'

/** Images by Zhipu: one per call, returned as a URL. Source: reference of its interface, read 2026-11; edge case 236. */
export const imagesByZhipu: DirectConversion = {
  from: 'openai.images',
  to: 'zhipu.images',

  convert(asked) {
    const { body, upstreamModel } = asked
    const ask = readImageRequest(asked, ['quality', 'user', 'user_id', 'watermark_enabled'])
    if (ask.images.length > 0)
      fail('untranslatable', { field: 'image', reason: { zh: '该模型不接受图片', en: 'the model takes no images' } })
    const quality = qualities.get(textAt(body, 'quality'))
    const user = textAt(body, 'user_id') || textAt(body, 'user')
    const json = {
      model: upstreamModel,
      prompt: ask.prompt,
      ...(ask.size ? { size: textAt(body, 'size') } : {}),
      ...(quality ? { quality } : {}),
      ...(user.length >= 6 && user.length <= 128 ? { user_id: user } : {}),
      ...(typeof body.watermark_enabled === 'boolean' ? { watermark_enabled: body.watermark_enabled } : {}),
    }
    return {
      requests: Array.from({ length: ask.count }, () => ({ json })),
      takesSome: true,
      ...(ask.wantsBytes ? { inlinesImages: true } : {}),
      read(replies) {
        const made = replies.flatMap((reply) => arrayAt(reply, 'data')).filter(isObject)
        const images = made.filter((image) => textAt(image, 'url') !== '').map(({ url }) => ({ url }))
        return images.length > 0 ? { kind: 'json', body: writeImages(asked, images) } : refused('it made no image')
      },
    }
  },
}

const qualities: ReadonlyMap<string, string> = new Map([
  ['standard', 'standard'],
  ['low', 'standard'],
  ['medium', 'standard'],
  ['hd', 'hd'],
  ['high', 'hd'],
])
