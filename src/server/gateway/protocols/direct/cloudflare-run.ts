import { fail } from '../../../base/lib/failure.ts'
import type { CallerFormat } from '../format.ts'
import { arrayAt, isObject, type JsonObject, objectAt, textAt, type UploadedFile } from '../wire-format.ts'
import {
  type CallerRequest,
  type DirectAnswer,
  type DirectConversion,
  type DirectRequest,
  loseAllBut,
  refused,
} from './conversion.ts'
import { readImageRequest, writeImages } from './image-forms.ts'
import { plainDocuments, topOf, writeRanking } from './rerank-results.ts'

/**
 * Workers AI runs models of every kind at one URL, each with its own input members; the output is in `result`. Source: protocols
 * notes 2.10 and the catalogue of its models, read 2026-11.
 */
const byWhisper = (from: CallerFormat, task: Task): DirectConversion => ({
  from,
  to: 'cloudflare.run',

  convert(asked) {
    const { body, files, upstreamModel } = asked
    const format = textAt(body, 'response_format') || 'json'
    const file = files.find(({ field }) => field === 'file')
    if (!file) fail('field_invalid', { field: 'file', reason: 'is required, in a multipart form' })
    if (!['json', 'text', 'vtt'].includes(format)) fail('untranslatable', { field: 'response_format', reason: someFormats })
    return {
      requests: [upstreamModel.includes('turbo') ? { json: wordsOf(asked, file, task) } : bytesAlone(asked, file, task)],
      read: ([reply = {}]) => transcriptionIn(objectAt(reply, 'result'), format),
    }
  },
})

export const transcriptionsByCloudflare = byWhisper('openai.transcriptions', 'transcribe')
export const translationsByCloudflare = byWhisper('openai.translations', 'translate')

export const imagesByCloudflare: DirectConversion = {
  from: 'openai.images',
  to: 'cloudflare.run',

  convert(asked) {
    const ask = readImageRequest(asked, ['size', 'seed', 'steps'])
    if (ask.images.length > 0)
      fail('untranslatable', { field: 'image', reason: { zh: '该模型不接受图片', en: 'the model takes no images' } })
    if (asked.body.response_format === 'url') asked.lose('response_format')
    if (ask.size) asked.lose('size')
    const own = Object.fromEntries(
      ['seed', 'steps'].flatMap((word) => (asked.body[word] === undefined ? [] : [[word, asked.body[word]]])),
    )
    return {
      requests: Array.from({ length: ask.count }, () => ({ json: { prompt: ask.prompt, ...own } })),
      takesSome: true,
      read(replies) {
        const images = replies.flatMap((reply) => textAt(objectAt(reply, 'result') ?? {}, 'image') || [])
        const data = images.map((image) => ({ b64_json: image }))
        return data.length > 0 ? { kind: 'json', body: writeImages(asked, data) } : refused('it made no image')
      },
    }
  },
}

export const rerankByCloudflare: DirectConversion = {
  from: 'rerank',
  to: 'cloudflare.run',

  convert(asked) {
    const { body, model } = asked
    const documents = plainDocuments(body)
    if (!documents)
      fail('untranslatable', { field: 'documents', reason: { zh: '该渠道只接受文本', en: 'the channel only takes texts' } })
    loseAllBut(asked, ['model', 'query', 'documents', 'top_n', 'top_k', 'return_documents'])
    const top = Math.min(topOf(body) ?? documents.length, documents.length)
    return {
      requests: [{ json: { query: body.query, contexts: documents.map((text) => ({ text })), top_k: top } }],
      read([reply = {}]) {
        const placed = arrayAt(objectAt(reply, 'result') ?? {}, 'response')
        const results = placed.map((place) => (isObject(place) ? { index: place.id, relevance_score: place.score } : {}))
        const ranking = results.length > 0 ? writeRanking({ results }, body) : undefined
        return ranking ? { kind: 'json', body: { ...ranking, model } } : refused('the answer holds no ranking')
      },
    }
  },
}

type Task = 'transcribe' | 'translate'

const someFormats = { zh: '该渠道只支持 json、text 和 vtt', en: 'the channel only gives json, text and vtt' }

/** The older models accept only the audio bytes, without parameters. */
function bytesAlone(asked: CallerRequest, { bytes, mediaType }: UploadedFile, task: Task): DirectRequest {
  if (task === 'translate')
    fail('untranslatable', { field: 'model', reason: { zh: '该模型不会翻译', en: 'the model does not translate' } })
  loseAllBut(asked, ['model', 'file', 'response_format', 'stream'])
  return { bytes, contentType: mediaType || 'application/octet-stream' }
}

function wordsOf(asked: CallerRequest, { bytes }: UploadedFile, task: Task): JsonObject {
  const { body } = asked
  loseAllBut(asked, ['model', 'file', 'response_format', 'stream', 'language', 'prompt'])
  return {
    audio: bytes.toString('base64'),
    task,
    ...(textAt(body, 'language') === '' ? {} : { language: textAt(body, 'language') }),
    ...(textAt(body, 'prompt') === '' ? {} : { initial_prompt: textAt(body, 'prompt') }),
  }
}

function transcriptionIn(result: JsonObject | undefined, format: string): DirectAnswer {
  if (!result || typeof result.text !== 'string') return refused('it wrote nothing down')
  if (format === 'vtt') return { kind: 'text', text: textAt(result, 'vtt'), usage: undefined }
  if (format === 'text') return { kind: 'text', text: `${result.text}\n`, usage: undefined }
  const seconds = Number(objectAt(result, 'transcription_info')?.duration ?? 0)
  return { kind: 'json', body: { text: result.text, ...(seconds > 0 ? { usage: { type: 'duration', seconds } } : {}) } }
}
