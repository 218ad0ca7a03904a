import { noUsage, type Usage } from '../../../../contract/usage.ts'
import { fail } from '../../../base/lib/failure.ts'
import type { CallerFormat } from '../format.ts'
import { readStreamError, renameTopLevelModel } from '../openai-chat/chat.ts'
import { readSvgUsage } from '../svg-usage.ts'
import {
  arrayAt,
  countAt,
  isObject,
  type JsonObject,
  objectAt,
  type RequestFacts,
  textAt,
  type WireFormat,
} from '../wire-format.ts'
import { directFacts } from './direct-facts.ts'

/**
 * OpenAI Images: generations (JSON), edits and variations (forms). A price per call is due for each image, weighted by its size and
 * quality; models that report tokens are charged by tokens. Source: protocols notes 1.5 and the reference of prices, read 2026-11.
 */
const images = (format: CallerFormat, defaultModel: string, needs: 'prompt' | 'image'): WireFormat => ({
  format,
  dialect: 'openai',

  readRequest(body, _path, files = []) {
    if (needs === 'prompt' && textAt(body, 'prompt') === '') fail('field_invalid', { field: 'prompt', reason: 'is required' })
    if (needs === 'image' && files.length === 0 && body.image === undefined && body.images === undefined)
      fail('field_invalid', { field: 'image', reason: 'is required' })
    if (/[×*]/.test(textAt(body, 'size'))) fail('field_invalid', { field: 'size', reason: 'is written as 1024x1024' })

    const model = textAt(body, 'model') || defaultModel
    const count = readImages(body)
    const weight = weightOf(model, textAt(body, 'size'), textAt(body, 'quality'))
    const calls = decimal(count * weight)
    return directFacts(model, {
      stream: body.stream === true || body.stream === 'true',
      callWeight: weight,
      callsMax: calls,
      uncounted: imagesWithoutTokens(calls),
      most: mostImages(body, { count: imagesReturned(body, count), weight, files: files.length }),
    })
  },

  promptText: (body) => [textAt(body, 'prompt')],
  answerIn: 'data',
  billsEntries: true,
  isEmpty: (reply) => !arrayAt(reply, 'data').some(isImage),
  readUsage: (reply, facts) => readImageUsage(reply, arrayAt(reply, 'data').filter(isImage).length, facts),
  replyText: () => '',

  stream: {
    marks: /"usage"\s*:\s*\{|"error"|\.completed"/g,
    hasNamedEvents: true,
    isTerminal: () => false,
    endsWithBody: true,
    terminalText: '',
    readUsage: (data, before) => (isDone(data) ? withImage(before, readTokens(data)) : before),
    isUsageOnly: () => false,
    hasOutput: (data) => textAt(data, 'b64_json') !== '' || textAt(data, 'url') !== '',
    isFinish: isDone,
    deltaText: () => '',
    readError: readStreamError,
    replay: (reply) =>
      arrayAt(reply, 'data')
        .filter(isObject)
        .map((image) => ({
          type: 'image_generation.completed',
          ...image,
          ...(isObject(reply.usage) ? { usage: reply.usage } : {}),
        })),
    gather: (events) => {
      const done = events.filter(isDone)
      return {
        created: done[0]?.created_at ?? 0,
        data: done.map(({ url, b64_json }) => (url ? { url } : { b64_json })),
        ...(done.at(-1)?.usage ? { usage: done.at(-1)?.usage } : {}),
      }
    },
    renameModel: renameTopLevelModel,
    heartbeat: ': keep-alive\n\n',
  },
})

export const openAiImages = images('openai.images', 'dall-e-2', 'prompt')
export const openAiImageEdits = images('openai.image-edits', 'dall-e-2', 'image')
export const openAiImageVariations = images('openai.image-variations', 'dall-e-2', 'image')

const imagesMax = 10

/** In a form every value is a string. */
function readImages({ n }: JsonObject): number {
  if (n === undefined || n === null || n === '') return 1
  const count = Number(n)
  if (!Number.isInteger(count)) fail('field_invalid', { field: 'n', reason: 'must be a whole number' })
  if (count < 1 || count > imagesMax) fail('amount_out_of_range', { field: 'n' })
  return count
}

/** The price of an image relative to one of 1024x1024 in standard quality. Source: OpenAI's price list for DALL·E 2 and 3. */
function weightOf(model: string, size: string, quality: string): number {
  if (!model.startsWith('dall-e')) return 1
  const bySize = sizeWeights.get(size) ?? 1
  if (quality !== 'hd' || model !== 'dall-e-3') return bySize
  return decimal(bySize * (bySize === 2 ? 1.5 : 2))
}

const sizeWeights: ReadonlyMap<string, number> = new Map([
  ['256x256', 0.4],
  ['512x512', 0.45],
  ['1024x1024', 1],
  ['1024x1792', 2],
  ['1792x1024', 2],
])

/** For images charged by a ratio although no tokens are reported: with a ratio of 1 an image costs 0.0025 dollars. */
const tokensPerImage = 1250

export function imagesWithoutTokens(calls: number): Usage {
  return { ...noUsage, input: Math.ceil(tokensPerImage * calls), calls }
}

/**
 * The maximum tokens of an input or output image, in the most expensive size and quality of any model; a partial image of a stream
 * has 100 tokens.
 */
const imageTokensMax = 6_500
const partialTokens = 100

function mostImages(body: JsonObject, { count, weight, files }: { count: number; weight: number; files: number }): Usage {
  const images = files + [body.image, body.images].flat().filter((image) => image !== undefined).length
  const partial = Math.min(Number(body.partial_images) || 0, 10) * partialTokens
  const { input, calls } = imagesWithoutTokens(decimal(count * weight))
  const author = textAt(body, 'output_format') === 'svg' ? svgMost : { input: 0, output: 0 }
  return {
    ...noUsage,
    input: input + Buffer.byteLength(textAt(body, 'prompt')) + templateTokens + count * author.input,
    imageInput: images * imageTokensMax,
    output: count * author.output,
    imageOutput: count * (imageTokensMax + partial),
    calls,
  }
}

const templateTokens = 64

/** The maximum tokens that the author of an SVG reads and writes, the picture and its reasoning included. */
const svgMost = { input: 16_000, output: 32_000 }

/** The maximum number of returned images: some hosts have their own members for it. */
function imagesReturned(body: JsonObject, count: number): number {
  const series = objectAt(body, 'sequential_image_generation_options')
  const others = [body.batch_size, body.num_images, body.num_outputs, series?.max_images].map(Number).filter(Number.isInteger)
  return Math.min(imagesMax, Math.max(count, ...others))
}

function isDone(event: JsonObject): boolean {
  return /\.completed$/.test(textAt(event, 'type')) && isImage(event)
}

/** Adds an image to the usage: the last reported token counts apply, as in every stream, and each image counts as a call. */
function withImage(before: Usage | undefined, tokens: Usage | undefined): Usage {
  const calls = (before?.calls ?? 0) + 1
  return tokens ? { ...tokens, calls } : imagesWithoutTokens(calls)
}

/** Some hosts return a reason, an empty object or an empty URL in place of a failed image. */
function isImage(entry: unknown): boolean {
  return isObject(entry) && !entry.error && (textAt(entry, 'url') !== '' || textAt(entry, 'b64_json') !== '')
}

/** Some hosts have their own members for several images: returned images are charged, not `n`. */
function readImageUsage(reply: JsonObject, returned: number, facts: RequestFacts): Usage {
  const calls = decimal(Math.min(returned, imagesMax) * (facts.callWeight ?? 1))
  const tokens = readTokens(reply)
  return tokens ? { ...tokens, calls } : imagesWithoutTokens(calls)
}

/** The tokens of a reply, or of the event of an image; those of an SVG's author are text. */
function readTokens(reply: JsonObject): Usage | undefined {
  const usage = objectAt(reply, 'usage')
  if (!usage || typeof usage.input_tokens !== 'number') return undefined
  const svg = readSvgUsage([reply])
  const input = countAt(usage, 'input_tokens')
  const images = Math.min(input, countAt(objectAt(usage, 'input_tokens_details'), 'image_tokens'))
  const output = countAt(usage, 'output_tokens')
  // Zeros beside an image are no report.
  if (input === 0 || output === 0) return undefined
  const text = Math.min(output, countAt(objectAt(usage, 'output_tokens_details'), 'text_tokens'))
  return {
    ...noUsage,
    input: input - images + svg.input,
    imageInput: images,
    output: text + svg.output,
    imageOutput: output - text,
    reasoning: svg.reasoning,
  }
}

function decimal(value: number): number {
  return Number(value.toPrecision(12))
}
