import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { type LogHistogram, logType } from '../../../contract/entities/log.ts'
import { read } from '../../lib/query.ts'
import type { LogFilter } from './filters.ts'

interface HistogramInput {
  readonly isAdmin: boolean
  readonly filter: LogFilter
  /** Milliseconds between refreshes; false for none. */
  readonly every: number | false
}

/** The calls of the filter over its time. Only calls have one, and a single request needs none. */
export function useHistogram({ isAdmin, filter, every }: HistogramInput) {
  const isShown = filter.request_id === '' && callTypes.has(filter.type)
  const query = { ...filter, offset_minutes: -new Date().getTimezoneOffset() }
  const { data, error } = useQuery({
    ...read(isAdmin ? 'GET /api/log/histogram' : 'GET /api/log/self/histogram', { query }),
    enabled: isShown,
    refetchInterval: every,
    placeholderData: keepPreviousData,
  })
  return { isShown: isShown && !error, calls: data }
}

const callTypes: ReadonlySet<number> = new Set([0, logType.consume, logType.error])

/** The number of rows of a list of that total: of calls beyond a total that is a lower bound, the histogram knows more. */
export function rowsOf(
  { total, totalAtLeast }: { readonly total: number; readonly totalAtLeast: boolean },
  calls: LogHistogram | undefined,
): { readonly count: number; readonly kind: 'exact' | 'about' | 'least' } {
  if (!totalAtLeast) return { count: total, kind: 'exact' }
  if (!calls || calls.counted_from > 0) return { count: total, kind: 'least' }
  const counted = calls.points.reduce((sum, { answered, failed }) => sum + answered + failed, 0)
  return { count: Math.max(total, counted), kind: 'about' }
}
