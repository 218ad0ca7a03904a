import { cachedTokens, completionTokens, noUsage, promptTokens, type Usage } from '../../../../contract/usage.ts'
import type { CallerFormat } from '../format.ts'
import { eitherObject, eitherText } from '../gemini-generate/members.ts'
import { readGeminiUsage } from '../gemini-generate/usage.ts'
import { arrayAt, isObject, type JsonObject, objectAt, textAt } from '../wire-format.ts'
import { type CallerRequest, type DirectAnswer, type DirectConversion, refused } from './conversion.ts'
import { aspectRatioOf, bytesOf, type ImageRequest, imageAddresses, readImageRequest, writeImages } from './image-forms.ts'

/**
 * Images by Gemini's models, which produce one per call and accept input images. They return bytes and never a URL. Source: protocols
 * notes 2.5, edge case 236.
 */
const byGemini = (from: CallerFormat): DirectConversion => ({
  from,
  to: 'gemini.generate',
  addressesIn: imageAddresses,

  convert(asked) {
    const ask = readImageRequest(asked, ['aspect_ratio'])
    if (asked.body.response_format === 'url') asked.lose('response_format')
    const json = requestOf(ask, asked)
    return {
      requests: Array.from({ length: ask.count }, () => ({ json })),
      takesSome: true,
      read: (replies) => answerOf(replies, asked),
    }
  },
})

export const imagesByGemini = byGemini('openai.images')
export const imageEditsByGemini = byGemini('openai.image-edits')

const ratios = ['1:1', '2:3', '3:2', '3:4', '4:3', '4:5', '5:4', '9:16', '16:9', '21:9']

function requestOf(ask: ImageRequest, asked: CallerRequest): JsonObject {
  const images = ask.images.map((source) => bytesOf(source, asked))
  return {
    contents: [
      {
        role: 'user',
        parts: [...images.map(({ mediaType, data }) => ({ inlineData: { mimeType: mediaType, data } })), { text: ask.prompt }],
      },
    ],
    generationConfig: { responseModalities: ['TEXT', 'IMAGE'], ...imageConfig(ask, asked) },
  }
}

/** Models before the third generation support only one image size. */
function imageConfig({ size }: ImageRequest, asked: CallerRequest): JsonObject {
  const aspectRatio = aspectRatioOf(asked, size, ratios)
  const longest = Math.max(size?.width ?? 0, size?.height ?? 0)
  const isLarge = longest >= 2000 && !/gemini-(2|1)\./.test(asked.upstreamModel)
  if (aspectRatio === '') return {}
  return { imageConfig: { aspectRatio, ...(isLarge ? { imageSize: longest >= 3000 ? '4K' : '2K' } : {}) } }
}

function answerOf(replies: readonly JsonObject[], asked: CallerRequest): DirectAnswer {
  const images = replies.flatMap(imagesIn)
  if (images.length === 0) return refusalOf(replies)
  const usages = replies.map((reply) => readGeminiUsage(reply))
  const usage = usages.every((one) => one !== undefined) ? usages.reduce(sumOf, noUsage) : undefined
  const data = images.map(({ data }) => ({ b64_json: data }))
  return { kind: 'json', body: writeImages(asked, data, { ...formatOf(images), ...(usage ? { usage: writeUsage(usage) } : {}) }) }
}

function partsIn(reply: JsonObject): JsonObject[] {
  return arrayAt(reply, 'candidates')
    .filter(isObject)
    .flatMap((candidate) => arrayAt(objectAt(candidate, 'content') ?? {}, 'parts').filter(isObject))
    .filter((part) => part.thought !== true)
}

function imagesIn(reply: JsonObject): { mediaType: string; data: string }[] {
  return partsIn(reply).flatMap((part) => {
    const inline = eitherObject(part, 'inlineData')
    const data = inline ? textAt(inline, 'data') : ''
    return inline && data !== '' ? [{ mediaType: eitherText(inline, 'mimeType'), data }] : []
  })
}

function formatOf(images: readonly { mediaType: string }[]): JsonObject {
  const [, format] = /^image\/(png|jpeg|webp)$/.exec(images[0]?.mediaType ?? '') ?? []
  return format === undefined ? {} : { output_format: format }
}

/** A blocked prompt is the caller's error; a reply with only text is an upstream failure. */
function refusalOf(replies: readonly JsonObject[]): DirectAnswer {
  const reasons = replies.flatMap((reply) => [
    textAt(objectAt(reply, 'promptFeedback') ?? {}, 'blockReason'),
    ...arrayAt(reply, 'candidates')
      .filter(isObject)
      .map((candidate) => textAt(candidate, 'finishReason')),
  ])
  const blocked = reasons.find((reason) => /SAFETY|PROHIBITED|BLOCK|RECITATION|SPII|JAILBREAK|MODEL_ARMOR|LANGUAGE/.test(reason))
  if (blocked)
    return refused(`The image was refused: ${blocked}`, {
      status: 400,
      code: 'content_policy_violation',
      type: 'image_generation_user_error',
    })
  const words = replies.flatMap(partsIn).map((part) => textAt(part, 'text'))
  return refused(`it made no image: ${words.join(' ').slice(0, 200) || reasons.join(' ')}`)
}

function sumOf(sum: Usage, one: Usage): Usage {
  return {
    ...sum,
    input: sum.input + one.input + cachedTokens(one),
    imageInput: sum.imageInput + one.imageInput,
    output: sum.output + one.output,
    imageOutput: sum.imageOutput + one.imageOutput,
    reasoning: sum.reasoning + one.reasoning,
  }
}

/** Usage in the Images format. Output tokens without details are image tokens, except reasoning. */
function writeUsage(usage: Usage): JsonObject {
  const [input, output] = [promptTokens(usage), completionTokens(usage)]
  const text = usage.imageOutput > 0 ? usage.output : usage.reasoning
  return {
    input_tokens: input,
    input_tokens_details: { text_tokens: usage.input, image_tokens: usage.imageInput },
    output_tokens: output,
    output_tokens_details: { text_tokens: text, image_tokens: output - text },
    total_tokens: input + output,
  }
}
