import { Semaphore } from '../../../base/lib/collections/semaphore.ts'
import { CountThread } from '../../protocols/count-thread.ts'
import { countWhole, factorOver, type Vocabulary, vocabularyOf } from '../../protocols/count-tokens.ts'

/**
 * Counts prompts whose greatest length by their bytes a balance does not cover: in a thread of its own, one prompt of a user at a time,
 * and no more bytes at once than `bytesMax`. What cannot be counted has the number of its bytes.
 */
export class PromptCounter {
  readonly #thread = new CountThread()
  readonly #ofUser = new Map<number, { readonly queue: Semaphore; calls: number }>()
  #bytes = 0

  /** The most tokens that texts can have for all of `models`; never more than their bytes in UTF-8. */
  async most(userId: number, texts: readonly string[], models: readonly string[]): Promise<number> {
    const text = texts.join('\n')
    const bytes = Buffer.byteLength(text)
    const factor = Math.max(...models.map(factorOver))
    if (bytes > textMax || this.#bytes + bytes > bytesMax || !Number.isFinite(factor)) return bytes
    const vocabularies = new Set(models.map(vocabularyOf))
    const [vocabulary = 'o200k'] = vocabularies
    // A text in two vocabularies, behind channels that answer with different models, is bounded like one of an unknown vocabulary.
    const times = vocabularies.size === 1 ? factor : 2
    const counted = await this.#count(userId, { text, bytes, vocabulary })
    return counted === undefined ? bytes : Math.min(bytes, Math.ceil(counted * times))
  }

  close(): Promise<void> {
    return this.#thread.close()
  }

  /** Undefined when the user has too many prompts waiting, or when the thread has died. */
  async #count(userId: number, asked: { text: string; bytes: number; vocabulary: Vocabulary }): Promise<number | undefined> {
    const { text, bytes, vocabulary } = asked
    if (bytes <= atOnceMax) return countWhole(text, vocabulary)
    const user = this.#ofUser.get(userId) ?? { queue: new Semaphore(1, waitingMax), calls: 0 }
    this.#ofUser.set(userId, user)
    user.calls++
    this.#bytes += bytes
    try {
      return await user.queue.run(() => this.#thread.count(text, vocabulary), refuse)
    } catch {
      return undefined
    } finally {
      this.#bytes -= bytes
      user.calls--
      if (user.calls === 0) this.#ofUser.delete(userId)
    }
  }
}

function refuse(): never {
  throw new Error('Too many prompts of this user wait to be counted')
}

const textMax = 2_000_000
const bytesMax = 16_000_000
/** Counted in two steps of less than a millisecond each, without a thread. */
const atOnceMax = 2_000
const waitingMax = 8
