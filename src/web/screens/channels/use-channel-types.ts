import { useQuery } from '@tanstack/react-query'
import type { ChannelType } from '../../../contract/entities/channel.ts'
import { channelColors } from '../../../contract/entities/channel-status.ts'
import { read } from '../../lib/query.ts'

/** The kinds of upstream change only with a new version of the server. */
export function useChannelTypes() {
  return useQuery({ ...read('GET /api/channel/types'), staleTime: Number.POSITIVE_INFINITY })
}

const colors: ReadonlyMap<string, string> = new Map(Object.entries(channelColors))

export function typeColor({ color }: ChannelType): string {
  return colors.get(color) ?? 'gray'
}
