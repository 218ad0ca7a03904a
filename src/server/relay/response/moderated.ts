import type { Usage } from '../../../contract/usage.ts'
import { CompletionCheck } from '../../moderation/completion-check.ts'
import type { PaidCall } from '../../protocols/paid-calls.ts'
import { replyTexts } from '../../protocols/reply-texts.ts'
import { type ReplyTexts, withTexts } from '../../protocols/text-slots.ts'
import type { JsonObject, UpstreamErrorFacts } from '../../protocols/wire-format.ts'
import type { AdmittedRequest, RelayParts } from '../relay-parts.ts'
import { parseObject } from '../upstream/read-reply.ts'
import type { Passage, Tap } from './adapter.ts'
import { CheckedEvents, type CheckFacts } from './moderated-events.ts'

/**
 * The passage itself while completions are not checked, or say nothing to people. Else one that takes listed words out of what it gives,
 * in the caller's format, however the upstream's became that: masks them, or ends the reply there.
 */
export function checkedPassage(
  { moderation, callerLog }: RelayParts,
  { call, format, facts }: Pick<AdmittedRequest, 'call' | 'format' | 'facts'>,
  passage: Passage,
): Passage {
  const rule = moderation.completionRule
  const texts = replyTexts[format.format]
  if (!rule || !texts) return passage
  const found = (word: string) => callerLog.of(call.client).info({ request: call.id, word }, 'a completion had a listed word')
  const checkFacts = format.stream && { rule, texts, stream: format.stream, wantsUsage: facts.wantsUsage, found }

  return {
    ...passage,
    readWhole(body, contentType) {
      const whole = passage.readWhole(body, contentType)
      return { ...whole, write: (billed) => checkedReply(whole.write(billed), texts, { rule, found }) }
    },
    openTap: () => (checkFacts ? new CheckedTap(passage.openTap(), checkFacts) : passage.openTap()),
    readReplay(body) {
      const replay = passage.readReplay(body)
      return {
        ...replay,
        write: (billed) => (checkFacts ? checkedEvents(replay.write(billed), checkFacts, billed) : replay.write(billed)),
      }
    },
  }
}

/** The same bytes when nothing is found. */
function checkedReply(body: Buffer, texts: ReplyTexts, { rule, found }: Pick<CheckFacts, 'rule' | 'found'>): Buffer {
  const reply = parseObject(body)
  let isStopped = false
  const passed = texts.inReply(reply).map(({ path, text }) => {
    if (isStopped) return { path, text: '', isChanged: true }
    const check = new CompletionCheck(rule)
    const checked = check.push(text)
    if (checked.found === undefined) return { path, text, isChanged: false }
    found(checked.found)
    isStopped = rule.stops
    return { path, text: checked.pass + check.flush().pass, isChanged: true }
  })
  const changed = passed.filter(({ isChanged }) => isChanged)
  if (changed.length === 0) return body
  const kept: JsonObject = withTexts(reply, changed)
  return Buffer.from(JSON.stringify(isStopped ? texts.stoppedReply(kept) : kept))
}

function checkedEvents(events: string, facts: CheckFacts, billed: Usage): string {
  const checked = new CheckedEvents(facts)
  const passed = checked.take(events)
  return checked.isStopped ? passed + checked.closing(billed) : passed + checked.flush()
}

/** A stream whose texts are checked on their way to the caller. One that is stopped has ended, whatever the upstream goes on to say. */
class CheckedTap implements Tap {
  readonly #tap: Tap
  readonly #events: CheckedEvents

  constructor(tap: Tap, facts: CheckFacts) {
    this.#tap = tap
    this.#events = new CheckedEvents(facts)
  }

  get usage(): Usage | undefined {
    return this.#tap.usage
  }

  get error(): UpstreamErrorFacts | undefined {
    return this.#events.isStopped ? undefined : this.#tap.error
  }

  get hasOutput(): boolean {
    return this.#tap.hasOutput
  }

  get isEnded(): boolean {
    return this.#events.isStopped || this.#tap.isEnded
  }

  get stopped(): 'moderation' | undefined {
    return this.#events.isStopped ? 'moderation' : undefined
  }

  get writing(): Promise<void> | undefined {
    return this.#tap.writing
  }

  isComplete(): boolean {
    return !this.#events.isStopped && this.#tap.isComplete()
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
    return this.#events.isStopped ? '' : this.#pass(this.#tap.take(block))
  }

  finish(rest: string): string {
    return this.#events.isStopped ? '' : this.#pass(this.#tap.finish(rest))
  }

  ending(billed: Usage): string {
    if (this.#events.isStopped) return this.#events.closing(billed)
    const last = this.#events.take(this.#tap.ending(billed))
    return this.#events.isStopped ? last + this.#events.closing(billed) : last + this.#events.flush()
  }

  writeError(error: UpstreamErrorFacts): string | undefined {
    return this.#tap.writeError?.(error)
  }

  #pass(out: string): string {
    const passed = this.#events.take(out)
    return this.#tap.error ? passed + this.#events.flush() : passed
  }
}
