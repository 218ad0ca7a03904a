import type { TokenChance, TokenLogprob } from '../reply-events.ts'
import { arrayAt, isObject, type JsonObject, objectAt } from '../wire-format.ts'

/** The log probabilities of a candidate: the chosen tokens, and at the same positions the likeliest ones. */
export function readLogprobsResult(candidate: JsonObject): TokenLogprob[] {
  const result = objectAt(candidate, 'logprobsResult')
  if (!result) return []
  const likeliest = arrayAt(result, 'topCandidates')
  return arrayAt(result, 'chosenCandidates').flatMap((entry, at) => {
    const chance = readChance(entry)
    const others = likeliest[at]
    const top = isObject(others) ? arrayAt(others, 'candidates').flatMap((other) => readChance(other) ?? []) : []
    return chance ? [{ ...chance, top }] : []
  })
}

/** Members of a candidate; none without tokens. */
export function writeLogprobsResult(tokens: readonly TokenLogprob[]): JsonObject {
  if (tokens.length === 0) return {}
  const write = ({ token, logprob }: TokenChance): JsonObject => ({ token, logProbability: logprob })
  const hasTop = tokens.some(({ top }) => top.length > 0)
  const result = {
    chosenCandidates: tokens.map(write),
    ...(hasTop ? { topCandidates: tokens.map(({ top }) => ({ candidates: top.map(write) })) } : {}),
  }
  return { logprobsResult: result }
}

function readChance(entry: unknown): TokenChance | undefined {
  if (!isObject(entry) || typeof entry.token !== 'string' || typeof entry.logProbability !== 'number') return undefined
  return { token: entry.token, logprob: entry.logProbability, bytes: null }
}
