import type { JsonObject } from './wire-format.ts'

/**
 * How reasoning of earlier turns is left out of a request. Vendors bind it to the model, to the account and to the conversation
 * before it, and refuse it elsewhere. Source: protocols notes 3.7.
 */
export interface PastThoughts {
  has(body: JsonObject): boolean
  /** The signatures and encrypted states of the reasoning, in order; '' for reasoning without one. */
  seals(body: JsonObject): readonly string[]
  /** The members to change; undefined when nothing has to change. `dropped` are the names of what is lost with it. */
  changes(body: JsonObject, model: string, asked?: LeavingThoughts): Changes | undefined
  /** The same for the caller's bytes: all unchanged parts keep their bytes. */
  without(sent: SentBody, model: string, asked?: LeavingThoughts): CleanedBody | undefined
}

/** Which reasoning is left out, besides that of vendors whose state the model cannot read. */
export interface LeavingThoughts {
  /** All of it. */
  readonly all?: boolean
  /** Whether the upstream has refused the reasoning with this seal. All before it goes too: later reasoning was written without it. */
  readonly isRefused?: ((seal: string) => boolean) | undefined
}

interface Changes {
  readonly changes: JsonObject
  readonly dropped: readonly string[]
}

/** A request, as bytes and as the parsed object. */
export interface SentBody {
  readonly json: JsonObject
  readonly bytes: Buffer
}

export interface CleanedBody extends SentBody {
  /** The members that are not sent upstream. */
  readonly dropped: readonly string[]
}

/** The reasoning that is left out of all that an upstream can read; `thoughts` are in their order. */
export function refusedThoughts<Thought>(
  thoughts: readonly Thought[],
  sealOf: (thought: Thought) => string,
  { all = false, isRefused }: LeavingThoughts,
): ReadonlySet<Thought> {
  const last = all ? thoughts.length - 1 : isRefused ? thoughts.findLastIndex((thought) => isRefused(sealOf(thought))) : -1
  return new Set(thoughts.slice(0, last + 1))
}
