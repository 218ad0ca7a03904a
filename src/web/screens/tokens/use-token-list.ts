import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../../lib/call.ts'
import { read } from '../../lib/query.ts'
import type { SearchValue } from '../../lib/search-params.ts'
import { useListState } from '../../ui/list-state.ts'

/** The list as the address asks for it, but for the key that is searched: keys do not belong into addresses and their history. */
export function useTokenList() {
  const state = useListState({ keyword: '', status: 0, group: '' })
  const [token, setToken] = useState('')
  const filtered = state.filtered || token !== ''

  const { status, ...texts } = state.asked
  const paging = { p: state.page - 1, page_size: state.paging.page_size, paged: true }
  const search = { ...texts, ...paging, token, status: status || undefined }
  const readPage = (page: number, page_size: number) =>
    call('GET /api/token/search', { query: { ...search, p: page - 1, page_size } })
  const list = useQuery({
    ...(filtered ? read('GET /api/token/search', { query: search }) : read('GET /api/token/', { query: paging })),
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
  return { list, readPage, state: { ...state, filtered, values: { ...state.values, token }, onChange, onReset } }
}
