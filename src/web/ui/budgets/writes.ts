import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { BudgetChange, BudgetInput } from '../../../contract/entities/budget.ts'
import { call } from '../../lib/call.ts'
import { currentPayer } from '../../lib/payer.ts'
import { invalidate } from '../../lib/query.ts'
import { toast } from '../../lib/toast.ts'

/**
 * The writes of budgets: of the site and the own tokens, or below the organisation while one pays. `success` is the message after
 * one of them.
 */
export function useBudgetWrites({ success, onSuccess }: { success: string; onSuccess?: () => void }) {
  const client = useQueryClient()
  const write = useMutation({
    mutationFn: (send: (organisation: number | undefined) => Promise<unknown>) => send(currentPayer()?.id),
    onSuccess: async () => {
      toast.success(success)
      onSuccess?.()
      await invalidate(client, ['GET /api/budget/', 'GET /api/organisation/:id/budgets', 'GET /api/organisation/:id/raises'])
    },
    onError: toast.failure,
  })
  return {
    isPending: write.isPending,
    create: (body: BudgetInput) =>
      write.mutate((id) =>
        id === undefined
          ? call('POST /api/budget/', { body })
          : call('POST /api/organisation/:id/budgets', { params: { id }, body }),
      ),
    change: (budget: number, body: BudgetChange) =>
      write.mutate((id) =>
        id === undefined
          ? call('PUT /api/budget/:id', { params: { id: budget }, body })
          : call('PUT /api/organisation/:id/budgets/:budget', { params: { id, budget }, body }),
      ),
    remove: (budget: number) =>
      write.mutate((id) =>
        id === undefined
          ? call('DELETE /api/budget/:id', { params: { id: budget } })
          : call('DELETE /api/organisation/:id/budgets/:budget', { params: { id, budget } }),
      ),
    override: (budget: number, body: { amount: number; windows: number }) =>
      write.mutate((id) =>
        id === undefined
          ? call('POST /api/budget/:id/override', { params: { id: budget }, body })
          : call('POST /api/organisation/:id/budgets/:budget/override', { params: { id, budget }, body }),
      ),
  }
}
