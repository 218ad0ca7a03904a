import { fail } from '../../../base/lib/failure.ts'
import type { CallerFormat } from '../format.ts'
import { arrayAt, isObject, type JsonObject, objectAt, textAt } from '../wire-format.ts'
import { type CallerRequest, type DirectAnswer, type DirectConversion, type DirectPlan, refused } from './conversion.ts'
import { type ImageRequest, readImageRequest, urlOf, writeImages } from './image-forms.ts'

/**
 * Images by Alibaba. Older models answer with a task that must be polled until it is done. Images are returned as URLs that expire
 * after a day. Source: protocols notes 2.14 and Model Studio's reference, read 2026-11.
 */
export const imagesByDashScopeTask: DirectConversion = {
  from: 'openai.images',
  to: 'dashscope.images',

  convert(asked) {
    const { upstreamModel } = asked
    const ask = readImageRequest(asked, vendorMembers)
    if (ask.images.length > 0)
      fail('untranslatable', { field: 'image', reason: { zh: '该模型不接受图片', en: 'the model takes no images' } })
    const { negative_prompt, ...parameters } = ownMembers(asked)
    const input = { prompt: ask.prompt, ...(negative_prompt === undefined ? {} : { negative_prompt }) }
    return {
      ...planOf(ask, 4, (n) => ({ model: upstreamModel, input, parameters: { ...sizeOf(ask), n, ...parameters } })),
      pendingTask(reply) {
        const output = objectAt(reply, 'output') ?? {}
        return running.has(textAt(output, 'task_status')) ? textAt(output, 'task_id') || undefined : undefined
      },
      read: (replies) => answerOf(replies, asked, resultsIn),
    }
  },
}

/** Newer models return the images without a task, in the form of a conversation, which may contain input images. */
const byDashScope = (from: CallerFormat): DirectConversion => ({
  from,
  to: 'dashscope.image-messages',

  convert(asked) {
    const { upstreamModel } = asked
    const ask = readImageRequest(asked, vendorMembers)
    const content = [...ask.images.map((source) => ({ image: urlOf(source) })), { text: ask.prompt }]
    const input = { messages: [{ role: 'user', content }] }
    const perCall = severalAtOnce.test(upstreamModel) ? 4 : 1
    return {
      ...planOf(ask, perCall, (n) => ({
        model: upstreamModel,
        input,
        parameters: { ...sizeOf(ask), ...(perCall > 1 ? { n } : {}), ...ownMembers(asked) },
      })),
      read: (replies) => answerOf(replies, asked, imagesIn),
    }
  },
})

export const imagesByDashScope = byDashScope('openai.images')
export const imageEditsByDashScope = byDashScope('openai.image-edits')

const running: ReadonlySet<string> = new Set(['PENDING', 'RUNNING', 'SUSPENDED'])
const severalAtOnce = /^(wan|qwen-image-2|qwen-image-edit-(plus|max))/
const vendorMembers = ['negative_prompt', 'seed', 'prompt_extend', 'watermark']

function ownMembers({ body }: CallerRequest): JsonObject {
  return Object.fromEntries(vendorMembers.filter((word) => body[word] !== undefined).map((word) => [word, body[word]]))
}

function sizeOf({ size }: ImageRequest): JsonObject {
  return size ? { size: `${size.width}*${size.height}` } : {}
}

function planOf(
  { count, wantsBytes }: ImageRequest,
  perCall: number,
  write: (n: number) => JsonObject,
): Pick<DirectPlan, 'requests' | 'takesSome' | 'inlinesImages'> {
  const shares = Array.from({ length: Math.ceil(count / perCall) }, (_, at) => Math.min(perCall, count - at * perCall))
  return {
    requests: shares.map((share) => ({ json: write(share) })),
    takesSome: true,
    ...(wantsBytes ? { inlinesImages: true } : {}),
  }
}

function resultsIn(output: JsonObject): string[] {
  return arrayAt(output, 'results').flatMap((result) => (isObject(result) && textAt(result, 'url')) || [])
}

function imagesIn(output: JsonObject): string[] {
  const messages = arrayAt(output, 'choices').map((choice) => (isObject(choice) && objectAt(choice, 'message')) || {})
  const parts = messages.flatMap((message) => arrayAt(message, 'content'))
  return parts.flatMap((part) => (isObject(part) && textAt(part, 'image')) || [])
}

function answerOf(replies: readonly JsonObject[], asked: CallerRequest, urlsIn: (output: JsonObject) => string[]): DirectAnswer {
  const outputs = replies.map((reply) => objectAt(reply, 'output') ?? {})
  const urls = outputs.flatMap(urlsIn)
  if (urls.length > 0)
    return {
      kind: 'json',
      body: writeImages(
        asked,
        urls.map((url) => ({ url })),
      ),
    }
  const failure = [...outputs, ...replies].find((place) => textAt(place, 'message') !== '') ?? {}
  const code = textAt(failure, 'code')
  return refused(textAt(failure, 'message') || 'it made no image', { code, status: callersFaults.test(code) ? 400 : 0 })
}

/** Error codes of a task that failed because of its request. */
const callersFaults = /^(InvalidParameter|DataInspectionFailed|InvalidURL|IPInfringementSuspect)/
