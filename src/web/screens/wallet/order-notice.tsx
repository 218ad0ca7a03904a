import { Box, Button } from '@mantine/core'
import { type TopUp, topUpStatus } from '../../../contract/entities/top-up.ts'
import { useQuotaFormat } from '../../lib/format.ts'
import { useText } from '../../lib/i18n.ts'
import { Notice } from '../../ui/page/notice.tsx'
import { texts } from './texts.ts'
import { useOrder } from './use-order.ts'

/** The status of the order from which the browser returns. It is display only: returning credits nothing. */
export function OrderNotice({ tradeNo, onClose }: { tradeNo: string; onClose: () => void }) {
  const say = useText(texts)
  const format = useQuotaFormat()
  const order = useOrder(tradeNo)
  if (order === undefined) return null

  const { kind, text } = noticeOf(order)
  return (
    <Box mb="md">
      <Notice
        kind={kind}
        action={
          <Button size="compact-sm" variant="subtle" onClick={onClose}>
            {say('orderClose')}
          </Button>
        }
      >
        {say(text, { number: tradeNo, amount: format(order?.quota ?? 0) })}
      </Notice>
    </Box>
  )
}

function noticeOf(order: TopUp | null) {
  switch (order?.status) {
    case undefined:
      return { kind: 'warn', text: 'orderUnknown' } as const
    case topUpStatus.success:
      return { kind: 'info', text: 'orderCredited' } as const
    case topUpStatus.pending:
      return { kind: 'info', text: 'orderWaiting' } as const
    case topUpStatus.processing:
      return { kind: 'info', text: 'orderProcessing' } as const
    case topUpStatus.flagged:
      return { kind: 'danger', text: 'orderFlagged' } as const
    default:
      return { kind: 'warn', text: 'orderFailed' } as const
  }
}
