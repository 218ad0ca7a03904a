import { completionTokens, promptTokens } from '../../../../contract/usage.ts'
import { fail } from '../../../base/lib/failure.ts'
import type { CallerFormat } from '../format.ts'
import { readGeminiUsage } from '../gemini-generate/usage.ts'
import { base64Source } from '../media.ts'
import { arrayAt, isObject, type JsonObject, objectAt, textAt, type UploadedFile } from '../wire-format.ts'
import { type DirectAnswer, type DirectConversion, loseAllBut, refused } from './conversion.ts'

/**
 * Transcriptions by Gemini: its transcription models answer in a separate part, all others as text when instructed. None reports
 * timestamps, so that subtitles are refused. Source: protocols notes 2.5, edge case 275.
 */
const byGemini = (from: CallerFormat, task: string): DirectConversion => ({
  from,
  to: 'gemini.generate',

  convert(asked) {
    const { body, files, upstreamModel } = asked
    const format = textAt(body, 'response_format') || 'json'
    const file = files.find(({ field }) => field === 'file')
    if (!file) fail('field_invalid', { field: 'file', reason: 'is required, in a multipart form' })
    if (format !== 'json' && format !== 'text') fail('untranslatable', { field: 'response_format', reason: noTimes })
    loseAllBut(asked, ['model', 'file', 'response_format', 'language', 'prompt', 'temperature', 'stream'])
    const transcribesOnly = upstreamModel.includes('transcri') && from === 'openai.transcriptions'
    return {
      requests: [{ json: requestOf(body, file, transcribesOnly ? '' : task) }],
      read: ([reply = {}]) => answerOf(reply, format),
    }
  },
})

export const transcriptionsByGemini = byGemini(
  'openai.transcriptions',
  'Write down word for word what is said in the recording. Answer with these words alone.',
)
export const translationsByGemini = byGemini(
  'openai.translations',
  'Write down in English what is said in the recording. Answer with the translation alone.',
)

const noTimes = { zh: '该渠道不给出时间，只支持 json 和 text', en: 'the channel tells no times: only json and text' }

function requestOf(body: JsonObject, file: UploadedFile, task: string): JsonObject {
  const source = base64Source(file.bytes.toString('base64'), typeOf(file))
  const language = textAt(body, 'language')
  const prompt = textAt(body, 'prompt')
  const temperature = Number(body.temperature ?? Number.NaN)
  const instructions = [
    task,
    ...(task !== '' && language !== '' ? [`The language of the recording is "${language}".`] : []),
    ...(prompt === '' ? [] : [task === '' ? prompt : `What came before, or words that occur: ${prompt}`]),
  ].filter((text) => text !== '')
  return {
    contents: [
      {
        role: 'user',
        parts: [
          { inlineData: { mimeType: source.mediaType, data: source.data } },
          ...(instructions.length > 0 ? [{ text: instructions.join('\n') }] : []),
        ],
      },
    ],
    ...(Number.isFinite(temperature) ? { generationConfig: { temperature } } : {}),
  }
}

/** The declared media type, or else that of the file extension: many clients only declare a generic type. */
function typeOf({ mediaType, name }: UploadedFile): string {
  const ending = /\.([a-z0-9]+)$/i.exec(name)?.[1]?.toLowerCase() ?? ''
  return /^(audio|video)\//.test(mediaType) ? mediaType : (types.get(ending) ?? 'audio/mp3')
}

const types: ReadonlyMap<string, string> = new Map([
  ['wav', 'audio/wav'],
  ['mp3', 'audio/mp3'],
  ['mpga', 'audio/mp3'],
  ['mpeg', 'audio/mp3'],
  ['m4a', 'audio/mp4'],
  ['mp4', 'audio/mp4'],
  ['aac', 'audio/aac'],
  ['ogg', 'audio/ogg'],
  ['oga', 'audio/ogg'],
  ['flac', 'audio/flac'],
  ['webm', 'audio/webm'],
])

function answerOf(reply: JsonObject, format: 'json' | 'text'): DirectAnswer {
  const candidates = arrayAt(reply, 'candidates').filter(isObject)
  const parts = candidates.flatMap((candidate) => arrayAt(objectAt(candidate, 'content') ?? {}, 'parts').filter(isObject))
  if (candidates.length === 0) return refused('it wrote nothing down', { status: objectAt(reply, 'promptFeedback') ? 400 : 0 })
  const text = parts.map(wordsOf).join('')
  const usage = readGeminiUsage(reply)
  if (format === 'text') return { kind: 'text', text: `${text}\n`, usage }
  if (!usage) return { kind: 'json', body: { text } }

  const [input, output] = [promptTokens(usage), completionTokens(usage)]
  const audio = usage.audioInput + usage.cachedAudio
  const details = { text_tokens: input - audio, audio_tokens: audio }
  return {
    kind: 'json',
    body: {
      text,
      usage: {
        type: 'tokens',
        input_tokens: input,
        input_token_details: details,
        output_tokens: output,
        total_tokens: input + output,
      },
    },
  }
}

function wordsOf(part: JsonObject): string {
  if (part.thought === true) return ''
  return textAt(objectAt(part, 'audioTranscription') ?? {}, 'text') || textAt(part, 'text')
}
