import { z } from 'zod'
import type { Text } from '../text.ts'

/** `flagged`: the gateway reported a payment that is not the one ordered. */
export const topUpStatus = { pending: 'pending', success: 'success', flagged: 'flagged' } as const

export const topUpStatusLabels: Readonly<Record<string, { label: Text; color: string }>> = {
  pending: { label: { zh: '待支付', en: 'Unpaid' }, color: 'gray' },
  success: { label: { zh: '已到账', en: 'Credited' }, color: 'green' },
  flagged: { label: { zh: '金额异常', en: 'Payment differs' }, color: 'orange' },
}

/** What consoles send, and what the gateway calls it. */
export const paymentMethods = { zfb: 'alipay', wx: 'wxpay' } as const

/** An order. `quota` is what it credits in units, `money_minor` what it costs in hundredths of `currency`; both fixed when it is made. */
export const topUp = z.object({
  id: z.int(),
  user_id: z.int(),
  method: z.string(),
  trade_no: z.string(),
  quota: z.int(),
  amount: z.int(),
  money_minor: z.int(),
  currency: z.string(),
  status: z.string(),
  created_time: z.int(),
  completed_time: z.int(),
})
export type TopUp = z.output<typeof topUp>
