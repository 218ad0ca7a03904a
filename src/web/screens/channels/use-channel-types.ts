import { useQuery } from '@tanstack/react-query'
import type { ChannelType } from '../../../contract/entities/channel.ts'
import { channelColors } from '../../../contract/entities/channel-status.ts'
import { call } from '../../lib/call.ts'
import { read } from '../../lib/query.ts'
import { cachedTypes } from './cached-types.ts'

/** Channel types change only with a new version of the server: the cached ones are used at once. */
export function useChannelTypes() {
  const { queryKey } = read('GET /api/channel/types')
  return useQuery({
    queryKey,
    async queryFn({ signal }) {
      const types = await call('GET /api/channel/types', { signal })
      cachedTypes.write(types)
      return types
    },
    placeholderData: () => {
      const types = cachedTypes.read()
      return types.length > 0 ? [...types] : undefined
    },
    staleTime: Number.POSITIVE_INFINITY,
  })
}

const colors: ReadonlyMap<string, string> = new Map(Object.entries(channelColors))

export function typeColor({ color }: ChannelType): string {
  return colors.get(color) ?? 'gray'
}
