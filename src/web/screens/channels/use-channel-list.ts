import { useQuery } from '@tanstack/react-query'
import { read } from '../../lib/query.ts'
import { useListState } from '../../ui/list-state.ts'

/** The list as the address asks for it. */
export function useChannelList() {
  const state = useListState(
    { keyword: '', model: '', group: '', status: 0, type: 0, tag: '' },
    { sort: '-priority', tags: false },
  )
  const { status, type, ...texts } = state.asked
  const byTag = state.order.tags
  // It goes downwards, by one of two columns.
  const sort = { key: state.sort?.key === 'id' ? 'id' : 'priority', descending: true }

  const filter = { ...texts, status: status || undefined, type: type || undefined, id_sort: sort.key === 'id' }
  const paging = { p: state.page - 1, page_size: state.paging.page_size, paged: true }
  const list = useQuery({
    ...read('GET /api/channel/search', { query: { ...filter, tag_mode: byTag, ...paging } }),
    placeholderData: (last) => last,
  })
  return {
    list,
    byTag,
    /** The query of the list's file. */
    filter,
    state: { ...state, sort, onSort: ({ key }: { key: string }) => state.change({ sort: `-${key}` }) },
  }
}
