import { noUsage, type Usage } from '../../../../contract/usage.ts'
import { estimateText } from '../count-tokens.ts'
import { arrayAt, isObject, type JsonObject, objectAt, textAt } from '../wire-format.ts'
import { secondsIn, soundFormat } from './events.ts'

/** Token counts by kind. */
interface Tokens {
  readonly text: number
  readonly audio: number
}

interface Running {
  text: number
  audio: number
}

/**
 * Estimates the tokens of a session's conversation and of its running responses, for holds, and for charges of responses without
 * reported usage. Reported numbers replace the estimates. Source: protocols notes 5.4.
 */
export class SessionMeter {
  #known: Tokens = { text: 0, audio: 0 }
  #text = 0
  #heardSeconds = 0
  /** Seconds of audio that do not belong to an item yet. */
  #uncommittedSeconds = 0
  /** Seconds of audio without a transcript yet, by item. */
  readonly #untranscribed = new Map<string, number>()
  #inputFormat = ''
  #outputFormat = ''
  readonly #running = new Map<string, Running>()

  /** The conversation so far, as the next response reads it. */
  get context(): Tokens {
    return {
      text: Math.ceil(this.#known.text + this.#text),
      audio: Math.ceil(this.#known.audio + this.#heardSeconds * readPerSecond),
    }
  }

  /** Seconds of audio whose transcript may still arrive. */
  get untranscribedSeconds(): number {
    return [...this.#untranscribed.values()].reduce((sum, seconds) => sum + seconds, this.#uncommittedSeconds)
  }

  /** Ids of the running responses. */
  get running(): readonly string[] {
    return [...this.#running.keys()]
  }

  /** Counts a caller's event. */
  heard(event: JsonObject): void {
    switch (event.type) {
      case 'input_audio_buffer.append':
        this.#addHeard(secondsIn(textAt(event, 'audio'), this.#inputFormat))
        return
      case 'conversation.item.create':
        for (const part of arrayAt(objectAt(event, 'item') ?? {}, 'content')) this.#hearPart(part)
        this.#text += estimateText(textAt(objectAt(event, 'item') ?? {}, 'output')) + perItem
        return
      case 'session.update':
        this.#text += estimateText(JSON.stringify([instructionsIn(event), objectAt(event, 'session')?.tools ?? []]))
        return
      case 'response.create':
        this.#text += estimateText(textAt(objectAt(event, 'response') ?? {}, 'instructions'))
        return
      default:
        return
    }
  }

  /** Counts an upstream's event. */
  said(event: JsonObject): void {
    const type = textAt(event, 'type')
    if (type === 'session.created' || type === 'session.updated') {
      const session = objectAt(event, 'session') ?? {}
      this.#inputFormat = soundFormat(session, 'input')
      this.#outputFormat = soundFormat(session, 'output')
    } else if (type === 'input_audio_buffer.committed') this.#commit(textAt(event, 'item_id'))
    else if (type === 'input_audio_buffer.cleared') this.#uncommittedSeconds = 0
    else if (type === 'conversation.item.input_audio_transcription.failed') this.#untranscribed.delete(textAt(event, 'item_id'))
    else if (type === 'response.created') this.#begin(textAt(objectAt(event, 'response') ?? {}, 'id'))
    else if (audioDeltas.has(type))
      this.#say(event, { text: 0, audio: secondsIn(textAt(event, 'delta'), this.#outputFormat) * textTokensPerSecond })
    else if (textDeltas.has(type)) this.#say(event, { text: estimateText(textAt(event, 'delta')) - 3, audio: 0 })
  }

  /** The usage of a response that reported none: all of the conversation as input, and its output. */
  estimate(responseId: string): Usage {
    const { text, audio } = this.context
    const produced = this.#running.get(responseId) ?? { text: 0, audio: 0 }
    return {
      ...noUsage,
      input: text,
      audioInput: audio,
      output: Math.ceil(produced.text),
      audioOutput: Math.ceil(produced.audio),
    }
  }

  /** Records the end of a response, with its usage: its output becomes input of the next response. */
  ended(responseId: string, usage: Usage): void {
    this.#running.delete(responseId)
    this.#known = {
      text: usage.input + usage.cacheRead + usage.output,
      // Audio has twice as many tokens as output than as input.
      audio: usage.audioInput + usage.cachedAudio + usage.imageInput + usage.cachedImage + Math.ceil(usage.audioOutput / 2),
    }
    this.#text = 0
    this.#heardSeconds = 0
  }

  /**
   * The seconds of an item's audio, for a transcription whose usage is not reported; for an unknown item, all uncommitted audio.
   */
  takeSpoken(itemId: string): number {
    if (!this.#untranscribed.has(itemId)) this.#commit(itemId)
    const seconds = this.#untranscribed.get(itemId) ?? 0
    this.#untranscribed.delete(itemId)
    return seconds
  }

  /** Stops waiting for the transcripts of committed items. */
  forgetCommitted(): void {
    this.#untranscribed.clear()
  }

  #commit(itemId: string): void {
    const [first] = this.#untranscribed.keys()
    if (this.#untranscribed.size >= itemsMax && first !== undefined) this.#untranscribed.delete(first)
    this.#untranscribed.set(itemId, this.#uncommittedSeconds)
    this.#uncommittedSeconds = 0
  }

  #begin(responseId: string): void {
    const [first] = this.#running.keys()
    if (this.#running.size >= runningMax && first !== undefined) this.#running.delete(first)
    this.#running.set(responseId, { text: 0, audio: 0 })
  }

  #addHeard(seconds: number): void {
    this.#heardSeconds += seconds
    this.#uncommittedSeconds += seconds
  }

  #hearPart(part: unknown): void {
    if (!isObject(part)) return
    this.#text += estimateText(textAt(part, 'text') || textAt(part, 'transcript'))
    if (part.type === 'input_audio') this.#addHeard(secondsIn(textAt(part, 'audio'), this.#inputFormat))
    if (part.type === 'input_image') this.#text += imageTokens
  }

  #say(event: JsonObject, more: Tokens): void {
    const response = this.#running.get(textAt(event, 'response_id')) ?? [...this.#running.values()].at(-1)
    if (!response) return
    response.text += Math.max(0, more.text)
    response.audio += more.audio
  }
}

function instructionsIn(event: JsonObject): string {
  return textAt(objectAt(event, 'session') ?? {}, 'instructions')
}

const audioDeltas: ReadonlySet<string> = new Set(['response.output_audio.delta', 'response.audio.delta'])
const textDeltas: ReadonlySet<string> = new Set([
  'response.output_text.delta',
  'response.text.delta',
  'response.function_call_arguments.delta',
])
/** More than any session has at one time; bounds memory for any upstream. */
const runningMax = 64
const itemsMax = 64
const readPerSecond = 10
const textTokensPerSecond = 20
const perItem = 4
const imageTokens = 1_100
