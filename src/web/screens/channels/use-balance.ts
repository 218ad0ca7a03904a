import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { Channel } from '../../../contract/entities/channel.ts'
import { formatUsd } from '../../../contract/quota.ts'
import { callWhole } from '../../lib/call.ts'
import { useText } from '../../lib/i18n.ts'
import { invalidate } from '../../lib/query.ts'
import { toast } from '../../lib/toast.ts'
import { texts } from './texts.ts'

/** Reads the balance of a channel's accounts from the upstream. */
export function useBalance({ id, name }: Channel) {
  const say = useText(texts)
  const client = useQueryClient()
  return useMutation({
    mutationFn: async () => (await callWhole('POST /api/channel/update_balance/:id', { params: { id } })).balance,
    onSuccess: (balance) => toast.success(say('balanceIs', { name, balance: formatUsd(balance) })),
    onError: toast.failure,
    // A key without balance may have been disabled.
    onSettled: () => invalidate(client, ['GET /api/channel/search']),
  })
}
