import type { CallerFormat } from '../format.ts'
import { arrayAt, isObject, type JsonObject, textAt } from '../wire-format.ts'
import { type DirectConversion, refused } from './conversion.ts'
import { readImageRequest, urlOf, writeImages } from './image-forms.ts'

/**
 * Images by SiliconFlow: its own members for size and number, which only one model supports. Input images are separate members. Its
 * URLs expire after an hour. Source: reference of its interface, read 2026-11.
 */
const bySiliconFlow = (from: CallerFormat): DirectConversion => ({
  from,
  to: 'siliconflow.images',

  convert(asked) {
    const { body, upstreamModel } = asked
    const ask = readImageRequest(asked, vendorMembers)
    const takesSeveral = /kolors/i.test(upstreamModel) && ask.count <= batchMax
    const own = Object.fromEntries(vendorMembers.filter((word) => body[word] !== undefined).map((word) => [word, body[word]]))
    const json: JsonObject = {
      model: upstreamModel,
      prompt: ask.prompt,
      ...(ask.size ? { image_size: textAt(body, 'size') } : {}),
      ...(takesSeveral ? { batch_size: ask.count } : {}),
      ...Object.fromEntries(ask.images.slice(0, places.length).map((source, at) => [places[at], urlOf(source)])),
      ...own,
    }
    if (ask.images.length > places.length) asked.lose('image')
    return {
      requests: Array.from({ length: takesSeveral ? 1 : ask.count }, () => ({ json })),
      takesSome: true,
      ...(ask.wantsBytes ? { inlinesImages: true } : {}),
      read(replies) {
        const made = replies.flatMap((reply) => [...arrayAt(reply, 'images'), ...(reply.images ? [] : arrayAt(reply, 'data'))])
        const images = made.filter(isObject).filter((image) => textAt(image, 'url') !== '')
        if (images.length === 0) return refused('it made no image')
        return {
          kind: 'json',
          body: writeImages(
            asked,
            images.map(({ url }) => ({ url })),
          ),
        }
      },
    }
  },
})

export const imagesBySiliconFlow = bySiliconFlow('openai.images')
export const imageEditsBySiliconFlow = bySiliconFlow('openai.image-edits')

const batchMax = 4
const places = ['image', 'image2', 'image3']
const vendorMembers = ['image_size', 'negative_prompt', 'seed', 'num_inference_steps', 'guidance_scale', 'cfg']
