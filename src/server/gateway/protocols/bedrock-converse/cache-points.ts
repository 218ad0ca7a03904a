import type { CacheMark } from '../dialogue.ts'
import type { JsonObject } from '../wire-format.ts'
import type { ConverseRules } from './models.ts'

/** The cache point after a marked block, which ends a cached prefix; empty without a mark. */
export function cachePoint(cache: CacheMark | undefined, rules: ConverseRules): JsonObject[] {
  if (!cache || rules.cache === 'nowhere') return []
  return [{ cachePoint: { type: 'default', ...(cache.ttl === '1h' && rules.cachesAnHour ? { ttl: '1h' } : {}) } }]
}

/**
 * Keeps the last four cache points of a request, which is Bedrock's maximum, and shortens one-hour points after a five-minute one.
 * The lists are given in the order in which the model reads them. Source: Amazon Bedrock User Guide, "Prompt caching".
 */
export function limitCachePoints(lists: readonly (readonly JsonObject[])[]): JsonObject[][] {
  const points = lists.flat().filter((block) => block.cachePoint !== undefined)
  const kept = points.slice(-pointsMax)
  const firstShort = kept.findIndex((point) => !isLong(point))
  const shortened = new Set(firstShort < 0 ? [] : kept.slice(firstShort))

  return lists.map((list) =>
    list
      .filter((block) => block.cachePoint === undefined || kept.includes(block))
      .map((block) => (shortened.has(block) ? { cachePoint: { type: 'default' } } : block)),
  )
}

const pointsMax = 4

function isLong({ cachePoint }: JsonObject): boolean {
  return typeof cachePoint === 'object' && cachePoint !== null && 'ttl' in cachePoint
}
