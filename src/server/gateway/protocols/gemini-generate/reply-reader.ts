import type { Usage } from '../../../../contract/usage.ts'
import type { ReadContext } from '../codec.ts'
import { base64Source } from '../media.ts'
import type { FinishReason, ReplyEvent, TokenLogprob } from '../reply-events.ts'
import { inputText } from '../tool-input.ts'
import { asksForSomething } from '../unread-members.ts'
import { answerAt, answerText, arrayAt, isObject, type JsonObject, objectAt, textAt } from '../wire-format.ts'
import { readGeminiError } from './errors.ts'
import { type Outcome, readFinishReason } from './finish-reasons.ts'
import { isOfAll, placeOf, readSupports, type Support, supportsMax } from './grounding.ts'
import { readLogprobsResult } from './logprobs.ts'
import { PartialArgs } from './partial-args.ts'
import { readGeminiUsage } from './usage.ts'

/** Reads the chunks of one reply into events; a complete reply is one chunk. Source: protocols notes 1.13 and 3.14. */
export class ReplyReader {
  readonly #context: ReadContext
  readonly #isWhole: boolean
  #made: ReplyEvent[] = []
  #blocks = 0
  #calls = 0
  #hasStarted = false
  #hasText = false
  #hasMedia = false
  /** The thinking so far. */
  #thoughts = ''
  #isOver = false
  /** The open block of text or reasoning, with its content so far. */
  #open: { readonly index: number; readonly kind: 'text' | 'reasoning'; text: string } | undefined
  /** The open call, whose arguments are sent in pieces. */
  #partial: { readonly index: number; readonly args: PartialArgs } | undefined
  /** Sources whose quoted text has not arrived yet. */
  #supports: Support[] = []
  readonly #knownSupports = new Set<string>()
  readonly #citedUrls = new Set<string>()
  /** Log probabilities of the text that comes next. */
  #logprobs: TokenLogprob[] = []
  readonly #callIds = new Set<string>()
  #usage: Usage | undefined
  #outcome: Outcome | undefined
  #word = ''
  #explanation = ''

  constructor(context: ReadContext, { isWhole }: { isWhole: boolean }) {
    this.#context = context
    this.#isWhole = isWhole
  }

  take(reply: JsonObject): ReplyEvent[] {
    if (this.#isOver) return []
    if (reply.error) return this.#fail(readGeminiError(reply))
    if (!this.#hasStarted) this.#made.push({ type: 'start' })
    this.#hasStarted = true
    const usage = readGeminiUsage(reply, this.#usage)
    if (usage && usage !== this.#usage) this.#made.push({ type: 'usage', usage })
    this.#usage = usage

    this.#readFeedback(objectAt(reply, 'promptFeedback') ?? {})
    const candidate = arrayAt(reply, 'candidates').filter(isObject).find(isFirst)
    if (candidate) this.#readCandidate(candidate)
    return this.#outcome === 'broken' ? this.#fail(brokenReply(this.#word, this.#explanation)) : this.#flush()
  }

  finish(): ReplyEvent[] {
    if (this.#isOver) return []
    const reason = this.#reason()
    if (reason === 'error') return this.#fail(brokenReply(this.#word, this.#explanation))
    this.#closePartial(reason === 'length')
    // If a complete reply has nothing but thoughts, they are its answer.
    if (reason === 'stop' && !this.#hasText && !this.#hasMedia) this.#say('text', this.#thoughts, '')
    this.#citeWhole()
    this.#closeText()
    this.#citeRest()
    if (this.#supports.length > 0 && this.#hasText) this.#context.lose?.('groundingSupports')
    this.#isOver = true
    if (reason === undefined) return this.#flush()
    const explanation = this.#explanation === '' ? {} : { explanation: this.#explanation }
    this.#made.push({ type: 'finish', reason, ...(reason === 'content-filter' ? explanation : {}) }, { type: 'end' })
    return this.#flush()
  }

  #flush(): ReplyEvent[] {
    const made = this.#made
    this.#made = []
    return made
  }

  #fail(error: ReturnType<typeof readGeminiError>): ReplyEvent[] {
    this.#isOver = true
    this.#made.push({ type: 'error', error })
    return this.#flush()
  }

  /** A non-streamed reply without a finish reason is complete nevertheless, unless it is empty. */
  #reason(): FinishReason | 'error' | undefined {
    const outcome = this.#outcome ?? (this.#isWhole ? 'untold' : undefined)
    if (outcome === 'broken') return 'error'
    if ((outcome === 'untold' || outcome === 'other') && this.#blocks === 0) return 'error'
    if (outcome === 'untold' || outcome === 'stop') return this.#calls > 0 ? 'tool-calls' : 'stop'
    return outcome
  }

  /** The reply to a blocked prompt is complete without candidates. */
  #readFeedback(feedback: JsonObject): void {
    const word = textAt(feedback, 'blockReason')
    if (word === '' || word === 'BLOCKED_REASON_UNSPECIFIED' || word === 'BLOCK_REASON_UNSPECIFIED') return
    this.#outcome = 'content-filter'
    this.#explanation = textAt(feedback, 'blockReasonMessage')
  }

  #readCandidate(candidate: JsonObject): void {
    const parts = partsOf(candidate.content)
    const isNew = this.#noteSupports(readSupports(candidate))
    this.#logprobs.push(...readLogprobsResult(candidate))
    const outcome = readFinishReason(candidate.finishReason)
    const isStopped = outcome === undefined || outcome === 'stop'
    const isAnswer = this.#isWhole && isStopped && parts.every(isThoughtText)
    for (const part of parts) this.#readPart(isAnswer ? { ...part, thought: false } : part)
    if (isNew) this.#cite()

    if (outcome === undefined) return
    this.#outcome = outcome
    this.#word = textAt(candidate, 'finishReason')
    this.#explanation = textAt(candidate, 'finishMessage')
  }

  #readPart(part: JsonObject): void {
    const signature = textAt(part, 'thoughtSignature')
    const call = objectAt(part, 'functionCall')
    const media = objectAt(part, 'inlineData')
    if (call) this.#readCall(call, signature)
    else if (media) this.#readMedia(media, part.thought === true, signature)
    else {
      for (const member of Object.keys(part))
        if (!readMembers.has(member) && asksForSomething(part[member])) this.#context.lose?.(member)
      this.#say(part.thought === true ? 'reasoning' : 'text', textOf(part), signature)
    }
  }

  #say(kind: 'text' | 'reasoning', text: string, signature: string): void {
    if (text !== '' && this.#open?.kind !== kind) {
      this.#closeAll()
      this.#open = { index: this.#blocks++, kind, text: '' }
      this.#hasText ||= kind === 'text'
      this.#made.push({ type: 'open', index: this.#open.index, block: kind })
    }
    if (!this.#open) return
    if (text !== '') {
      if (kind === 'text') this.#tellLogprobs(this.#open.index)
      this.#open.text += text
      if (kind === 'reasoning') this.#thoughts += text
      this.#made.push({ type: 'delta', index: this.#open.index, text })
    }
    // A signature may be in a separate part, with an empty text, after the part that it signs.
    if (signature !== '') this.#seal(this.#open.index, signature)
  }

  #tellLogprobs(index: number): void {
    if (this.#logprobs.length > 0) this.#made.push({ type: 'logprobs', index, tokens: this.#logprobs })
    this.#logprobs = []
  }

  #readCall(call: JsonObject, signature: string): void {
    const name = textAt(call, 'name')
    const willContinue = call.willContinue === true
    if (this.#partial && name === '') this.#partial.args.add(arrayAt(call, 'partialArgs'))
    else if (name !== '') {
      this.#closeAll()
      const index = this.#openCall(name, textAt(call, 'id'))
      const args = new PartialArgs(objectAt(call, 'args'))
      args.add(arrayAt(call, 'partialArgs'))
      if (willContinue || arrayAt(call, 'partialArgs').length > 0) this.#partial = { index, args }
      else this.#made.push({ type: 'delta', index, text: inputText(call.args) })
      if (signature !== '') this.#seal(index, signature)
      if (!this.#partial) this.#made.push({ type: 'close', index })
    }
    if (!willContinue) this.#closePartial(false)
  }

  #openCall(name: string, id: string): number {
    const callId = id === '' || this.#callIds.has(id) ? this.#context.newCallId() : id
    this.#callIds.add(callId)
    this.#calls++
    const index = this.#blocks++
    this.#made.push({ type: 'open', index, block: 'tool-call', callId, name })
    return index
  }

  /** Images within thoughts are not part of the answer. */
  #readMedia(media: JsonObject, isThought: boolean, signature: string): void {
    const declared = textAt(media, 'mimeType')
    const { mediaType, data } = base64Source(textAt(media, 'data'), declared)
    const block = /^image\//.test(mediaType) ? 'image' : /^audio\//.test(mediaType) ? 'audio' : undefined
    if (!isThought && !block && data !== '') this.#context.lose?.('inlineData')
    if (isThought || !block || data === '') return
    this.#closeAll()
    this.#hasMedia = true
    const index = this.#blocks++
    // Raw audio is described by its parameters: `audio/L16;rate=24000`.
    this.#made.push({ type: 'open', index, block, mediaType: block === 'audio' && declared !== '' ? declared : mediaType })
    this.#made.push({ type: 'delta', index, text: data })
    if (signature !== '') this.#seal(index, signature)
    this.#made.push({ type: 'close', index })
  }

  #seal(index: number, value: string): void {
    this.#made.push({ type: 'opaque', index, opaque: { family: 'google', kind: 'signature', value } })
  }

  /** Stores new citations, since streams repeat earlier ones. */
  #noteSupports(supports: readonly Support[]): boolean {
    const before = this.#supports.length
    for (const support of supports) {
      const key = `${support.startByte} ${support.endByte} ${support.url} ${support.text}`
      if (this.#knownSupports.has(key) || this.#knownSupports.size >= supportsMax) continue
      this.#knownSupports.add(key)
      this.#supports.push(support)
    }
    return this.#supports.length > before
  }

  /** Writes citations whose piece is in the open text; the others wait, since a stream may send them before the piece. */
  #cite(): void {
    const open = this.#open
    if (open?.kind !== 'text' || this.#supports.length === 0) return
    this.#supports = this.#supports.filter((support) => {
      const place = placeOf(support, open.text)
      if (!place) return true
      const { url, title } = support
      this.#citedUrls.add(url)
      this.#made.push({ type: 'cite', index: open.index, citation: { url, title, ...place } })
      return false
    })
  }

  /** Sources that support no passage are cited at the end of the text. */
  #citeWhole(): void {
    const open = this.#open
    if (open?.kind !== 'text') return
    const end = open.text.length
    for (const { url, title } of this.#supports.filter((support) => isOfAll(support) && !this.#citedUrls.has(support.url)))
      this.#made.push({ type: 'cite', index: open.index, citation: { url, title, start: end, end } })
    this.#supports = this.#supports.filter((support) => !isOfAll(support))
  }

  /** Citations of an answer without text, such as an image, are added to an empty text block. */
  #citeRest(): void {
    if (this.#hasText || this.#supports.length === 0) return
    const index = this.#blocks++
    this.#made.push({ type: 'open', index, block: 'text' })
    for (const { url, title } of this.#supports)
      this.#made.push({ type: 'cite', index, citation: { url, title, start: 0, end: 0 } })
    this.#made.push({ type: 'close', index })
  }

  #closeAll(): void {
    this.#closePartial(false)
    this.#closeText()
  }

  #closeText(): void {
    if (!this.#open) return
    if (this.#open.kind === 'text') this.#tellLogprobs(this.#open.index)
    this.#cite()
    this.#made.push({ type: 'close', index: this.#open.index })
    this.#open = undefined
  }

  /**
   * Closes the call that is sent in pieces. If it was cut off, its JSON stays without its last brace, so that it is recognized as
   * incomplete.
   */
  #closePartial(isCut: boolean): void {
    if (!this.#partial) return
    const { index, args } = this.#partial
    this.#made.push({ type: 'delta', index, text: isCut ? args.json.slice(0, -1) : args.json })
    this.#made.push({ type: 'close', index, ...(isCut ? { isCut } : {}) })
    this.#partial = undefined
  }
}

/** Whether it is the first candidate; further ones are never requested. */
function isFirst({ index }: JsonObject): boolean {
  return index === undefined || index === 0
}

function isThoughtText(part: JsonObject): boolean {
  return part.thought === true && !objectAt(part, 'inlineData') && !objectAt(part, 'functionCall')
}

/**
 * The members of parts that are read entirely. Executed code is written as text, without its form; of parts of other kinds (uses of
 * Google's tools, files by URL) nothing is read.
 */
const readMembers: ReadonlySet<string> = new Set([
  ...['text', 'thought', 'thoughtSignature', 'audioTranscription', 'mediaResolution', 'videoMetadata', 'partMetadata'],
])

/** A part as text: executed code and its output become code blocks. */
function textOf(part: JsonObject): string {
  const code = objectAt(part, 'executableCode')
  const result = objectAt(part, 'codeExecutionResult')
  const transcription = objectAt(part, 'audioTranscription')
  if (code) return `\n\`\`\`${textAt(code, 'language').toLowerCase()}\n${textAt(code, 'code').trimEnd()}\n\`\`\`\n`
  if (result) return `\n\`\`\`\n${textAt(result, 'output').trimEnd()}\n\`\`\`\n`
  return transcription ? textAt(transcription, 'text') : answerAt(part, 'text')
}

/** Compatible hosts have a text in place of the content, or of a part. */
function partsOf(content: unknown): JsonObject[] {
  const parts = isObject(content) ? arrayAt(content, 'parts') : content ? [content] : []
  return parts.map((part) => (isObject(part) ? part : { text: answerText(part) }))
}

function brokenReply(word: string, explanation: string) {
  const message = explanation || (word === '' ? 'the upstream sent no candidates' : `the reply ended with ${word}`)
  return { message, type: '', code: word, param: null, status: 502 }
}
