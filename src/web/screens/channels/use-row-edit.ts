import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import type { Channel } from '../../../contract/entities/channel.ts'
import type { CallReply } from '../../lib/call.ts'
import { useWrite } from '../../lib/query.ts'

type List = CallReply<'GET /api/channel/search'>

/** Changes a channel from its row. The row keeps its place until the list is loaded again, so that the next one stays under the pointer. */
export function useRowEdit(success: (channel: Channel) => string) {
  const client = useQueryClient()
  return useWrite('PUT /api/channel/', { success, onSuccess: (channel) => replaceRow(client, channel) })
}

function replaceRow(client: QueryClient, channel: Channel): void {
  const replaced = (rows: readonly Channel[]) => rows.map((row) => (row.id === channel.id ? channel : row))
  client.setQueriesData<List>({ queryKey: ['GET /api/channel/search'] }, (list) => {
    if (!list) return list
    return 'items' in list ? { ...list, items: replaced(list.items) } : replaced(list)
  })
}
