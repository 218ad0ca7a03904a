import { Group } from '@mantine/core'
import { paymentMethods, type TopUp, topUpStatusLabels } from '../../../contract/entities/top-up.ts'
import { moneyText } from '../../../contract/money.ts'
import type { Text } from '../../../contract/text.ts'
import { useQuotaFormat, withCurrency } from '../../lib/format.ts'
import { defineTexts, useLocal, useText } from '../../lib/i18n.ts'
import { useQuotaHint } from './quota-text.tsx'
import { StatusTag } from './status-tag.tsx'
import { Tag } from './tag.tsx'

/** Shared parts of the lists of orders of users and of admins. */

const methods = Object.values(paymentMethods)

/** Formats an amount in minor units of a currency. */
export const formatMoney = (minor: number, currency: string) => withCurrency(moneyText(minor, currency), currency)

export function PaymentMethod({ method }: { method: string }) {
  const local = useLocal()
  const known = methods.find(({ type }) => type === method)
  return known ? local(known.label) : method
}

/** The status of an order, and later refunds and disputes. */
export function OrderState({ order }: { order: TopUp }) {
  const say = useText(texts)
  const local = useLocal()
  const format = useQuotaFormat()
  const hintOf = useQuotaHint()
  const { status, refunded_minor: refunded, currency, dispute, withdrawn } = order
  return (
    <Group gap={4} align="stretch">
      <StatusTag state={topUpStatusLabels[status]} />
      {refunded > 0 && <Tag color="orange">{say('refunded', { money: formatMoney(refunded, currency) })}</Tag>}
      {dispute !== '' && (
        <Tag color="red">{say('disputed', { state: disputes[dispute] ? local(disputes[dispute]) : dispute })}</Tag>
      )}
      {withdrawn > 0 && <Tag title={hintOf(withdrawn)}>{say('withdrawn', { amount: format(withdrawn) })}</Tag>}
    </Group>
  )
}

/** The states of a chargeback as Stripe names them. */
const disputes: Readonly<Record<string, Text>> = {
  warning_needs_response: { zh: '预警，待回应', en: 'inquiry, needs a response' },
  warning_under_review: { zh: '预警，审理中', en: 'inquiry, under review' },
  warning_closed: { zh: '预警已关闭', en: 'inquiry closed' },
  needs_response: { zh: '待回应', en: 'needs a response' },
  under_review: { zh: '审理中', en: 'under review' },
  won: { zh: '胜诉', en: 'won' },
  lost: { zh: '败诉', en: 'lost' },
}

const texts = defineTexts({
  refunded: ['已退款 {money}', '{money} refunded'],
  disputed: ['拒付：{state}', 'Disputed: {state}'],
  withdrawn: ['已收回 {amount}', '{amount} reclaimed'],
})
