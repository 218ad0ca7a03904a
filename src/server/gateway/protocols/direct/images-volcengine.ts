import type { CallerFormat } from '../format.ts'
import { arrayAt, isObject, type JsonObject, textAt } from '../wire-format.ts'
import { type DirectConversion, refused } from './conversion.ts'
import { readImageRequest, urlOf, writeImages } from './image-forms.ts'

/**
 * Images by VolcEngine: one for each call, since its member for several leaves their number to the model. Input images are in the same
 * request. It bills by the image, so that its reported tokens are not passed on. Source: reference of its interface, read 2026-11;
 * edge case 236.
 */
const byVolcEngine = (from: CallerFormat): DirectConversion => ({
  from,
  to: 'volcengine.images',

  convert(asked) {
    const { body, upstreamModel } = asked
    const ask = readImageRequest(asked, ['size', ...vendorMembers])
    const size = textAt(body, 'size')
    const [first, ...others] = ask.images.map(urlOf)
    const own = Object.fromEntries(vendorMembers.filter((word) => body[word] !== undefined).map((word) => [word, body[word]]))
    // A series of related images is requested in one call.
    const isSeries = body.sequential_image_generation === 'auto'
    const json = {
      model: upstreamModel,
      prompt: ask.prompt,
      ...(size === '' || size === 'auto' ? {} : { size }),
      ...(first === undefined ? {} : { image: others.length > 0 ? [first, ...others] : first }),
      response_format: ask.wantsBytes ? 'b64_json' : 'url',
      ...own,
      ...(isSeries ? { sequential_image_generation_options: { max_images: ask.count } } : {}),
    }
    return {
      requests: Array.from({ length: isSeries ? 1 : ask.count }, () => ({ json })),
      takesSome: true,
      read(replies) {
        const made = replies.flatMap((reply) => arrayAt(reply, 'data')).filter(isObject)
        const images = made.flatMap(({ url, b64_json }): JsonObject[] => (url ? [{ url }] : b64_json ? [{ b64_json }] : []))
        return images.length > 0 ? { kind: 'json', body: writeImages(asked, images) } : refused('it made no image')
      },
    }
  },
})

export const imagesByVolcEngine = byVolcEngine('openai.images')
export const imageEditsByVolcEngine = byVolcEngine('openai.image-edits')

const vendorMembers = ['watermark', 'seed', 'guidance_scale', 'sequential_image_generation', 'optimize_prompt_options']
