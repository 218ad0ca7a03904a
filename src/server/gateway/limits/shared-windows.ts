import type { LimitedRequest, RequestOutcome, Rule, Verdict } from './rule.ts'

/** Counts the requests of several processes: in Redis, or in the owner of the processes of one start. Never throws. */
export interface SharedWindows {
  /** Counts a request under all rules, or under none. Undefined while the counts cannot be reached. */
  acquire(rules: readonly Rule[], need: LimitedRequest): Promise<Verdict | undefined> | undefined
  /** Checks without counting: the first refusal by count, regardless of tokens. Undefined as for `acquire`. */
  peek(rules: readonly Rule[]): Promise<Verdict | undefined> | undefined
  /** Corrects the counts of an admitted request. `pieces` is undefined when the answer to `acquire` did not arrive in time. */
  release(rules: readonly Rule[], pieces: readonly number[] | undefined, need: LimitedRequest, ended: RequestOutcome): void
  /** Counts further tokens of an admitted request from now on. */
  add(rule: Rule, tokens: number): void
  close(): Promise<void>
}
