import { completionTokens, promptTokens, type Usage } from '../../../contract/usage.ts'

/** What a host reports, in tokens; 0 for what it does not report. */
interface Reported {
  readonly prompt: number
  readonly completion: number
  readonly total: number
  readonly cached: number
  readonly written?: number
  /** Reasoning that `completion` may not include. */
  readonly reasoning?: number
}

interface Placed {
  /** Input that was neither read from the cache nor written to it. */
  readonly plain: number
  readonly cached: number
  readonly written: number
  /** All output, reasoning included. */
  readonly completion: number
  /** What does not add up; undefined when all does. */
  readonly marks?: Pick<Usage, 'cacheExcess' | 'unexplained'>
}

/**
 * Decides which reported numbers include which others: cached tokens and cache writes are part of the prompt at most hosts and beside it
 * at some, and so is reasoning with the completion. The total shows it. A total that no reading explains is kept: what it has beyond
 * the parts counts as output, the dearer side, and `unexplained` is the difference. Cache reads above the prompt that the total does
 * not explain are reduced to the prompt, and `cacheExcess` is the difference. Pure.
 */
export function placeTotals(reported: Reported): Placed {
  const { prompt, completion, total, cached, written = 0, reasoning = 0 } = reported
  const rest = total - prompt - completion
  const fits = cached + written <= prompt
  if (rest === 0 && fits) return { plain: prompt - cached - written, cached, written, completion }

  const reading = total > 0 ? readings.find((one) => explains(one, reported, rest)) : undefined
  if (reading) {
    const [besideReads, besideWrites, besideReasoning] = reading
    const plain = prompt - (besideReads ? 0 : cached) - (besideWrites ? 0 : written)
    return { plain, cached, written, completion: besideReasoning ? completion + reasoning : completion }
  }
  return total > 0 ? unexplained(reported, rest) : within(reported)
}

/** Cached tokens by kind; `audio` and `image` are parts of `tokens`. */
export function cachedKinds(
  tokens: number,
  { audio = 0, image = 0 }: { readonly audio?: number; readonly image?: number } = {},
): Pick<Usage, 'cacheRead' | 'cachedAudio' | 'cachedImage'> {
  const cachedAudio = Math.min(tokens, audio)
  const cachedImage = Math.min(tokens - cachedAudio, image)
  return { cacheRead: tokens - cachedAudio - cachedImage, cachedAudio, cachedImage }
}

/** A usage whose parts never include each other, with what its total has beyond them as output. */
export function withTotal(usage: Usage, total: number): Usage {
  const rest = total - promptTokens(usage) - completionTokens(usage)
  return rest > 0 ? { ...usage, output: usage.output + rest, unexplained: rest } : usage
}

/**
 * Whether cache reads, cache writes and reasoning are beside the prompt and the completion: the dearest reading first, for numbers that
 * more than one explains.
 */
type Reading = readonly [reads: boolean, writes: boolean, reasoning: boolean]
const readings: readonly Reading[] = [
  [false, false, true],
  [true, true, true],
  [false, true, true],
  [true, false, true],
  [true, true, false],
  [false, true, false],
  [true, false, false],
]

function explains([reads, writes, thinks]: Reading, reported: Reported, rest: number): boolean {
  const { prompt, cached, written = 0, reasoning = 0 } = reported
  const beside = (reads ? cached : 0) + (writes ? written : 0) + (thinks ? reasoning : 0)
  return beside === rest && prompt >= (reads ? 0 : cached) + (writes ? 0 : written)
}

/** Caches that exceed the prompt are beside it as far as the total has room for them. */
function unexplained(reported: Reported, rest: number): Placed {
  const { prompt, completion, cached, written = 0 } = reported
  const caches = cached + written
  if (caches > prompt && rest >= caches) {
    return { plain: prompt, cached, written, completion: completion + rest - caches, marks: { unexplained: rest - caches } }
  }
  const placed = within(reported)
  const marks = rest === 0 ? placed.marks : { ...placed.marks, unexplained: rest }
  return { ...placed, completion: completion + Math.max(0, rest), ...(marks ? { marks } : {}) }
}

/** The reading without a total: reads are part of the prompt, and writes too unless they exceed it. */
function within({ prompt, completion, cached, written = 0 }: Reported): Placed {
  const read = Math.min(cached, prompt)
  const excess = cached > prompt ? { marks: { cacheExcess: cached - prompt } } : {}
  const plain = written > prompt - read ? prompt - read : prompt - read - written
  return { plain, cached: read, written, completion, ...excess }
}
