import { completionTokens, outputBuckets, promptBuckets, promptTokens, type Usage } from '../../../contract/usage.ts'

/**
 * The two sides of a usage: the prompt, and the output, of the model and of others that worked for the call. A side of zeros beside an
 * answer is no report of that side. Pure.
 */

export function hasPrompt(usage: Usage): boolean {
  return promptTokens(usage) > 0 || usage.byOthers?.some((other) => promptTokens(other.usage) > 0) === true
}

export function hasOutput(usage: Usage): boolean {
  return completionTokens(usage) > 0 || usage.byOthers?.some((other) => completionTokens(other.usage) > 0) === true
}

export function hasBothSides(usage: Usage): boolean {
  return hasPrompt(usage) && hasOutput(usage)
}

/** The usage after a further report of one stream: a side that it leaves at zero keeps the tokens of the report before. */
export function laterUsage(before: Usage | undefined, after: Usage | undefined): Usage | undefined {
  return before && after && before !== after ? withSides(after, before) : after
}

/** The usage, with the tokens of `other` on each side that has none. Returns the same object when no side changes. */
export function withSides(usage: Usage, other: Usage): Usage {
  const takesPrompt = !hasPrompt(usage) && promptTokens(other) > 0
  const takesOutput = !hasOutput(usage) && completionTokens(other) > 0
  if (!takesPrompt && !takesOutput) return usage
  const taken = { ...usage }
  if (takesPrompt) for (const bucket of promptBuckets) taken[bucket] = other[bucket]
  if (!takesOutput) return taken
  for (const bucket of outputBuckets) taken[bucket] = other[bucket]
  return { ...taken, reasoning: other.reasoning }
}
