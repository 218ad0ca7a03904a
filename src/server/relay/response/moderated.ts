import type { Usage } from '../../../contract/usage.ts'
import { CompletionCheck } from '../../moderation/completion-check.ts'
import type { PaidCall } from '../../protocols/paid-calls.ts'
import { replyTexts } from '../../protocols/reply-texts.ts'
import { type ReplyTexts, withTexts } from '../../protocols/text-slots.ts'
import type { JsonObject, UpstreamErrorFacts } from '../../protocols/wire-format.ts'
import type { AdmittedRequest, RelayParts } from '../relay-parts.ts'
import { parseObject } from '../upstream/read-reply.ts'
import type { ResponseAdapter, SseInterceptor } from './adapter.ts'
import { CheckedEvents, type CheckFacts } from './moderated-events.ts'

/**
 * The adapter itself while completions are not checked, or say nothing to people. Else one that takes listed words out of what it gives,
 * in the caller's format, however the upstream's became that: masks them, or ends the reply there.
 */
export function moderatedAdapter(
  { moderation, callerLog }: RelayParts,
  { call, format, facts }: Pick<AdmittedRequest, 'call' | 'format' | 'facts'>,
  adapter: ResponseAdapter,
): ResponseAdapter {
  const rule = moderation.completionRule
  const texts = replyTexts[format.format]
  if (!rule || !texts) return adapter
  const found = (word: string) => callerLog.of(call.client).info({ request: call.id, word }, 'a completion had a listed word')
  const checkFacts = format.stream && { rule, texts, stream: format.stream, wantsUsage: facts.wantsUsage, found }

  return {
    ...adapter,
    readWhole(body, contentType) {
      const whole = adapter.readWhole(body, contentType)
      return { ...whole, write: (billed) => checkedReply(whole.write(billed), texts, { rule, found }) }
    },
    openInterceptor: () =>
      checkFacts ? new ModeratingInterceptor(adapter.openInterceptor(), checkFacts) : adapter.openInterceptor(),
    readReplay(body) {
      const replay = adapter.readReplay(body)
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
class ModeratingInterceptor implements SseInterceptor {
  readonly #interceptor: SseInterceptor
  readonly #events: CheckedEvents

  constructor(interceptor: SseInterceptor, facts: CheckFacts) {
    this.#interceptor = interceptor
    this.#events = new CheckedEvents(facts)
  }

  get usage(): Usage | undefined {
    return this.#interceptor.usage
  }

  get error(): UpstreamErrorFacts | undefined {
    return this.#events.isStopped ? undefined : this.#interceptor.error
  }

  get hasOutput(): boolean {
    return this.#interceptor.hasOutput
  }

  get isEnded(): boolean {
    return this.#events.isStopped || this.#interceptor.isEnded
  }

  get stopped(): 'moderation' | undefined {
    return this.#events.isStopped ? 'moderation' : undefined
  }

  isComplete(): boolean {
    return !this.#events.isStopped && this.#interceptor.isComplete()
  }

  text(): string {
    return this.#interceptor.text()
  }

  paidCalls(): readonly PaidCall[] {
    return this.#interceptor.paidCalls?.() ?? []
  }

  get unkept(): number | undefined {
    return this.#interceptor.unkept
  }

  take(block: string): string {
    return this.#events.isStopped ? '' : this.#pass(this.#interceptor.take(block))
  }

  finish(rest: string): string {
    return this.#events.isStopped ? '' : this.#pass(this.#interceptor.finish(rest))
  }

  ending(billed: Usage): string {
    if (this.#events.isStopped) return this.#events.closing(billed)
    const last = this.#events.take(this.#interceptor.ending(billed))
    return this.#events.isStopped ? last + this.#events.closing(billed) : last + this.#events.flush()
  }

  writeError(error: UpstreamErrorFacts): string | undefined {
    return this.#interceptor.writeError?.(error)
  }

  #pass(out: string): string {
    const passed = this.#events.take(out)
    return this.#interceptor.error ? passed + this.#events.flush() : passed
  }
}
