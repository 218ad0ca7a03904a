import { entriesOf, membersOf, spliceMembers } from '../../base/lib/bytes/splice-json.ts'
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

/**
 * The caller's bytes with the list at `key` as in `after`; `before` is the list that the bytes have, and its objects that are in `after` keep
 * their bytes.
 */
export function splicedEntries(
  bytes: Buffer,
  { key, before, after }: { readonly key: string; readonly before: readonly unknown[]; readonly after: readonly unknown[] },
): Buffer {
  const member = membersOf(bytes)?.findLast((one) => one.key === key)
  const places = (member && entriesOf(bytes, member.valueStart)) ?? []
  const known = new Map<unknown, string>()
  for (const [at, entry] of before.entries()) {
    const place = places[at]
    if (place && typeof entry === 'object') known.set(entry, bytes.toString('utf8', place.start, place.end))
  }
  const entries = after.map((entry) => known.get(entry) ?? JSON.stringify(entry))
  return spliceMembers(bytes, { [key]: `[${entries.join(',')}]` })
}
