import type { ChatEvent } from '../../lib/chat-events.ts'
import { textOf } from '../../lib/i18n.ts'
import { continueChat, streamChat } from '../../lib/stream-chat.ts'
import type { StoredConversation } from './archive.ts'
import { findCost } from './find-cost.ts'
import { mergedTurns } from './merge.ts'
import type { Settings } from './settings.ts'
import { texts } from './texts.ts'
import { type Answer, afterEvent, isRunning, newest, type Question, requestOf, settledTurns, type Turn } from './turns.ts'
import type { OtherWriters } from './writers.ts'

const saveEveryMs = 2000

/** A stored conversation, or one from another screen, which has no head yet. */
export type Begun = Pick<StoredConversation, 'turns'> & Partial<StoredConversation>

interface ConversationInput {
  readonly id: string
  readonly kept?: Begun | undefined
  /** The answers that other tabs are writing. */
  readonly others: Pick<OtherWriters, 'isWriting'>
  readonly save: () => void
}

/** One conversation: its turns, and the answers that are being written. `save` is called after changes that must be stored. */
export class Conversation {
  readonly id: string
  readonly #save: () => void
  readonly #listeners = new Set<() => void>()
  /** By the id of the answer that is being written. */
  readonly #running = new Map<string, AbortController>()
  readonly #others: Pick<OtherWriters, 'isWriting'>
  #turns: readonly Turn[]
  /** The turns for display: answers that nobody is writing are stopped. */
  #shown: readonly Turn[]
  /** The stored turns, as far as this tab knows, and their version. */
  #kept: readonly Turn[]
  #version: string | undefined
  #savedAtMs = 0

  constructor({ id, kept, others, save }: ConversationInput) {
    this.id = id
    this.#others = others
    this.#turns = kept?.turns ?? []
    this.#shown = this.#settled()
    this.#kept = this.#turns
    this.#version = kept?.head?.version
    this.#save = save
  }

  readonly read = (): readonly Turn[] => this.#shown

  /** The answers that this tab is writing. */
  writing(): readonly string[] {
    return [...this.#running.keys()]
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Asks all models of the settings side by side. */
  ask({ text, pictures }: Question, settings: Settings): void {
    const turn: Turn = { id: newId(), question: text, pictures, answers: settings.models.map(blankAnswer) }
    this.#set([...this.#turns, turn])
    this.#keep()
    for (const answer of turn.answers) this.#begin(answer, settings)
  }

  /** Replaces an earlier question; everything after it is removed. */
  rewrite(turnId: string, question: Question, settings: Settings): void {
    const place = this.#turns.findIndex(({ id }) => id === turnId)
    if (place >= 0) this.#set(this.#turns.slice(0, place))
    this.ask(question, settings)
  }

  /** Regenerates one answer of the last turn with the model now chosen for its column. */
  retry({ id, lane, model }: Answer, settings: Settings): void {
    const fresh = blankAnswer(settings.models[lane] || model, lane)
    this.#replace(fresh, id)
    this.#begin(fresh, settings)
  }

  removeTurn(turnId: string): void {
    this.#set(this.#turns.filter(({ id }) => id !== turnId))
    this.#keep()
  }

  removeAnswer(answerId: string): void {
    this.#change(answerId, (answers) => answers.filter(({ id }) => id !== answerId))
    this.#keep()
  }

  /** Stops one answer, or all. */
  stop(answerId?: string): void {
    const controls = answerId === undefined ? [...this.#running.values()] : [this.#running.get(answerId)]
    for (const control of controls) control?.abort()
  }

  /** The turns to store, merged with those of another tab; call `confirm` once they are stored under this version. */
  meet(kept: StoredConversation | undefined, version: string): { turns: readonly Turn[]; confirm: () => void } {
    const merged = this.#mergedWith(kept)
    const turns = newest(merged)
    this.#take(merged)
    const ids = new Set(turns.map(({ id }) => id))
    return {
      turns,
      confirm: () => {
        this.#kept = merged.filter(({ id }) => ids.has(id))
        this.#version = version
      },
    }
  }

  /** Shows the turns stored by another tab. */
  follow(kept: StoredConversation): void {
    if (kept.head.version === this.#version) return
    const merged = this.#mergedWith(kept)
    this.#take(merged)
    const ids = new Set(kept.turns.map(({ id }) => id))
    this.#kept = merged.filter(({ id }) => ids.has(id))
    this.#version = kept.head.version
  }

  #mergedWith(kept: StoredConversation | undefined): readonly Turn[] {
    if (!kept || kept.head.version === this.#version) return this.#turns
    return mergedTurns({ base: this.#kept, mine: this.#turns, theirs: kept.turns })
  }

  #take(turns: readonly Turn[]): void {
    if (turns !== this.#turns) this.#set(turns)
  }

  /** Looks again which answers are still being written. */
  refresh(): void {
    const shown = this.#settled()
    if (shown.length === this.#shown.length && shown.every((turn, at) => isSame(turn, this.#shown[at]))) return
    this.#shown = shown
    this.#tell()
  }

  #settled(): readonly Turn[] {
    return settledTurns(this.#turns, ({ id }) => this.#running.has(id) || this.#others.isWriting(id))
  }

  /** Goes on with the answers that were being written when the page was closed, as far as the server has them. */
  async goOn(): Promise<void> {
    const left = this.#turns.flatMap(({ answers }) => answers).filter((one) => isRunning(one) && !this.#others.isWriting(one.id))
    await Promise.all(left.map((answer) => this.#continue(answer)))
  }

  async #continue(answer: Answer): Promise<void> {
    const { id, lane, model, requestId = '' } = answer
    if (requestId === '' || this.#running.has(id)) return
    const control = new AbortController()
    this.#running.set(id, control)
    const events = await continueChat(requestId, control.signal)
    if (events) return this.#write({ id, lane, model, requestId, state: 'loading', content: '' }, events, control)
    this.#running.delete(id)
    this.refresh()
  }

  #begin(first: Answer, settings: Settings): void {
    const control = new AbortController()
    this.#running.set(first.id, control)
    void this.#write(first, streamChat(requestOf(settings, first, this.#turns), control.signal), control)
  }

  async #write(first: Answer, events: AsyncGenerator<ChatEvent>, control: AbortController): Promise<void> {
    const startedMs = Date.now()
    let answer = first
    let timer: ReturnType<typeof setTimeout> | undefined
    for await (const event of events) {
      answer = afterEvent(answer, event, { stopped: control.signal.aborted, cut: textOf(texts, 'cut') })
      if (event.kind === 'begun') this.#keepBegun(answer)
      if (answer.state === 'incomplete') answer = { firstMs: Date.now() - startedMs, ...answer }
      timer ??= setTimeout(() => {
        timer = undefined
        this.#replace(answer)
        if (Date.now() - this.#savedAtMs > saveEveryMs) this.#keep()
      }, pauseFor(answer))
    }
    clearTimeout(timer)
    this.#running.delete(first.id)
    this.#replace({ ...answer, durationMs: Date.now() - startedMs })
    this.#keep()
    await this.#findCost(answer)
  }

  /** With its request id a later page can go on with it. */
  #keepBegun(answer: Answer): void {
    this.#replace(answer)
    this.#keep()
  }

  /** The charge is in the log, which has the request by its id. */
  async #findCost({ id, requestId, state }: Answer): Promise<void> {
    if (!requestId || (state === 'error' && !this.#find(id)?.content)) return
    const cost = await findCost(requestId)
    const answer = cost === undefined ? undefined : this.#find(id)
    if (!answer) return
    this.#replace({ ...answer, cost })
    this.#keep()
  }

  #find(answerId: string): Answer | undefined {
    return this.#turns.flatMap(({ answers }) => answers).find(({ id }) => id === answerId)
  }

  #replace(answer: Answer, answerId = answer.id): void {
    this.#change(answerId, (answers) => answers.map((one) => (one.id === answerId ? answer : one)))
  }

  /** All other turns stay the same objects, by which the merge recognizes the turns that were changed here. */
  #change(answerId: string, change: (answers: readonly Answer[]) => readonly Answer[]): void {
    this.#set(
      this.#turns.map((turn) =>
        turn.answers.some(({ id }) => id === answerId) ? { ...turn, answers: change(turn.answers) } : turn,
      ),
    )
  }

  #set(turns: readonly Turn[]): void {
    this.#turns = turns
    this.#shown = this.#settled()
    this.#tell()
  }

  #tell(): void {
    for (const listener of this.#listeners) listener()
  }

  #keep(): void {
    this.#savedAtMs = Date.now()
    this.#save()
  }
}

const blankAnswer = (model: string, lane: number): Answer => ({ id: newId(), lane, model, state: 'loading', content: '' })

/** Milliseconds between two renderings of a growing text: the longer it is, the more a rendering costs. */
function pauseFor({ content, reasoning = '' }: Answer): number {
  return 40 + (content.length + reasoning.length) / 100
}

/** Not `randomUUID`, which does not exist on plain http. */
export function newId(): string {
  return Date.now().toString(36) + Math.random().toString(36).slice(2)
}

/** Whether a turn is unchanged: settling it changed no answer. */
function isSame(turn: Turn, before: Turn | undefined): boolean {
  if (turn === before) return true
  return before?.id === turn.id && turn.answers.every(({ state }, at) => state === before.answers[at]?.state)
}
