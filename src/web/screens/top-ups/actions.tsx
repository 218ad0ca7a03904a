import { IconCircleCheck, IconCopy, IconReceiptRefund, IconRefresh } from '@tabler/icons-react'
import { type AdminTopUp, topUpStatus } from '../../../contract/entities/top-up.ts'
import { useText } from '../../lib/i18n.ts'
import { useWrite } from '../../lib/query.ts'
import { copyText } from '../../ui/copy-text.tsx'
import { actIcon, type RowAction } from '../../ui/row-action.ts'
import { RowActions } from '../../ui/row-actions.tsx'
import { texts } from './texts.ts'

export type Act = 'complete' | 'withdraw'

export function Actions({ order, onAct }: { order: AdminTopUp; onAct: (act: Act) => void }) {
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
            icon: <IconRefresh {...actIcon} />,
            primary: true,
            busy: check.isPending,
            onClick: () => check.mutate({ params: { id } }),
          },
        ]),
    { label: say('copyNumber'), icon: <IconCopy {...actIcon} />, onClick: () => void copyText(trade_no, say('numberCopied')) },
    { label: say('complete'), icon: <IconCircleCheck {...actIcon} />, disabled: isCredited, onClick: () => onAct('complete') },
    {
      label: say('withdraw'),
      icon: <IconReceiptRefund {...actIcon} />,
      danger: true,
      disabled: !isCredited || withdrawn > 0 || (refunded_minor === 0 && dispute === ''),
      onClick: () => onAct('withdraw'),
    },
  ]
  return <RowActions name={trade_no} actions={actions} />
}
