import type { Opaque } from '../dialogue.ts'
import type { ReplyBuilder } from '../reply-builder.ts'
import { answerAt, arrayAt, isObject, type JsonObject, textAt } from '../wire-format.ts'
import { detailsText, readThinkingBlock, sealedDetails } from './read-past-reasoning.ts'

/**
 * Reads reasoning from the members that hosts use, yielding it once: a string, OpenRouter's typed list, Anthropic's signed blocks.
 * The list is kept complete, because its host requires it back unchanged. Source: protocols notes 2.2 and 3.7, edge cases 163 to
 * 165.
 */
export class ChatThoughts {
  readonly #reply: ReplyBuilder
  /** The text sent so far in the open reasoning block. */
  #sent = ''
  #details: Record<string, unknown>[] = []
  #hasNewDetails = false

  constructor(reply: ReplyBuilder) {
    this.#reply = reply
  }

  static isIn(delta: JsonObject): boolean {
    return textIn(delta) !== '' || arrayAt(delta, 'thinking_blocks').length > 0
  }

  /** Stores state that has to be sent back unchanged. */
  keep(delta: JsonObject): void {
    for (const detail of arrayAt(delta, 'reasoning_details')) if (isObject(detail)) this.#keep(detail)
  }

  tell(delta: JsonObject): void {
    const text = textIn(delta)
    this.say(text)
    for (const block of arrayAt(delta, 'thinking_blocks')) if (isObject(block)) this.#block(block, text !== '')
  }

  say(text: string): void {
    if (text === '') return
    if (!this.#reply.isSaying('reasoning')) this.#sent = ''
    this.#sent += text
    this.#reply.reasoning(text)
  }

  /** Called before other content: the stored state belongs to the reasoning before that content. */
  settle(): void {
    if (!this.#reply.isSaying('reasoning')) return
    const state = this.unsettled()
    if (state) this.#reply.sealReasoning(state)
    this.#reply.endSaid()
  }

  /** State received since the last call; undefined when there is none. */
  unsettled(): Opaque | undefined {
    const state = this.#hasNewDetails ? sealedDetails(this.#details) : undefined
    if (state) this.#hasNewDetails = false
    return state
  }

  /** A signed block ends with its signature, and may repeat the text of its pieces. */
  #block(block: JsonObject, isTold: boolean): void {
    const [part] = readThinkingBlock(block)
    if (!part) return
    if (!part.opaque) {
      if (!isTold) this.say(part.text)
      return
    }
    const sent = this.#reply.isSaying('reasoning') ? this.#sent : ''
    if (part.opaque.kind === 'redacted') this.#reply.endSaid()
    else this.say(part.text.startsWith(sent) ? part.text.slice(sent.length) : sent === '' ? part.text : '')
    this.#reply.sealReasoning(part.opaque)
    this.#reply.endSaid()
  }

  /** Joins the pieces of one list entry. */
  #keep(detail: JsonObject): void {
    this.#hasNewDetails = true
    const last = this.#details.at(-1)
    const isMore = last !== undefined && last.type === detail.type && last.index === detail.index && !textAt(last, 'data')
    if (!isMore) {
      this.#details.push({ ...detail })
      return
    }
    for (const [key, value] of Object.entries(detail)) {
      const isText = key === 'text' || key === 'summary'
      if (isText) last[key] = textAt(last, key) + textAt(detail, key)
      else if (value !== null && value !== undefined && key !== '__proto__') last[key] = value
    }
  }
}

function textIn(delta: JsonObject): string {
  return answerAt(delta, 'reasoning_content') || textAt(delta, 'reasoning') || detailsText(arrayAt(delta, 'reasoning_details'))
}
