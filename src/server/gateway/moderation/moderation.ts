import type { OptionValues } from '../../../contract/options/index.ts'
import { linesOf } from '../../../contract/options/lists.ts'
import { isHeavy, yieldWithPriority } from '../../base/lib/time/yield-to-event-loop.ts'
import type { Core } from '../../base/options/core.ts'
import { derived } from '../../base/options/derived.ts'
import { CheckThread } from './check-thread.ts'
import type { CompletionRule } from './completion-check.ts'
import { findWord, WordList } from './word-list.ts'

/** Longer prompts are checked in another thread; for shorter ones, sending takes longer than the check. */
const readHereBelow = 32 * 1024

/** Listed words in prompts and answers, by the current options. */
export class Moderation {
  readonly #logger: Core['logger']
  readonly #thread = new CheckThread()
  readonly #checks: () => Checks

  constructor({ options, logger }: Pick<Core, 'options' | 'logger'>) {
    this.#logger = logger
    const listOf = lastResult(readList)
    this.#checks = derived(options, (values) => checksOf(values, listOf))
  }

  /** The first listed word of a prompt; returned without a promise when the prompt is short. */
  findInPrompt(texts: readonly string[]): string | undefined | Promise<string | undefined> {
    const { prompts } = this.#checks()
    if (!prompts) return undefined
    const length = texts.reduce((sum, text) => sum + text.length, 0)
    return length < readHereBelow ? findWord(prompts.words, texts) : this.#findInThread(prompts, texts, length)
  }

  /** The check of completions; undefined when it is off. */
  get completionRule(): CompletionRule | undefined {
    return this.#checks().completions
  }

  close(): Promise<void> {
    return this.#thread.close()
  }

  async #findInThread({ lines, words }: List, texts: readonly string[], length: number): Promise<string | undefined> {
    // They are copied on their way to the thread.
    if (isHeavy(length)) await yieldWithPriority()
    try {
      return await this.#thread.find(lines, texts)
    } catch (error) {
      // A slow check in this process is better than none.
      this.#logger.error({ error }, 'the thread that checks prompts failed')
      return findWord(words, texts)
    }
  }
}

interface List {
  readonly lines: readonly string[]
  readonly words: WordList
}

interface Checks {
  readonly prompts: List | undefined
  readonly completions: CompletionRule | undefined
}

function checksOf(values: OptionValues, listOf: (text: string) => List): Checks {
  const { CheckSensitiveEnabled, CheckSensitiveOnPromptEnabled, CheckSensitiveOnCompletionEnabled } = values
  const isOn = CheckSensitiveEnabled && (CheckSensitiveOnPromptEnabled || CheckSensitiveOnCompletionEnabled)
  const list = isOn ? listOf(values.SensitiveWords) : undefined
  if (!list || list.words.isEmpty) return { prompts: undefined, completions: undefined }
  return {
    prompts: CheckSensitiveOnPromptEnabled ? list : undefined,
    completions: CheckSensitiveOnCompletionEnabled
      ? { words: list.words, stops: values.StopOnSensitiveEnabled, piecesKept: values.StreamCacheQueueLength }
      : undefined,
  }
}

function readList(text: string): List {
  const lines = linesOf(text)
  return { lines, words: new WordList(lines) }
}

/** Caches the last result, because building a list of many words takes a while, and changes of other options do not affect it. */
function lastResult<Result>(compute: (text: string) => Result): (text: string) => Result {
  let last: { text: string; result: Result } | undefined
  return (text) => {
    if (last?.text !== text) last = { text, result: compute(text) }
    return last.result
  }
}
