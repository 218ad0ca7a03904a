import type { Usage } from '../../contract/usage.ts'
import type { RunningChannel } from '../channels/model-index.ts'
import { fail } from '../lib/failure.ts'
import { background } from '../lib/logger.ts'
import { membersOf, memberValue } from '../lib/splice-json.ts'
import { eventsIn } from '../lib/sse.ts'
import { isRunning } from '../protocols/openai-responses/states.ts'
import type { PaidCall } from '../protocols/paid-calls.ts'
import { type JsonObject, objectAt, textAt, type UpstreamErrorFacts } from '../protocols/wire-format.ts'
import type { Billed } from './billed.ts'
import { callerHeaders } from './caller-headers.ts'
import type { KeptResponse } from './kept-responses.ts'
import { formOf } from './other-form.ts'
import type { Passage, Tap } from './passage.ts'
import type { RelayParts, Work } from './relay-parts.ts'
import { cancelResponse } from './response-at-upstream.ts'
import { parse } from './tap.ts'

/** One attempt, as far as what the upstream keeps of it is concerned. */
interface Noting {
  readonly app: RelayParts
  readonly work: Work
  readonly channel: RunningChannel
  readonly upstreamModel: string
}

/**
 * A passage that takes note of the id under which an upstream keeps its answer, where the caller can go on from it. One that goes on
 * in the background gets its row as soon as its id is seen: then it is charged whatever becomes of the caller and of this process.
 */
export function notingPassage(noting: Noting, passage: Passage): Passage {
  const { work } = noting
  const isKept = work.format.format === 'openai.responses' && !work.translation && work.body.json.store !== false
  if (!isKept) return passage
  return {
    ...passage,
    readWhole(body, contentType) {
      const whole = passage.readWhole(body, contentType)
      note(noting, responseIn(body))
      return whole
    },
    openTap: () => new NotingTap(passage.openTap(), noting),
    readReplay(body) {
      const replay = passage.readReplay(body)
      note(noting, responseIn(body))
      return replay
    },
  }
}

/** Whether the upstream goes on with it when this attempt is over; then it is charged later. Throws when that could not be written down. */
export async function runsOn({ response }: Work): Promise<boolean> {
  if (!response?.written) return false
  await response.written
  return true
}

/** The attempt failed before the caller had anything, and another channel may try: nobody is to be charged for what this one may do. */
export async function withdrawResponse({ app, work, channel, upstreamModel }: Noting): Promise<void> {
  const { response } = work
  delete work.response
  if (!response?.written) return
  const cancelling = cancelResponse(app, channel, { id: response.id, model: upstreamModel, caller: callerHeaders(work) })
  background(app.logger, 'cancel a response that nobody waits for', cancelling)
  await response.written.catch(() => {})
  await app.openResponses.withdraw(work.hold.requestId)
}

/** What the charge needs of the request, and no more. */
function billedFacts({ stream, reasoningEffort, requestedTier, hostedTools }: Work['facts']): Billed['facts'] {
  return {
    ...{ stream, reasoningEffort },
    ...(requestedTier ? { requestedTier } : {}),
    ...(hostedTools ? { hostedTools } : {}),
  }
}

/** The charge is on its way: the caller may go on from the answer, and nobody has to ask for it any more. */
export async function noteSettled({ app, work, channel }: Omit<Noting, 'upstreamModel'>, tokens: number, settled: Promise<void>) {
  const { response, hold } = work
  const kept = keptOf(work, channel, tokens)
  if (!response || !kept) return settled
  const keeping = app.keptResponses.keep(kept).catch((error: unknown) => {
    app.logger.error({ error, request: hold.requestId }, 'where a response lies could not be written down')
  })
  await Promise.all([settled, keeping])
  if (!response.written) return
  await response.written.catch(() => {})
  background(app.logger, 'close a charged response', app.openResponses.close(hold.requestId))
}

/** Where the response of an attempt lies at its vendor; undefined when the vendor keeps none. */
export function keptOf(
  { response, caller, facts }: Work,
  channel: { readonly id: number; readonly keyId: number },
  tokens: number,
): KeptResponse | undefined {
  if (!response) return undefined
  const { userId, tokenId } = caller
  return { id: response.id, userId, tokenId, channelId: channel.id, keyId: channel.keyId, model: facts.model, tokens }
}

function note({ app, work, channel, upstreamModel }: Noting, response: JsonObject | undefined): void {
  const id = textAt(response ?? {}, 'id')
  if (!response || id === '' || work.response?.id === id) return
  if (work.body.json.background !== true || !isRunning(response)) {
    work.response = { id }
    return
  }
  const { call, caller, facts, group, price, attempts, choice, hold, inputTokens } = work
  const { userId, tokenId, username, tokenName } = caller
  const place = { id, channelId: channel.id, keyId: channel.keyId }
  const bill = {
    call: { id: call.id, startedMs: call.startedMs, firstByteMs: call.firstByteMs, client: { address: call.client.address } },
    caller: { userId, tokenId, username, tokenName },
    facts: billedFacts(facts),
    ...(work.leftOut ? { leftOut: work.leftOut } : {}),
    ...{ group, price, attempts, choice, model: facts.model, upstreamModel, inputTokens },
    bound: work.bound,
  }
  const halves = [
    app.openResponses.open({ ...place, hold, bill }),
    app.keptResponses.keep({ ...place, userId, tokenId, model: facts.model, tokens: inputTokens }),
  ]
  // One that fails waits for the other: what is withdrawn must not be written behind it.
  const written = Promise.allSettled(halves)
    .then(() => Promise.all(halves))
    .then(
      () => {},
      (cause: unknown) => fail('database_unavailable', {}, { cause }),
    )
  // Who needs to know that it failed waits for it.
  written.catch(() => {})
  work.response = { id, written }
}

/** The answer, whole or as the first event that names it. */
function responseIn(body: Buffer): JsonObject | undefined {
  if (formOf(body) === 'events') return firstResponse(body.toString('latin1'))
  const members = membersOf(body)
  return members && { id: memberValue(body, members, 'id'), status: memberValue(body, members, 'status') }
}

function firstResponse(block: string): JsonObject | undefined {
  for (const { data } of eventsIn(block)) {
    const response = objectAt(parse(data) ?? {}, 'response')
    if (response) return response
  }
  return undefined
}

/** Looks at the first events until one names the response. Who has seen the name of one that runs on is charged for it. */
class NotingTap implements Tap {
  readonly #tap: Tap
  readonly #noting: Noting
  #isNoted = false
  #writing: Promise<void> | undefined

  constructor(tap: Tap, noting: Noting) {
    this.#tap = tap
    this.#noting = noting
  }

  get writing(): Promise<void> | undefined {
    return this.#writing
  }

  get usage(): Usage | undefined {
    return this.#tap.usage
  }

  get error(): UpstreamErrorFacts | undefined {
    return this.#tap.error
  }

  get hasOutput(): boolean {
    return this.#tap.hasOutput
  }

  get isEnded(): boolean {
    return this.#tap.isEnded
  }

  get stopped(): 'moderation' | undefined {
    return this.#tap.stopped
  }

  isComplete(): boolean {
    return this.#tap.isComplete()
  }

  text(): string {
    return this.#tap.text()
  }

  paidCalls(): readonly PaidCall[] {
    return this.#tap.paidCalls?.() ?? []
  }

  get unkept(): number | undefined {
    return this.#tap.unkept
  }

  take(block: string): string {
    if (!this.#isNoted) this.#look(block)
    return this.#tap.take(block)
  }

  finish(rest: string): string {
    return this.#tap.finish(rest)
  }

  ending(billed: Usage): string {
    return this.#tap.ending(billed)
  }

  writeError(error: UpstreamErrorFacts): string | undefined {
    return this.#tap.writeError?.(error)
  }

  #look(block: string): void {
    const response = firstResponse(block)
    if (!response) return
    this.#isNoted = true
    note(this.#noting, response)
    this.#writing = this.#noting.work.response?.written
    const written = () => {
      this.#writing = undefined
    }
    this.#writing?.then(written, () => {})
  }
}
