import { ofSite } from '../../lib/base-path.ts'
import { type Archive, conversationsMax, type Head, openArchive } from './archive.ts'
import { type Begun, Conversation, newId } from './conversation.ts'
import { type Turn, titleOf } from './turns.ts'
import { beatMs, OtherWriters, type TabMessage } from './writers.ts'

const toldMs = 500

export interface LibraryState {
  /** False while the browser's storage is being read. */
  readonly ready: boolean
  /** Stored conversations, newest first. */
  readonly heads: readonly Head[]
  /** The open conversation. */
  readonly conversation: Conversation
}

/** One user's conversations in this browser: the open one, and the list of all stored ones. Tabs notify each other of changes. */
export class Library {
  readonly #userId: number
  readonly #begins: readonly Turn[] | undefined
  readonly #begunId = newId()
  readonly #archive: Promise<Archive>
  readonly #tab = newId()
  readonly #others = new OtherWriters()
  readonly #listeners = new Set<() => void>()
  /** The ids of conversations that this tab has removed. */
  readonly #removed = new Set<string>()
  #otherTabs: BroadcastChannel | undefined
  #shelf: LibraryState

  /** `begins`: the turns of a conversation from elsewhere, instead of the last one. */
  constructor(userId: number, begins?: readonly Turn[]) {
    this.#userId = userId
    this.#begins = begins
    this.#archive = openArchive(userId)
    this.#shelf = { ready: false, heads: [], conversation: this.#make(newId()) }
    void this.#load()
  }

  readonly read = (): LibraryState => this.#shelf

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Follows changes of other tabs; the returned function ends that, and stops running answers. */
  readonly attend = (): (() => void) => {
    const channel = new BroadcastChannel(ofSite('playground'))
    channel.onmessage = ({ data }: MessageEvent<TabMessage>) => this.#hear(data)
    this.#otherTabs = channel
    this.#say({ asks: true })
    const beat = setInterval(() => {
      if (this.#shelf.conversation.writing().length > 0) this.#say()
      this.#shelf.conversation.refresh()
    }, beatMs)
    const leave = () => this.#say({ writing: [] })
    window.addEventListener('pagehide', leave)
    return () => {
      // An answer that nobody reads any more is aborted, so that it costs nothing.
      this.stop()
      leave()
      clearInterval(beat)
      window.removeEventListener('pagehide', leave)
      this.#otherTabs = undefined
      channel.close()
    }
  }

  #say(news: Partial<TabMessage> = {}): void {
    this.#otherTabs?.postMessage({ tab: this.#tab, writing: this.#shelf.conversation.writing(), ...news } satisfies TabMessage)
  }

  #hear(news: TabMessage): void {
    this.#others.hear(news)
    this.#shelf.conversation.refresh()
    if (news.asks && this.#shelf.conversation.writing().length > 0) this.#say()
    if (news.changed) void this.#follow()
  }

  /** Whether another screen has handed over this conversation. */
  begins({ id }: Conversation): boolean {
    return id === this.#begunId
  }

  /** Leaves the stored conversation and begins an empty one. */
  startNew(): void {
    this.stop()
    this.#change({ conversation: this.#make(newId()) })
  }

  async open(id: string): Promise<void> {
    this.stop()
    // Another tab may have continued it.
    this.#removed.delete(id)
    const conversation = this.#make(id, await (await this.#archive).read(id))
    this.#change({ conversation })
    this.#goOn(conversation)
  }

  async rename({ id }: Head, title: string): Promise<void> {
    await (await this.#archive).change(id, (kept) => kept && { ...kept, head: { ...kept.head, title } })
    await this.#list()
  }

  /** Recorded as removed before they are deleted, so that a running save does not store them again. */
  async remove(ids: readonly string[]): Promise<void> {
    for (const id of ids) this.#removed.add(id)
    if (this.#removed.has(this.#shelf.conversation.id)) this.startNew()
    await (await this.#archive).remove(ids)
    await this.#list()
  }

  stop(): void {
    this.#shelf.conversation.stop()
  }

  /** Restores the conversation of the last visit. */
  async #load(): Promise<void> {
    const archive = await this.#archive
    const heads = await archive.list()
    const [latest] = heads
    const conversation = this.#begins
      ? this.#make(this.#begunId, { turns: this.#begins })
      : latest
        ? this.#make(latest.id, await archive.read(latest.id))
        : this.#make(newId())
    this.#change({ ready: true, heads, conversation })
    this.#goOn(conversation)
  }

  /** Other tabs have told by then what they write. */
  #goOn(conversation: Conversation): void {
    setTimeout(() => this.#shelf.conversation === conversation && void conversation.goOn(), toldMs)
  }

  #make(id: string, kept?: Begun): Conversation {
    const conversation: Conversation = new Conversation({
      ...{ id, kept, others: this.#others },
      save: () => void this.#keep(conversation),
    })
    return conversation
  }

  async #keep(conversation: Conversation): Promise<void> {
    const archive = await this.#archive
    const { id } = conversation
    // A conversation removed while it was being settled stays removed.
    if (this.#removed.has(id)) return
    if (this.#shelf.conversation !== conversation && !this.#shelf.heads.some((head) => head.id === id)) return
    const version = newId()
    let confirm = () => {}
    try {
      await archive.change(id, (kept) => {
        const met = conversation.meet(kept, version)
        confirm = met.confirm
        const title = kept?.head.title || titleOf(met.turns)
        return { head: { id, userId: this.#userId, title, updatedAtMs: Date.now(), version }, turns: met.turns }
      })
      confirm()
      await this.#list()
    } catch {
      // A full storage keeps its content; the conversation on the page continues.
    }
  }

  /** Reads the list again after a change of this tab, and notifies the others. */
  async #list(): Promise<void> {
    const archive = await this.#archive
    const heads = await archive.list()
    this.#change({ heads: heads.slice(0, conversationsMax) })
    const tooMany = heads.slice(conversationsMax)
    if (tooMany.length > 0) await archive.remove(tooMany.map(({ id }) => id))
    this.#say({ changed: true })
  }

  /** Another tab has changed the storage. */
  async #follow(): Promise<void> {
    const archive = await this.#archive
    const { conversation, heads: before } = this.#shelf
    const { id } = conversation
    const [heads, kept] = await Promise.all([archive.list(), archive.read(id)])
    this.#change({ heads })
    if (kept) conversation.follow(kept)
    else if (before.some((head) => head.id === id) && conversation.writing().length === 0) this.startNew()
  }

  #change(patch: Partial<LibraryState>): void {
    this.#shelf = { ...this.#shelf, ...patch }
    for (const listener of this.#listeners) listener()
  }
}
