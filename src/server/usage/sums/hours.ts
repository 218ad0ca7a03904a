/** A span of unix seconds, both ends included. */
export interface Span {
  readonly from: number
  readonly to: number
}

/**
 * Sums are stored by the hour: a span is the whole hours in it (`from` of the first, `to` of the last second of the last), and the
 * rest of an hour at either end. 0 means an open beginning or end.
 */
interface SplitSpan {
  readonly whole: Span | undefined
  readonly edges: readonly Span[]
}

export const hourSeconds = 3600

/** 0 means no beginning, or no end. */
export function splitByHour(start: number, end: number): SplitSpan {
  const firstHour = Math.ceil(start / hourSeconds) * hourSeconds
  const to = end === 0 ? Number.MAX_SAFE_INTEGER : end
  const afterLastHour = end === 0 ? to : Math.floor((end + 1) / hourSeconds) * hourSeconds
  if (afterLastHour <= firstHour) return { whole: undefined, edges: [{ from: start, to }] }

  const edges: Span[] = []
  if (start < firstHour) edges.push({ from: start, to: firstHour - 1 })
  if (end !== 0 && afterLastHour <= end) edges.push({ from: afterLastHour, to })
  return { whole: { from: firstHour, to: end === 0 ? to : afterLastHour - 1 }, edges }
}
