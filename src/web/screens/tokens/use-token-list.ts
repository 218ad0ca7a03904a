import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { usePageSize } from '../../lib/page-size.ts'
import { read } from '../../lib/query.ts'
import { type SearchValue, useUrlState } from '../../lib/search-params.ts'

/** The list as the address asks for it, but for the key that is searched: keys do not belong into addresses and their history. */
export function useTokenList() {
  const size = usePageSize()
  const { values, change, reset, filtered: filteredByUrl } = useUrlState({ keyword: '', status: 0, group: '', page: 1 })
  const [token, setToken] = useState('')
  const filtered = filteredByUrl || token !== ''

  const { page, status, ...texts } = values
  const paging = { p: page - 1, page_size: size, paged: true }
  const search = { ...texts, ...paging, token, status: status || undefined }
  const list = useQuery({
    ...(filtered ? read('GET /api/token/search', { query: search }) : read('GET /api/token/', { query: paging })),
    placeholderData: (last) => last,
  })

  const filters = {
    filtered,
    values: { ...values, token },
    onChange: ({ token: key, ...patch }: Record<string, SearchValue>) => {
      if (key !== undefined) setToken(String(key))
      change(patch)
    },
    onReset: () => {
      setToken('')
      reset()
    },
  }
  return { list, page, onPage: (next: number) => change({ page: next }), filters }
}
