import { useQueries, useQuery } from '@tanstack/react-query'
import type { Channel } from '../../../contract/entities/channel.ts'
import { read } from '../../lib/query.ts'
import { useListState } from '../../ui/list-state.ts'

const addedMax = 10

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

  const filter = { ...texts, status: status || undefined, type: type || undefined, id_sort: sort.key === 'id' }
  const paging = { p: state.page - 1, page_size: state.paging.page_size, paged: true }
  const list = useQuery({
    ...read('GET /api/channel/search', { query: { ...filter, tag_mode: byTag, untagged: true, ...paging } }),
    placeholderData: (last) => last,
  })
  const onTop = useAdded(byTag ? [] : added)
  return {
    list: list.data && 'items' in list.data ? { ...list, data: withOnTop(list.data, onTop) } : list,
    byTag,
    /** The query for the file of the list. */
    filter,
    state: { ...state, sort, onSort: ({ key }: { key: string }) => state.change({ sort: `-${key}` }) },
  }
}

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

function withOnTop<Page extends { readonly items: readonly Channel[] }>(page: Page, onTop: readonly Channel[]): Page {
  const ids = new Set(onTop.map(({ id }) => id))
  return { ...page, items: [...onTop, ...page.items.filter(({ id }) => !ids.has(id))] }
}
