import { useMutation, useQueryClient } from '@tanstack/react-query'
import { callWhole } from '../../lib/call.ts'
import { invalidate } from '../../lib/query.ts'

/** Tests a channel, with its default model when none is named; returns the seconds it took. Throws the upstream's error. */
export async function testChannel({ id, model = '' }: { id: number; model?: string }): Promise<number> {
  const { time } = await callWhole('POST /api/channel/test/:id', { params: { id }, query: { model } })
  return time
}

/** The test of one channel as a row action. */
export function useChannelTest() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: testChannel,
    // A failed test also stores a response time, and may have disabled the channel.
    onSettled: () => invalidate(client, ['GET /api/channel/search']),
  })
}
