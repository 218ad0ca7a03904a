import type { RunningChannel } from '../../channels/model-index.ts'
import { type Choice, type Selected, selectChannel, selectKey, selectPinned } from '../../channels/select.ts'
import { readSession, type Session } from '../../channels/session.ts'
import type { AdmittedRequest, RelayParts, SharedByAttempts } from '../relay-parts.ts'
import type { UpstreamFailure } from '../upstream/failure.ts'
import { type Attempted, attemptChannel } from './attempt.ts'

/** The attempts of one request: which channel is asked next, and what those that were asked have taught. */
export class ChannelAttempts {
  readonly #app: RelayParts
  readonly #request: AdmittedRequest
  readonly #shared: SharedByAttempts
  readonly #tried = new Set<number>()
  readonly #triedKeys = new Set<number>()
  #full: Map<number, number> | undefined
  #session: { readonly read: Session | undefined } | undefined

  constructor(app: RelayParts, request: AdmittedRequest, shared: SharedByAttempts) {
    this.#app = app
    this.#request = request
    this.#shared = shared
  }

  /** The channel and key for the next attempt. */
  next(): Selected {
    const { channels, traffic, options } = this.#app
    const { caller, facts, format, group, inputTokens, home } = this.#request
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

  /** Asks a channel, and reports the result to its health. `full`: its limits let nothing in, and it was not asked. */
  async attempt(channel: RunningChannel, choice: Choice): Promise<Attempted | { readonly outcome: 'full' }> {
    const [app, request, shared] = [this.#app, this.#request, this.#shared]
    const { call, facts, inputTokens } = request
    const run = app.traffic.begin(channel, { id: call.id, model: facts.model, inputTokens, isPinned: choice === 'pinned' })
    try {
      const fullMs = run.waitMs ? await run.waitMs : 0
      if (fullMs > 0) {
        this.#full ??= new Map()
        this.#full.set(channel.id, fullMs)
        return { outcome: 'full' }
      }
      const startedMs = app.steady()
      const attempted = await attemptChannel(app, { request, shared, channel, choice })
      const { outcome, state } = attempted
      if (outcome !== 'answered') this.#noteFailed(channel, outcome)
      else if (this.#session?.read) app.traffic.remember(this.#session.read.key, channel)
      if (call.isOver) run.abandoned()
      else if (state.brokeOff) run.failed(state.brokeOff)
      else if (outcome === 'answered') run.answered(Math.max(0, (call.firstByteMs || app.steady()) - startedMs))
      else run.failed(outcome)
      return attempted
    } finally {
      run.abandoned()
    }
  }

  /** After a fault of a key another key of the channel may do better; otherwise the channel is not asked again. */
  #noteFailed(channel: RunningChannel, failure: UpstreamFailure): void {
    if (failure.isFaultOfKey) this.#triedKeys.add(channel.keyId)
    else this.#tried.add(channel.id)
  }

  #readSession(): Session | undefined {
    const { caller, call, body, facts } = this.#request
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
