import { IconCircleCheck, IconCopy, IconReceiptRefund, IconRefresh } from '@tabler/icons-react'
import { type AdminTopUp, topUpStatus } from '../../../contract/entities/top-up.ts'
import { useText } from '../../lib/i18n.ts'
import { useWrite } from '../../lib/query.ts'
import { actionIcon, type RowAction } from '../../ui/list/row-action.ts'
import { RowActions } from '../../ui/list/row-actions.tsx'
import { copyText } from '../../ui/view/copy-text.tsx'
import { texts } from './texts.ts'

export type TopUpAction = 'complete' | 'withdraw'

export function Actions({ order, onAction }: { order: AdminTopUp; onAction: (action: TopUpAction) => void }) {
  const say = useText(texts)
  const { id, trade_no, status, refunded_minor, dispute, withdrawn } = order
  const isCredited = status === topUpStatus.success
  const check = useWrite('POST /api/topup/:id/check', { invalidates: ['GET /api/topup/'], success: say('checked') })

  const actions: RowAction[] = [
    ...(isCredited
      ? []
      : [
          {
            label: say('check'),
            icon: <IconRefresh {...actionIcon} />,
            primary: true,
            busy: check.isPending,
            onClick: () => check.mutate({ params: { id } }),
          },
        ]),
    { label: say('copyNumber'), icon: <IconCopy {...actionIcon} />, onClick: () => void copyText(trade_no, say('numberCopied')) },
    {
      label: say('complete'),
      icon: <IconCircleCheck {...actionIcon} />,
      disabled: isCredited,
      onClick: () => onAction('complete'),
    },
    {
      label: say('withdraw'),
      icon: <IconReceiptRefund {...actionIcon} />,
      danger: true,
      disabled: !isCredited || withdrawn > 0 || (refunded_minor === 0 && dispute === ''),
      onClick: () => onAction('withdraw'),
    },
  ]
  return <RowActions name={trade_no} actions={actions} />
}
