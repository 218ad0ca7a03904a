import { useQuery } from '@tanstack/react-query'
import { usePageSize } from '../../lib/page-size.ts'
import { read } from '../../lib/query.ts'
import { useUrlState } from '../../lib/search-params.ts'

/** The list as the address asks for it. */
export function useChannelList() {
  const size = usePageSize()
  const filters = useUrlState({ keyword: '', model: '', group: '', status: 0, type: 0, tag: '', page: 1 })
  const arrangement = useUrlState({ sort: 'priority', tags: false, page: 1 })
  const { page, status, type, ...texts } = filters.values
  const { sort, tags: byTag } = arrangement.values

  const query = {
    ...texts,
    status: status || undefined,
    type: type || undefined,
    id_sort: sort === 'id',
    tag_mode: byTag,
    p: page - 1,
    page_size: size,
    paged: true,
  }
  const list = useQuery({ ...read('GET /api/channel/search', { query }), placeholderData: (last) => last })
  return { list, filters, arrangement, page, byTag, sort: { key: sort === 'id' ? 'id' : 'priority', descending: true } }
}
