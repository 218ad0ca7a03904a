import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { type TopUp, topUpStatus } from '../../../contract/entities/top-up.ts'
import { invalidate, read } from '../../lib/query.ts'

const askEveryMs = 2500
const open: readonly string[] = [topUpStatus.pending, topUpStatus.processing]

/** A user's own order, polled until it ends; then the balance is read again. Undefined while it is loading, null when there is none. */
export function useOrder(tradeNo: string): TopUp | null | undefined {
  const client = useQueryClient()
  const list = useQuery({
    ...read('GET /api/user/self/topups', { query: { keyword: tradeNo, p: 1, page_size: 1 } }),
    enabled: tradeNo !== '',
    refetchInterval: ({ state }) => (open.includes(state.data?.items[0]?.status ?? '') ? askEveryMs : false),
  })
  const order = list.data && (list.data.items[0] ?? null)
  const status = order?.status

  // Outside of React: the caches of other queries.
  useEffect(() => {
    if (status === topUpStatus.success) void invalidate(client, ['GET /api/user/self', 'GET /api/organisation/:id'])
  }, [status, client])
  return order
}
