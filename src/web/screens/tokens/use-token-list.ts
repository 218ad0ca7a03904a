import { useState } from 'react'
import type { SearchValue } from '../../lib/search-params.ts'
import { useList } from '../../ui/list/list-rows.ts'
import { useListState } from '../../ui/list/list-state.ts'

/**
 * The list by the filters in the address, except the key that is searched for: keys do not belong in addresses and their history.
 */
export function useTokenList() {
  const state = useListState({ keyword: '', status: 0, group: '' }, { sort: '-id' })
  const [token, setToken] = useState('')
  const filtered = state.filtered || token !== ''

  const { status, ...texts } = state.asked
  const search = { ...texts, token, status: status || undefined }
  const query = { ...(filtered ? search : {}), ...state.order, ...state.pagingFromZero }
  const list = useList(filtered ? 'GET /api/token/search' : 'GET /api/token/', { query })

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
