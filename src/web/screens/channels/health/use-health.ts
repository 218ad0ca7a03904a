import { useQuery } from '@tanstack/react-query'
import type { ChannelHealth } from '../../../../contract/entities/call-statistics.ts'
import { read } from '../../../lib/query.ts'

const everyMs = 30_000

/** Health by the id of a channel. */
export function useChannelHealth(ids: readonly number[]): ReadonlyMap<number, ChannelHealth> {
  const query = { ids: [...ids].sort((one, other) => one - other).join(',') }
  const { data } = useQuery({
    ...read('GET /api/channel/health', { query }),
    enabled: ids.length > 0,
    refetchInterval: everyMs,
    placeholderData: (before) => before,
  })
  return byId(data)
}

/** Health by the id of a key. */
export function useKeyHealth(channelId: number): ReadonlyMap<number, ChannelHealth> {
  const { data } = useQuery({
    ...read('GET /api/channel/:id/keys/health', { params: { id: channelId } }),
    refetchInterval: everyMs,
  })
  return byId(data)
}

function byId(all: readonly ChannelHealth[] = []): ReadonlyMap<number, ChannelHealth> {
  return new Map(all.map((health) => [health.id, health]))
}
