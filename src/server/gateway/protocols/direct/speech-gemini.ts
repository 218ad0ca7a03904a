import { noUsage, promptTokens, type Usage } from '../../../../contract/usage.ts'
import { fail } from '../../../base/lib/failure.ts'
import { eitherObject, eitherText } from '../gemini-generate/members.ts'
import { readGeminiUsage } from '../gemini-generate/usage.ts'
import { arrayAt, isObject, type JsonObject, objectAt, textAt } from '../wire-format.ts'
import { type DirectAnswer, type DirectConversion, loseAllBut, refused } from './conversion.ts'
import { wavOf } from './wav.ts'

/**
 * Speech by Gemini's models. They return raw samples, which are passed on as such or as a WAV file, the default; other formats would
 * have to be encoded. Source: protocols notes 2.5.
 */
export const speechByGemini: DirectConversion = {
  from: 'openai.speech',
  to: 'gemini.generate',

  convert(asked) {
    const { body, stream } = asked
    const format = textAt(body, 'response_format') || 'wav'
    if (format !== 'wav' && format !== 'pcm') fail('untranslatable', { field: 'response_format', reason: plainOnly })
    loseAllBut(asked, ['model', 'input', 'voice', 'instructions', 'response_format', 'stream_format'])
    return {
      requests: [{ json: requestOf(body) }],
      read: ([reply = {}]) => answerOf(reply, format, stream),
    }
  },
}

const plainOnly = { zh: '该渠道只给出 wav 和 pcm', en: 'the channel only gives wav and pcm' }

function requestOf(body: JsonObject): JsonObject {
  const instructions = textAt(body, 'instructions')
  const input = textAt(body, 'input')
  const voice = textAt(body, 'voice') || textAt(objectAt(body, 'voice') ?? {}, 'id')
  const voiceName = voices.get(voice.toLowerCase()) ?? voice
  return {
    contents: [{ role: 'user', parts: [{ text: instructions === '' ? input : `${instructions}:\n${input}` }] }],
    generationConfig: {
      responseModalities: ['AUDIO'],
      ...(voiceName === '' ? {} : { speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName } } } }),
    },
  }
}

/** OpenAI's voices, and the similar ones of Gemini. */
const voices: ReadonlyMap<string, string> = new Map([
  ['alloy', 'Kore'],
  ['ash', 'Orus'],
  ['ballad', 'Iapetus'],
  ['cedar', 'Algenib'],
  ['coral', 'Aoede'],
  ['echo', 'Charon'],
  ['fable', 'Puck'],
  ['marin', 'Callirrhoe'],
  ['nova', 'Leda'],
  ['onyx', 'Fenrir'],
  ['sage', 'Sulafat'],
  ['shimmer', 'Zephyr'],
  ['verse', 'Umbriel'],
])

function answerOf(reply: JsonObject, format: 'wav' | 'pcm', stream: boolean): DirectAnswer {
  const pieces = arrayAt(reply, 'candidates')
    .filter(isObject)
    .flatMap((candidate) => arrayAt(objectAt(candidate, 'content') ?? {}, 'parts'))
    .map((part) => (isObject(part) ? eitherObject(part, 'inlineData') : undefined))
    .filter((inline) => inline !== undefined && textAt(inline, 'data') !== '')
  const [first] = pieces
  if (!first) return refused('it said nothing')

  const samples = Buffer.concat(pieces.map((inline) => Buffer.from(textAt(inline ?? {}, 'data'), 'base64')))
  const rate = Number(/rate=(\d{4,6})/.exec(eitherText(first, 'mimeType'))?.[1] ?? usualRate)
  const bytes = format === 'pcm' ? samples : wavOf(samples, rate)
  const usage = soundOf(readGeminiUsage(reply))
  if (stream) return { kind: 'events', text: eventsOf(bytes, usage) }
  return { kind: 'bytes', contentType: format === 'pcm' ? `audio/L16;rate=${rate};channels=1` : 'audio/wav', bytes, usage }
}

const usualRate = 24_000

/** All output except reasoning is audio, even if the details do not report it. */
function soundOf(usage: Usage | undefined): Usage | undefined {
  if (!usage) return undefined
  const output = usage.output + usage.audioOutput - usage.reasoning
  return { ...noUsage, input: promptTokens(usage), output: usage.reasoning, audioOutput: Math.max(0, output) }
}

function eventsOf(bytes: Buffer, usage: Usage | undefined): string {
  const read = usage?.input ?? 0
  const outputTokens = usage ? usage.output + usage.audioOutput : 0
  const usageMembers = usage
    ? { usage: { input_tokens: read, output_tokens: outputTokens, total_tokens: read + outputTokens } }
    : {}
  return [
    { type: 'speech.audio.delta', audio: bytes.toString('base64') },
    { type: 'speech.audio.done', ...usageMembers },
  ]
    .map((event) => `data: ${JSON.stringify(event)}\n\n`)
    .join('')
}
