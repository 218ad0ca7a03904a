import { z } from 'zod'
import type { Text } from '../text.ts'

/** Why a balance changed, by the kind of its ledger row. */
export const ledgerKindLabels: Readonly<Record<string, { label: Text; color: string }>> = {
  charge: { label: { zh: '消费', en: 'Usage' }, color: 'lime' },
  grant: { label: { zh: '初始额度', en: 'Initial quota' }, color: 'blue' },
  top_up: { label: { zh: '在线充值', en: 'Online top-up' }, color: 'cyan' },
  redeem: { label: { zh: '兑换码', en: 'Redemption code' }, color: 'cyan' },
  reward: { label: { zh: '奖励', en: 'Reward' }, color: 'teal' },
  transfer: { label: { zh: '邀请额度划转', en: 'Invitation transfer' }, color: 'teal' },
  refund: { label: { zh: '退款', en: 'Refund' }, color: 'violet' },
  adjust: { label: { zh: '管理员调整', en: 'Adjusted by an admin' }, color: 'orange' },
}

/**
 * One change of a balance as its owner sees it. `amount` is in units, negative for a charge; `reference` names the cause, and the
 * other texts describe it: the reason of an admin, or the model and token of a charge. `balance` is the balance after the change;
 * null when the rows in between are left out.
 */
export const ledgerRow = z.object({
  id: z.int(),
  created_at: z.int(),
  kind: z.string(),
  amount: z.int(),
  reference: z.string(),
  token_id: z.int(),
  detail: z.string(),
  model_name: z.string(),
  token_name: z.string(),
  balance: z.int().nullable(),
})
export type LedgerRow = z.output<typeof ledgerRow>

/** The sort keys of a statement; `id` is the time. */
export const ledgerSorts = ['id', 'amount'] as const
export type LedgerSort = (typeof ledgerSorts)[number]
