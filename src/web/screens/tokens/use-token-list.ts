import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { read } from '../../lib/query.ts'
import type { SearchValue } from '../../lib/search-params.ts'
import { useListState } from '../../ui/list-state.ts'

/**
 * The list by the filters in the address, except the key that is searched for: keys do not belong in addresses and their history.
 */
export function useTokenList() {
  const state = useListState({ keyword: '', status: 0, group: '' }, { sort: '-id' })
  const [token, setToken] = useState('')
  const filtered = state.filtered || token !== ''

  const { status, ...texts } = state.asked
  const paging = { ...state.order, p: state.page - 1, page_size: state.paging.page_size, paged: true }
  const search = { ...texts, token, status: status || undefined }
  const list = useQuery({
    ...(filtered
      ? read('GET /api/token/search', { query: { ...search, ...paging } })
      : read('GET /api/token/', { query: paging })),
    placeholderData: (last) => last,
  })

  function onChange({ token: key, ...patch }: Record<string, SearchValue>): void {
    if (key !== undefined) setToken(String(key))
    state.onChange(patch)
  }
  function onReset(): void {
    setToken('')
    state.onReset()
  }
  return { list, search, state: { ...state, filtered, values: { ...state.values, token }, onChange, onReset } }
}
