import { textOf } from '../../lib/i18n.ts'
import { type Stored, storedJson } from '../../lib/stored.ts'
import { streamChat } from '../../lib/stream-chat.ts'
import { afterEvent, isMessages, isRunning, type Message, newest, requestOf } from './messages.ts'
import type { Settings } from './settings.ts'
import { texts } from './texts.ts'

const saveEveryMs = 1000

/** One person's conversation: its messages, the answer that is being written, and its memory in this browser. */
export class Conversation {
  readonly #memory: Stored<readonly Message[]>
  readonly #listeners = new Set<() => void>()
  #messages: readonly Message[]
  #savedAtMs = 0
  #answering: AbortController | undefined

  constructor(userId: number) {
    this.#memory = storedJson<readonly Message[]>(`playground-chat:${userId}`, [], isMessages)
    // An answer that was being written when the page went away will not go on.
    this.#messages = this.#memory.read().map((message) => (isRunning(message) ? { ...message, state: 'stopped' } : message))
  }

  readonly read = (): readonly Message[] => this.#messages

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  ask(question: string, settings: Settings): void {
    this.#set([...this.#messages, { id: newId(), role: 'user', content: question, state: 'complete' }])
    void this.#answer(settings)
  }

  /** Asks the last question anew; what was answered is dropped. */
  retry(settings: Settings): void {
    this.#set(this.#messages.slice(0, this.#lastQuestion() + 1))
    void this.#answer(settings)
  }

  /** Asks something else instead of the last question. */
  rewrite(question: string, settings: Settings): void {
    this.#set(this.#messages.slice(0, this.#lastQuestion()))
    this.ask(question, settings)
  }

  remove(id: string): void {
    this.#set(this.#messages.filter((message) => message.id !== id))
    this.#save()
  }

  clear(): void {
    this.stop()
    this.#set([])
    this.#save()
  }

  stop(): void {
    this.#answering?.abort()
  }

  #lastQuestion(): number {
    return this.#messages.findLastIndex(({ role }) => role === 'user')
  }

  async #answer(settings: Settings): Promise<void> {
    this.stop()
    const control = new AbortController()
    this.#answering = control
    const startedMs = Date.now()
    const request = requestOf(settings, this.#messages)
    let answer: Message = { id: newId(), role: 'assistant', content: '', state: 'loading', model: settings.model }
    this.#set([...this.#messages, answer])
    this.#save()

    let timer: ReturnType<typeof setTimeout> | undefined
    for await (const event of streamChat(request, control.signal)) {
      answer = afterEvent(answer, event, { stopped: control.signal.aborted, cut: textOf(texts, 'cut') })
      timer ??= setTimeout(() => {
        timer = undefined
        this.#replace(answer)
      }, pauseFor(answer))
    }
    clearTimeout(timer)
    this.#replace({ ...answer, durationMs: Date.now() - startedMs })
    this.#save()
  }

  #replace(answer: Message): void {
    this.#set(this.#messages.map((message) => (message.id === answer.id ? answer : message)))
    if (Date.now() - this.#savedAtMs > saveEveryMs) this.#save()
  }

  #set(messages: readonly Message[]): void {
    this.#messages = messages
    for (const listener of this.#listeners) listener()
  }

  #save(): void {
    this.#savedAtMs = Date.now()
    this.#memory.write(newest(this.#messages))
  }
}

/** Milliseconds between two looks of a growing text: the longer it is, the more its drawing costs. */
function pauseFor({ content, reasoning = '' }: Message): number {
  return 40 + (content.length + reasoning.length) / 100
}

/** Not `randomUUID`, which plain http has not. */
function newId(): string {
  return Date.now().toString(36) + Math.random().toString(36).slice(2)
}
