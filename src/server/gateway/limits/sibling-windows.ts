import type { OwnerSiblings, Siblings, WorkerSiblings } from '../../base/bus/siblings.ts'
import type { Link } from '../../base/lib/process/link.ts'
import type { Clock } from '../../base/lib/time/clock.ts'
import { MemoryWindows } from './memory-windows.ts'
import { type LimitedRequest, type RequestOutcome, type Rule, tokensReserved, type Verdict } from './rule.ts'
import type { SharedWindows } from './shared-windows.ts'

interface Counted {
  readonly rules: readonly Rule[]
  readonly need: LimitedRequest
}

interface Released extends Counted {
  readonly pieces: readonly number[] | undefined
  readonly ended: RequestOutcome
}

/** The counts of all processes of one start, in the memory of the owner. */
export function openSiblingWindows(siblings: Siblings, now: Clock): SharedWindows {
  return siblings.isOwner ? new OwnerWindows(siblings, now) : new WorkerWindows(siblings)
}

class OwnerWindows implements SharedWindows {
  readonly #now: Clock
  readonly #windows = new MemoryWindows()
  /** The running requests of each worker, by id. */
  readonly #running = new Map<Link, Map<string, Counted & Pick<Verdict, 'pieces'>>>()

  constructor(siblings: OwnerSiblings, now: Clock) {
    this.#now = now
    siblings.serve('windows.acquire', ({ rules, need }: Counted, link) => {
      const verdict = this.#windows.acquire(rules, need, this.#now())
      if (!verdict.refusal) this.#runningOf(link).set(need.id, { rules, need, pieces: verdict.pieces })
      return verdict
    })
    siblings.serve('windows.peek', (rules: readonly Rule[]) => this.#windows.peek(rules, this.#now()))
    siblings.serve('windows.release', ({ rules, need, pieces, ended }: Released, link) => {
      this.#running.get(link)?.delete(need.id)
      this.release(rules, pieces, need, ended)
    })
    siblings.serve('windows.add', ({ rule, tokens }: { rule: Rule; tokens: number }) => this.add(rule, tokens))
    siblings.onGone((link) => this.#endAll(link))
  }

  async acquire(rules: readonly Rule[], need: LimitedRequest): Promise<Verdict> {
    return this.#windows.acquire(rules, need, this.#now())
  }

  async peek(rules: readonly Rule[]): Promise<Verdict> {
    return this.#windows.peek(rules, this.#now())
  }

  release(rules: readonly Rule[], pieces: readonly number[] | undefined, need: LimitedRequest, ended: RequestOutcome): void {
    this.#windows.release(rules, pieces ?? [], { need, ended }, this.#now())
  }

  add(rule: Rule, tokens: number): void {
    this.#windows.add(rule, tokens, this.#now())
  }

  async close(): Promise<void> {
    // The counts end with the process.
  }

  #runningOf(link: Link): Map<string, Counted & Pick<Verdict, 'pieces'>> {
    const running = this.#running.get(link) ?? new Map<string, Counted & Pick<Verdict, 'pieces'>>()
    this.#running.set(link, running)
    return running
  }

  /** Ends the requests of a worker that died: they no longer count as running, but their other counts stay. */
  #endAll(link: Link): void {
    for (const { rules, need, pieces } of this.#running.get(link)?.values() ?? []) {
      for (const [index, rule] of rules.entries()) {
        const ended = { succeeded: true, undone: false, tokens: tokensReserved(rule, need) }
        this.release([rule], [pieces[index] ?? 0], need, ended)
      }
    }
    this.#running.delete(link)
  }
}

class WorkerWindows implements SharedWindows {
  readonly #owner: Link

  constructor({ owner }: WorkerSiblings) {
    this.#owner = owner
  }

  acquire(rules: readonly Rule[], need: LimitedRequest): Promise<Verdict | undefined> {
    return this.#ask('windows.acquire', { rules, need } satisfies Counted)
  }

  peek(rules: readonly Rule[]): Promise<Verdict | undefined> {
    return this.#ask('windows.peek', rules)
  }

  release(rules: readonly Rule[], pieces: readonly number[] | undefined, need: LimitedRequest, ended: RequestOutcome): void {
    this.#owner.notify('windows.release', { rules, need, pieces, ended } satisfies Released)
  }

  add(rule: Rule, tokens: number): void {
    this.#owner.notify('windows.add', { rule, tokens })
  }

  async close(): Promise<void> {
    // The link is closed by its owner, `open-core.ts`.
  }

  #ask(name: string, value: unknown): Promise<Verdict | undefined> {
    return this.#owner.call<Verdict>(name, value).catch(() => undefined)
  }
}
