import { isDeepStrictEqual } from 'node:util'
import type { Usage } from '../../../../contract/usage.ts'
import type { ReadContext } from '../codec.ts'
import { base64Source, readMediaUrl } from '../media.ts'
import { errorFacts, ReplyBuilder } from '../reply-builder.ts'
import type { FinishReason, ReplyEvent } from '../reply-events.ts'
import { readLogprobs } from '../token-logprobs.ts'
import { asksForSomething } from '../unread-members.ts'
import {
  answerAt,
  arrayAt,
  countAt,
  isObject,
  type JsonObject,
  objectAt,
  textAt,
  type UpstreamErrorFacts,
} from '../wire-format.ts'
import { readReportedUsage } from './chat.ts'
import { contentParts, thinkingText } from './content-parts.ts'
import { ChatCalls } from './read-calls.ts'
import { thoughtSignature } from './read-past-reasoning.ts'
import { ChatThoughts } from './read-thoughts.ts'
import { type TextPiece, ThinkTags } from './think-tags.ts'

/**
 * Turns one Chat reply into events. Text after the beginning of a call is held back until the calls end, since hosts may continue a
 * call after such text, which the neutral form does not allow. Source: protocols notes 2.2, 3.10, 3.14 and edge cases 36 to 75.
 */
export class ChatReply {
  readonly #reply = new ReplyBuilder()
  readonly #calls: ChatCalls
  readonly #thoughts: ChatThoughts
  readonly #tags: ThinkTags | undefined
  readonly #lose: ReadContext['lose']
  #late: (() => void)[] = []
  #usage: Usage | undefined
  #recording: Buffer[] = []
  #sources: readonly unknown[] = []
  #textLength = 0
  #blockStart = 0
  #isCut = false
  #isCited = false
  #hasContent = false
  /** The audio transcript received before any text, and the part of it that the text has repeated so far. */
  #transcript = ''
  #repeated = ''
  /** Text that Google marked as a thought. */
  #marked = ''
  #isStopped = false

  constructor({ newCallId, quirks, lose }: ReadContext) {
    this.#lose = lose
    this.#calls = new ChatCalls(this.#reply, newCallId)
    this.#thoughts = new ChatThoughts(this.#reply)
    this.#tags = quirks.thinkTags ? new ThinkTags() : undefined
  }

  get isOver(): boolean {
    return this.#reply.isOver
  }

  get hasOutput(): boolean {
    return this.#reply.hasOutput || this.#calls.hasAny
  }

  take(): ReplyEvent[] {
    return this.#reply.take()
  }

  /** Hosts report running totals or one final sum: each is complete, and the last one counts. */
  usageIn(data: JsonObject): void {
    const usage = readReportedUsage(data)
    if (!usage || (this.#usage && isSame(usage, this.#usage))) return
    this.#usage = usage
    this.#reply.usage(usage)
  }

  /** Perplexity reports its sources next to `choices`. */
  sourcesIn(data: JsonObject): void {
    const found = [arrayAt(data, 'search_results'), arrayAt(data, 'citations')].find((list) => list.length > 0)
    this.#sources = found ?? this.#sources
  }

  /**
   * A complete message, read as one large delta with the position of each call as its index. Signed thinking repeats the reasoning
   * text; the rest of that text is written first.
   */
  message(message: JsonObject): void {
    const calls = arrayAt(message, 'tool_calls').filter(isObject)
    const signed = arrayAt(message, 'thinking_blocks').flatMap((block) => (isObject(block) ? [textAt(block, 'thinking')] : []))
    const beside = textAt(message, 'reasoning_content') || textAt(message, 'reasoning')
    const rest = signed.reduce((left, thought) => left.replace(thought, () => ''), beside)
    if (signed.length > 0) {
      this.#thoughts.say(rest)
      this.#reply.endSaid()
    }
    const thoughts = signed.length > 0 ? { reasoning_content: undefined, reasoning: undefined } : {}
    this.delta({ ...message, ...thoughts, tool_calls: calls.map((call, index) => ({ ...call, index })) })
  }

  /** Reasoning, text, media and calls, in this order. */
  delta(delta: JsonObject): void {
    for (const member in delta)
      if (!readMembers.has(member) && delta[member] !== '' && asksForSomething(delta[member])) this.#lose?.(member)
    this.#thoughts.keep(delta)
    if (ChatThoughts.isIn(delta)) this.#inTurn(() => this.#thoughts.tell(delta))
    this.#content(delta)
    this.#refuse(textAt(delta, 'refusal'))
    for (const image of arrayAt(delta, 'images')) this.#image(image)
    this.#audio(objectAt(delta, 'audio'))
    for (const annotation of arrayAt(delta, 'annotations')) this.#cite(annotation)

    const called = objectAt(delta, 'function_call')
    const pieces = arrayAt(delta, 'tool_calls')
    const { opaque } = thoughtSignature(delta)
    if (opaque) this.#reply.sealText(opaque)
    if (!called && pieces.length === 0) return
    this.#flushTags()
    this.#thoughts.settle()
    if (called) this.#calls.pushFunction(called)
    this.#calls.push(pieces)
  }

  /** Log probabilities are beside the text, in the choice. Those of refusals and older forms have no equivalent. */
  logprobsIn(choice: JsonObject): void {
    const logprobs = objectAt(choice, 'logprobs')
    if (!logprobs) return
    const tokens = readLogprobs(logprobs.content)
    this.#inTurn(() => this.#reply.logprobs(tokens))
    for (const [member, value] of Object.entries(logprobs))
      if (member !== 'content' && asksForSomething(value)) this.#lose?.(`logprobs.${member}`)
  }

  /** Records the finish reason in the host's wording. */
  stop(word: unknown): void {
    const text = String(word)
    if (brokenWords.has(text)) {
      this.#reply.fail(errorFacts(`the upstream gave up: ${text}`, { code: text, status: 503 }))
      return
    }
    const reason = finishWords.get(text.toLowerCase()) ?? 'other'
    this.#isCut ||= reason === 'length' || reason === 'context-full'
    this.#isStopped ||= reason === 'stop'
    this.#reply.stop(reason)
  }

  fail(error: UpstreamErrorFacts): void {
    this.#reply.fail(error)
  }

  end(): void {
    this.#settle()
    this.#reply.stop('untold')
    this.#reply.end()
  }

  cut(): void {
    this.#settle()
    this.#reply.cut()
  }

  #settle(): void {
    this.#flushTags()
    this.#thoughts.settle()
    const state = this.#thoughts.unsettled()
    if (state) this.#calls.seal(state)
    this.#calls.close(this.#isCut)
    for (const say of this.#late) say()
    this.#late = []
    this.#thoughts.settle()
    // If a complete reply has no other content, the marked text is its answer.
    if (this.#isStopped && this.#marked !== '' && !this.#reply.hasAnswer) this.#sayNow(this.#marked)
    this.#citeSources()
    const sound = Buffer.concat(this.#recording).toString('base64')
    this.#recording = []
    if (sound !== '') this.#reply.media('audio', base64Source(sound, 'audio/wav').mediaType, sound)
  }

  /** Writes immediately, or after the calls if there are any. */
  #inTurn(say: () => void): void {
    if (this.#calls.hasAny) this.#late.push(say)
    else say()
  }

  #content(delta: JsonObject): void {
    const { content } = delta
    if (typeof content === 'string') {
      if (isMarkedThought(delta)) this.#thinkMarked(content, this.#isStopped && arrayAt(delta, 'tool_calls').length === 0)
      else this.#tagged(this.#spoken(this.#marked === '' ? content : content.replace(/^<\/thought>/, '')))
      return
    }
    for (const part of contentParts(content)) this.#part(part)
  }

  /**
   * Reads text that Google marked as a thought: the thought in tags, then the answer, if any. `isWhole`: the text is the complete
   * reply.
   */
  #thinkMarked(content: string, isWhole: boolean): void {
    const [thought = '', ...rest] = content.replace(/^<thought>/, '').split('</thought>')
    const answer = rest.join('</thought>')
    if (isWhole && answer === '') {
      this.#say(this.#spoken(thought))
      return
    }
    this.#marked += thought
    this.#think(thought)
    this.#tagged(this.#spoken(answer))
  }

  #part(part: JsonObject): void {
    switch (part.type) {
      case 'thinking':
        this.#think(thinkingText(part))
        break
      case 'refusal':
        this.#refuse(textAt(part, 'refusal'))
        break
      case 'image_url':
        this.#image(part)
        break
      case 'text':
      case 'output_text':
        this.#tagged(this.#spoken(answerAt(part, 'text')))
        break
      default:
        this.#lose?.(`content.${textAt(part, 'type')}`)
    }
  }

  #tagged(text: string): void {
    this.#pieces(this.#tags?.push(text) ?? [{ kind: 'text', text }])
  }

  #flushTags(): void {
    if (this.#tags) this.#pieces(this.#tags.flush())
  }

  #pieces(pieces: readonly TextPiece[]): void {
    for (const { kind, text } of pieces) {
      if (kind === 'text') this.#say(text)
      else this.#think(text)
    }
  }

  #say(text: string): void {
    if (text !== '') this.#inTurn(() => this.#sayNow(text))
  }

  #sayNow(text: string): void {
    // Hosts may end a turn with calls with empty lines, which are not content.
    if (this.#late.length > 0 && !this.#reply.isSaying('text') && text.trim() === '') return
    this.#thoughts.settle()
    if (!this.#reply.isSaying('text')) this.#blockStart = this.#textLength
    this.#reply.text(text)
    this.#textLength += text.length
  }

  #think(text: string): void {
    if (text !== '') this.#inTurn(() => this.#thoughts.say(text))
  }

  #refuse(text: string): void {
    if (text !== '') this.#inTurn(() => this.#reply.refusal(text))
  }

  /** An image that is sent as a URL is written into the text. */
  #image(image: unknown): void {
    const url = isObject(image) ? textAt(objectAt(image, 'image_url') ?? image, 'url') || textAt(image, 'image_url') : ''
    if (!/^\s*data:/i.test(url)) {
      if (url !== '') {
        this.#lose?.('image_url')
        this.#say(`![image](${url})`)
      }
      return
    }
    const source = readMediaUrl(url)
    if (source.kind === 'base64') this.#inTurn(() => this.#reply.media('image', source.mediaType, source.data))
  }

  /**
   * The transcript of audio is written as text immediately, unless the text is also sent separately; the pieces of audio data
   * cannot be joined as base64 text, so that the data is decoded and yielded at the end.
   */
  #audio(audio: JsonObject | undefined): void {
    if (!audio) return
    if (!this.#hasContent) this.#transcribe(textAt(audio, 'transcript'))
    const data = textAt(audio, 'data')
    if (data !== '') this.#recording.push(Buffer.from(data, 'base64'))
  }

  #transcribe(words: string): void {
    this.#transcript += words
    this.#say(words)
  }

  /** A text that only repeats the transcript before it is ignored. */
  #spoken(text: string): string {
    if (text !== '') this.#hasContent = true
    if (this.#transcript === '') return text
    const repeated = this.#repeated + text
    if (this.#transcript.startsWith(repeated)) {
      this.#repeated = repeated
      return ''
    }
    const knownLength = repeated.startsWith(this.#transcript) ? this.#transcript.length : 0
    this.#transcript = ''
    return repeated.slice(knownLength)
  }

  #cite(annotation: unknown): void {
    const cited = isObject(annotation) ? objectAt(annotation, 'url_citation') : undefined
    if (!cited || textAt(cited, 'url') === '') {
      if (isObject(annotation)) this.#lose?.(textAt(annotation, 'type'))
      return
    }
    this.#isCited = true
    const place = (key: string) => Math.max(0, countAt(cited, key) - this.#blockStart)
    this.#reply.cite({
      url: textAt(cited, 'url'),
      title: textAt(cited, 'title'),
      start: place('start_index'),
      end: place('end_index'),
    })
  }

  #citeSources(): void {
    if (this.#isCited) return
    const end = this.#textLength - this.#blockStart
    for (const source of this.#sources) {
      const url = typeof source === 'string' ? source : isObject(source) ? textAt(source, 'url') : ''
      if (url !== '') this.#reply.cite({ url, title: isObject(source) ? textAt(source, 'title') : '', start: end, end })
    }
  }
}

/** The members of messages and deltas that are read, or have no content. */
const readMembers: ReadonlySet<string> = new Set([
  ...['role', 'content', 'refusal', 'tool_calls', 'function_call', 'audio', 'annotations', 'images', 'extra_content'],
  ...['reasoning_content', 'reasoning', 'reasoning_details', 'thinking_blocks'],
  ...['id', 'index', 'name', 'prefix', 'tool_call_id', 'type', 'provider_specific_fields', 'token_ids'],
])

/** The finish reasons of OpenAI and of other hosts. */
const finishWords: ReadonlyMap<string, FinishReason> = new Map([
  ['stop', 'stop'],
  ['eos', 'stop'],
  ['eos_token', 'stop'],
  ['end', 'stop'],
  ['end_turn', 'stop'],
  ['complete', 'stop'],
  ['completed', 'stop'],
  ['stop_sequence', 'stop'],
  ['tool_call', 'tool-calls'],
  ['tool_use', 'tool-calls'],
  ['length', 'length'],
  ['max_tokens', 'length'],
  ['model_length', 'length'],
  ['model_context_window_exceeded', 'context-full'],
  ['tool_calls', 'tool-calls'],
  ['function_call', 'tool-calls'],
  ['content_filter', 'content-filter'],
  ['sensitive', 'content-filter'],
])

/** Finish reasons of a generation that was aborted by an error. */
const brokenWords: ReadonlySet<string> = new Set(['insufficient_system_resource', 'error', 'network_error', 'abort'])

function isMarkedThought(delta: JsonObject): boolean {
  return objectAt(objectAt(delta, 'extra_content') ?? {}, 'google')?.thought === true
}

function isSame({ tier, toolCalls, ...one }: Usage, other: Usage): boolean {
  // Both come from the same reader, so they have the same members, which are numbers except for these two.
  const names = Object.keys(one) as (keyof typeof one)[]
  const hasSameCalls = isDeepStrictEqual(toolCalls, other.toolCalls)
  return hasSameCalls && tier?.service_tier === other.tier?.service_tier && names.every((name) => one[name] === other[name])
}
