import { noUsage, promptTokens, type Usage } from '../../../contract/usage.ts'
import { areCounts, countAt, type JsonObject } from '../wire-format.ts'

/**
 * Usage of Gemini in disjoint buckets: cached tokens are part of `promptTokenCount`, what its own tools read is beside it, thoughts are
 * beside `candidatesTokenCount`. In a stream each report is whole, and the last one counts. Undefined when nothing is reported or a
 * number cannot be meant, so that tokens are counted here instead. Source: protocols notes 3.12.
 */
export function readGeminiUsage(usage: JsonObject | undefined): Usage | undefined {
  if (!usage || !areCounts(usage, counts)) return undefined
  if (typeof usage.promptTokenCount !== 'number' && typeof usage.totalTokenCount !== 'number') return undefined

  const prompt = countAt(usage, 'promptTokenCount') + countAt(usage, 'toolUsePromptTokenCount')
  const cached = countAt(usage, 'cachedContentTokenCount')
  const thoughts = countAt(usage, 'thoughtsTokenCount')
  const told = countAt(usage, 'candidatesTokenCount') + thoughts
  const rest = Math.max(0, countAt(usage, 'totalTokenCount') - prompt)
  return {
    ...noUsage,
    input: Math.max(0, prompt - cached),
    cacheRead: cached,
    output: typeof usage.candidatesTokenCount === 'number' ? told : Math.max(told, rest),
    reasoning: thoughts,
  }
}

/** The same numbers as Gemini reports them. */
export function writeGeminiUsage(usage: Usage): JsonObject {
  const prompt = promptTokens(usage)
  return {
    promptTokenCount: prompt,
    ...(usage.cacheRead > 0 ? { cachedContentTokenCount: usage.cacheRead } : {}),
    candidatesTokenCount: Math.max(0, usage.output - usage.reasoning),
    ...(usage.reasoning > 0 ? { thoughtsTokenCount: usage.reasoning } : {}),
    totalTokenCount: prompt + usage.output,
  }
}

const counts = [
  'promptTokenCount',
  'cachedContentTokenCount',
  'candidatesTokenCount',
  'thoughtsTokenCount',
  'toolUsePromptTokenCount',
  'totalTokenCount',
]
