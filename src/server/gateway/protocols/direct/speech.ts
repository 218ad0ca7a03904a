import { noUsage, type Usage } from '../../../../contract/usage.ts'
import { fail } from '../../../base/lib/failure.ts'
import { estimateText } from '../count-tokens.ts'
import { readStreamError, renameTopLevelModel } from '../openai-chat/chat.ts'
import { countAt, type JsonObject, objectAt, textAt, type WireFormat } from '../wire-format.ts'
import { directFacts } from './direct-facts.ts'

/**
 * OpenAI Speech: text in, an audio file out, or events with pieces of one. Only the events report usage; otherwise `tts-1` and its
 * like are charged by the character, as their vendor does, and others by an estimate. Source: protocols notes 1.6, read 2026-11.
 */
export const openAiSpeech: WireFormat = {
  format: 'openai.speech',
  dialect: 'openai',

  readRequest(body) {
    const input = textAt(body, 'input')
    if (input === '') fail('field_invalid', { field: 'input', reason: 'is required' })
    const model = textAt(body, 'model') || 'tts-1'
    return directFacts(model, {
      stream: body.stream_format === 'sse',
      uncounted: spoken(model, input),
      most: mostSpoken(model, input, textAt(body, 'instructions')),
    })
  },

  promptText: (body) => [textAt(body, 'input'), textAt(body, 'instructions')],
  repliesIn: () => 'bytes',
  answerIn: 'audio',
  readUsage: () => undefined,
  replyText: () => '',

  stream: {
    marks: /"usage"\s*:\s*\{|"error"|speech\.audio\.done/g,
    hasNamedEvents: false,
    isTerminal: (event) => event.data.includes('"speech.audio.done"'),
    terminalText: '',
    readUsage: (data, before) => readSpeechUsage(objectAt(data, 'usage')) ?? before,
    isUsageOnly: () => false,
    hasOutput: (data) => typeof data.audio === 'string',
    isFinish: (data) => data.type === 'speech.audio.done',
    deltaText: () => '',
    readError: readStreamError,
    replay: () => [],
    gather: (events) => ({ audio: events }),
    renameModel: renameTopLevelModel,
    heartbeat: ': keep-alive\n\n',
  },
}

/** Audio tokens for each spoken character: speech has about 15 characters and 20 tokens a second. */
const soundPerCharacter = 1.33

function spoken(model: string, input: string): Usage {
  const characters = [...input].length
  if (/^tts-/.test(model)) return { ...noUsage, input: characters }
  return { ...noUsage, input: Math.ceil(estimateText(input)), audioOutput: Math.ceil(characters * soundPerCharacter) }
}

/** The maximum audio tokens of a character: a Chinese one, spoken slowly. */
const soundPerCharacterMax = 8

function mostSpoken(model: string, input: string, instructions: string): Usage {
  if (/^tts-/.test(model)) return spoken(model, input)
  const characters = [...input].length
  const bytes = Buffer.byteLength(input) + Buffer.byteLength(instructions) + templateTokens
  return { ...noUsage, input: bytes, audioOutput: (characters + pauseCharacters) * soundPerCharacterMax }
}

const templateTokens = 64
/** Silence before and after the text, as a number of characters. */
const pauseCharacters = 30

function readSpeechUsage(usage: JsonObject | undefined): Usage | undefined {
  if (!usage || typeof usage.output_tokens !== 'number') return undefined
  return { ...noUsage, input: countAt(usage, 'input_tokens'), audioOutput: countAt(usage, 'output_tokens') }
}
