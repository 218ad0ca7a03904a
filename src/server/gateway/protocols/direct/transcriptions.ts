import { noUsage, type Usage } from '../../../../contract/usage.ts'
import { fail } from '../../../base/lib/failure.ts'
import type { CallerFormat } from '../format.ts'
import { readStreamError, renameTopLevelModel } from '../openai-chat/chat.ts'
import { countAt, type JsonObject, objectAt, textAt, type WireFormat } from '../wire-format.ts'
import { secondsOfAudio } from './audio-seconds.ts'
import { directFacts } from './direct-facts.ts'

/**
 * OpenAI Transcriptions and Translations: an audio file in, text, JSON or subtitles out. Upstreams report tokens, or seconds, or
 * nothing; seconds are counted as tokens so that a ratio prices them. Source: protocols notes 1.6, read 2026-11.
 */
const fromSound = (format: CallerFormat): WireFormat => ({
  format,
  dialect: 'openai',

  readRequest(body, _path, files = []) {
    const file = files.find(({ field }) => field === 'file')
    if (!file) fail('field_invalid', { field: 'file', reason: 'is required, in a multipart form' })
    const model = textAt(body, 'model') || 'whisper-1'
    const seconds = secondsOfAudio(file.bytes)
    return directFacts(model, {
      stream: body.stream === 'true' || body.stream === true,
      uncounted: soundUsage(seconds),
      most: mostHeard(model, seconds, textAt(body, 'prompt')),
    })
  },

  promptText: (body) => [textAt(body, 'prompt')],
  repliesIn: (body) => (textFormats.has(textAt(body, 'response_format')) ? 'text' : 'json'),
  answerIn: 'segments',
  answersWith: (reply) => typeof reply.text === 'string',
  readUsage: readSoundUsage,
  replyText: (reply) => textAt(reply, 'text'),

  stream: {
    marks: /"usage"\s*:\s*\{|"error"|transcript\.text\.done/g,
    hasNamedEvents: false,
    isTerminal: (event) => event.data.includes('"transcript.text.done"'),
    terminalText: '',
    readUsage: (data, before) => readSoundUsage(data) ?? before,
    isUsageOnly: () => false,
    hasOutput: (data) => textAt(data, 'delta') !== '' || data.type === 'transcript.text.done',
    isFinish: (data) => data.type === 'transcript.text.done',
    deltaText: (data) => textAt(data, 'delta'),
    readError: readStreamError,
    replay: (reply) => [
      { type: 'transcript.text.delta', delta: reply.text },
      { ...reply, type: 'transcript.text.done' },
    ],
    gather: (events) => {
      const { type: _type, ...reply } = events.find((event) => event.type === 'transcript.text.done') ?? {}
      return { ...reply }
    },
    renameModel: renameTopLevelModel,
    heartbeat: ': keep-alive\n\n',
  },
})

export const openAiTranscriptions = fromSound('openai.transcriptions')
export const openAiTranslations = fromSound('openai.translations')

const textFormats: ReadonlySet<string> = new Set(['text', 'srt', 'vtt'])

/** At this rate a ratio of 15, the usual one for whisper-1, is the vendor's price of 0.006 dollars a minute. */
const tokensPerSecond = 200 / 60

function soundUsage(seconds: number): Usage {
  return { ...noUsage, input: Math.max(1, Math.ceil(seconds * tokensPerSecond)) }
}

/**
 * The maximum usage of a recording. Some vendors count at least ten seconds, and round. Models that report tokens have up to 12
 * input and 12 output tokens a second.
 */
export function mostHeard(model: string, spoken: number, prompt: string): Usage {
  const seconds = spoken * 1.05 + 10
  const { input } = soundUsage(seconds)
  if (/whisper/.test(model)) return { ...noUsage, input }
  const tokens = Math.ceil(seconds * 12)
  return { ...noUsage, input: input + Buffer.byteLength(prompt), audioInput: tokens, output: tokens }
}

/** Usage of a transcript, from a reply or an event: in tokens, or in seconds, which are counted as tokens. */
export function readSoundUsage(reply: JsonObject): Usage | undefined {
  const usage = objectAt(reply, 'usage')
  const seconds = Number(usage?.seconds ?? reply.duration)
  if (usage?.type === 'tokens' || typeof usage?.input_tokens === 'number') return readTokens(usage)
  return Number.isFinite(seconds) && seconds > 0 && seconds <= secondsMax ? soundUsage(seconds) : undefined
}

const secondsMax = 1_000_000

function readTokens(usage: JsonObject): Usage {
  const input = countAt(usage, 'input_tokens')
  const audio = Math.min(input, countAt(objectAt(usage, 'input_token_details'), 'audio_tokens'))
  return { ...noUsage, input: input - audio, audioInput: audio, output: countAt(usage, 'output_tokens') }
}
