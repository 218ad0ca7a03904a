import type { RunningChannel } from '../../channels/model-index.ts'
import { type Choice, type Selected, selectChannel, selectKey, selectPinned } from '../../channels/select.ts'
import { readSession, type Session } from '../../channels/session.ts'
import type { RelayParts, Work } from '../relay-parts.ts'
import type { UpstreamFailure } from '../upstream/failure.ts'
import { attempt } from './attempt.ts'

/** The way of one request over the channels: which is asked next, and what those that were asked have taught. */
export class Route {
  readonly #app: RelayParts
  readonly #work: Work
  readonly #tried = new Set<number>()
  readonly #triedKeys = new Set<number>()
  #full: Map<number, number> | undefined
  #session: { readonly read: Session | undefined } | undefined

  constructor(app: RelayParts, work: Work) {
    this.#app = app
    this.#work = work
  }

  /** The channel and key for the next attempt. */
  next(): Selected {
    const { channels, traffic, options } = this.#app
    const { caller, facts, format, group, inputTokens, home } = this.#work
    if (caller.pinnedChannel !== 0)
      return selectPinned(channels.current, { id: caller.pinnedChannel, model: facts.model }, traffic)
    if (home) return selectKey(channels.current, home)
    const wanted = {
      group,
      model: facts.model,
      format: format.format,
      inputTokens,
      strategy: options.current.GroupRouting[group],
    }
    const tried = { tried: this.#tried, triedKeys: this.#triedKeys, full: this.#full }
    return selectChannel(channels.current, { ...wanted, ...tried, session: () => this.#readSession() }, traffic)
  }

  /** Tries a channel, and tells what came of it to those who watch the channels. `full`: its limits let nothing in, and it was not asked. */
  async attempt(channel: RunningChannel, choice: Choice): Promise<'answered' | 'full' | UpstreamFailure> {
    const { app, work } = { app: this.#app, work: this.#work }
    const { call, facts, inputTokens } = work
    const run = app.traffic.begin(channel, { id: call.id, model: facts.model, inputTokens, isPinned: choice === 'pinned' })
    try {
      const fullMs = run.fullMs ? await run.fullMs : 0
      if (fullMs > 0) {
        this.#full ??= new Map()
        this.#full.set(channel.id, fullMs)
        return 'full'
      }
      const startedMs = app.steady()
      const result = await attempt(app, work, channel)
      if (result !== 'answered') this.#noteFailed(channel, result)
      else if (this.#session?.read) app.traffic.remember(this.#session.read.key, channel)
      if (call.isOver) run.left()
      else if (work.brokeOff) run.failed(work.brokeOff)
      else if (result === 'answered') run.answered(Math.max(0, (call.firstByteMs || app.steady()) - startedMs))
      else run.failed(result)
      return result
    } finally {
      run.left()
    }
  }

  /** After a fault of a key another key of the channel may do better; otherwise the channel is not asked again. */
  #noteFailed(channel: RunningChannel, failure: UpstreamFailure): void {
    if (failure.isFaultOfKey) this.#triedKeys.add(channel.keyId)
    else this.#tried.add(channel.id)
  }

  #readSession(): Session | undefined {
    const { caller, call, body, facts } = this.#work
    this.#session ??= {
      read: readSession({
        owner: `${caller.userId}/${caller.tokenId}`,
        model: facts.model,
        headers: call.request.headers,
        body: body.json,
      }),
    }
    return this.#session.read
  }
}
