import { useMemo } from 'react'
import { logsCountedAhead } from '../../../contract/entities/log.ts'
import type { CallReply } from '../../lib/call.ts'
import { useKeyedState } from '../../lib/keyed-state.ts'
import { useList } from '../../ui/list/list-rows.ts'
import { withFactors } from './factors.ts'
import type { LogFilter } from './filters.ts'

interface LogListInput {
  readonly isAdmin: boolean
  readonly filter: LogFilter
  readonly order: { readonly sort: string }
  readonly paging: { readonly p: number; readonly page_size: number }
  readonly every: number | false
}

/**
 * The rows of one page. A page that follows a visited page continues from its last row, which costs the same at any depth and
 * misses no row while new rows arrive; only a page reached by a jump is counted from the start.
 */
export function useLogList({ isAdmin, filter, order, paging, every }: LogListInput) {
  const { p: page, page_size } = paging
  const trail = useKeyedState(JSON.stringify([filter, order, page_size]), freshTrail)
  const before = trail.places.get(page) ?? ''
  const line = isAdmin ? 'GET /api/log/' : 'GET /api/log/self'
  const list = useList(line, { query: { ...filter, ...order, ...paging, before } }, { every })
  const { data } = list
  const rows = useMemo(() => data && rowsWithFactors(data), [data])
  if (!data || list.isPrevious) return { ...list, rows, totalAtLeast: trail.more }
  if (data.next !== '') trail.places.set(page + 1, data.next)
  if (before === '') {
    trail.total = data.total
    trail.more = data.total - (page - 1) * page_size >= logsCountedAhead
  }
  const seen = (page - 1) * page_size + data.items.length
  const total = Math.max(trail.total, data.next === '' ? seen : seen + 1)
  return { ...list, rows, total, totalAtLeast: trail.more }
}

/** The known part of a list with one filter: the cursors of its pages, and its number of rows, or a lower bound. */
const freshTrail = () => ({ places: new Map<number, string>(), total: 0, more: false })

function rowsWithFactors(page: CallReply<'GET /api/log/' | 'GET /api/log/self'>) {
  const names = 'channel_names' in page ? page.channel_names : {}
  return page.items.map((log) => withFactors(log, names))
}
