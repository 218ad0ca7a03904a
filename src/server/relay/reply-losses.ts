import type { CallerFormat } from '../protocols/format.ts'
import type { OpenEvent } from '../protocols/reply-events.ts'
import { plainName } from './dropped-fields.ts'
import type { Work } from './relay-parts.ts'

/** Gathers, for the log row, what a translated reply holds and the caller does not get as it was. */
export class ReplyLosses {
  readonly #names: string[]
  readonly #asText: readonly OpenEvent['block'][]

  constructor({ translation, format }: Work) {
    this.#names = translation?.replyDropped ?? []
    this.#asText = mediaAsText[format.format] ?? []
  }

  note(name: string): void {
    const plain = plainName(name)
    if (plain !== '' && this.#names.length < namesMax && !this.#names.includes(plain)) this.#names.push(plain)
  }

  /** Names a picture or sound for which the caller's format has no place in a reply. */
  noteBlock({ block }: OpenEvent): void {
    if (this.#asText.includes(block)) this.note(block)
  }
}

const namesMax = 50

const mediaAsText: Readonly<Partial<Record<string, readonly OpenEvent['block'][]>>> = {
  'anthropic.messages': ['image', 'audio'],
  'openai.responses': ['audio'],
} satisfies Partial<Record<CallerFormat, readonly OpenEvent['block'][]>>
