import { z } from 'zod'
import type { Text } from '../text.ts'

/**
 * The status of an order. `processing`: paid, but the money has not arrived yet. `failed`, `expired` and `flagged` are not final:
 * the exact payment credits the order, no matter how late it arrives. `success` is final: refunds and disputes are recorded
 * separately.
 */
export const topUpStatus = {
  pending: 'pending',
  processing: 'processing',
  success: 'success',
  failed: 'failed',
  expired: 'expired',
  flagged: 'flagged',
} as const

export const topUpStatusLabels: Readonly<Record<string, { label: Text; color: string }>> = {
  pending: { label: { zh: '待支付', en: 'Unpaid' }, color: 'gray' },
  processing: { label: { zh: '处理中', en: 'Processing' }, color: 'blue' },
  success: { label: { zh: '已到账', en: 'Credited' }, color: 'green' },
  failed: { label: { zh: '支付失败', en: 'Failed' }, color: 'red' },
  expired: { label: { zh: '已过期', en: 'Expired' }, color: 'gray' },
  flagged: { label: { zh: '支付不符', en: 'Payment differs' }, color: 'orange' },
}

export const paymentProviders = { epay: 'epay', stripe: 'stripe' } as const
export type PaymentProvider = keyof typeof paymentProviders

/** The `payment_method` of consoles, the provider's name of it, and its label. */
export const paymentMethods = {
  zfb: { provider: 'epay', type: 'alipay', label: { zh: '支付宝', en: 'Alipay' } },
  wx: { provider: 'epay', type: 'wxpay', label: { zh: '微信', en: 'WeChat Pay' } },
  stripe: { provider: 'stripe', type: 'stripe', label: { zh: '银行卡（Stripe）', en: 'Card (Stripe)' } },
} as const satisfies Record<string, { provider: PaymentProvider; type: string; label: Text }>

export const topUpReasonLengthMax = 200

/**
 * An order. `quota` is its credit in units, `money_minor` its price in minor units of `currency`; both fixed when it is created.
 * `refunded_minor` is the refunded amount, `dispute` the state of a chargeback, `withdrawn` the units that an admin took back for
 * either.
 */
export const topUp = z.object({
  id: z.int(),
  user_id: z.int(),
  provider: z.string(),
  method: z.string(),
  trade_no: z.string(),
  quota: z.int(),
  amount: z.int(),
  money_minor: z.int(),
  currency: z.string(),
  status: z.string(),
  created_time: z.int(),
  completed_time: z.int(),
  refunded_minor: z.int(),
  dispute: z.string(),
  withdrawn: z.int(),
})
export type TopUp = z.output<typeof topUp>

/** An order as admins see it, with the numbers that the provider knows it by. */
export const adminTopUp = topUp.extend({ username: z.string(), provider_id: z.string(), payment_id: z.string() })
export type AdminTopUp = z.output<typeof adminTopUp>

/** Columns that lists of orders can be sorted by; `id` is the time of the order. */
export const topUpSorts = ['id', 'quota', 'money_minor', 'completed_time'] as const
export type TopUpSort = (typeof topUpSorts)[number]

/** The wallet's offer. Amounts are US dollars, or units where quota is not shown in currency. */
export const topUpOffer = z.object({
  methods: z.array(z.object({ name: z.string(), provider: z.string(), currency: z.string(), least: z.int() })),
  /** `share` is the part of the price that is paid: 1 without a discount. */
  presets: z.array(z.object({ amount: z.int(), share: z.number() })),
})
export type TopUpOffer = z.output<typeof topUpOffer>
