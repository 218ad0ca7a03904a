import { useQueries } from '@tanstack/react-query'
import type { Channel } from '../../../contract/entities/channel.ts'
import { read } from '../../lib/query.ts'
import { useList } from '../../ui/list/list-rows.ts'
import { useListState } from '../../ui/list/list-state.ts'

const addedMax = 10
/** Beside the values of a channel's status. */
export const testFailed = -1

/** The list by the filters and the order in the address. Channels that were just added are on top, regardless of both. */
export function useChannelList(added: readonly number[]) {
  const state = useListState(
    { keyword: '', model: '', group: '', status: 0, type: 0, tag: '' },
    { sort: '-priority', tags: false },
  )
  const { status, type, ...texts } = state.asked
  const byTag = state.order.tags
  // The order is always descending, by one of two columns.
  const sort = { key: state.sort?.key === 'id' ? 'id' : 'priority', descending: true }

  const filter = { ...texts, type: type || undefined, id_sort: sort.key === 'id', ...statusFilter(status) }
  const list = useList('GET /api/channel/search', {
    query: { ...filter, tag_mode: byTag, untagged: true, ...state.pagingFromZero },
  })
  const onTop = useAdded(byTag ? [] : added)
  return {
    list: { ...list, rows: list.rows && [...onTop, ...list.rows.filter(({ id }) => !onTop.some((row) => row.id === id))] },
    byTag,
    /** The query for the file of the list. */
    filter,
    state: { ...state, sort, onSort: ({ key }: { key: string }) => state.change({ sort: `-${key}` }) },
  }
}

const statusFilter = (status: number) =>
  status === testFailed ? { status: undefined, test_failed: true } : { status: status || undefined }

/** Uses the route of the list, so that what invalidates the list invalidates these rows too. */
function useAdded(ids: readonly number[]): readonly Channel[] {
  const found = useQueries({
    queries: ids.slice(0, addedMax).map((id) =>
      read('GET /api/channel/search', {
        query: { keyword: String(id), status: undefined, type: undefined, id_sort: true, p: 0, page_size: 10, paged: true },
      }),
    ),
  })
  return found.flatMap(({ data }, index) => {
    const rows = data && 'items' in data ? data.items : []
    return rows.filter(({ id }) => id === ids[index])
  })
}
