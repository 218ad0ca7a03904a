import { IconCopy, IconKey, IconListCheck, IconPencil, IconPlayerPlay, IconReceipt, IconWallet } from '@tabler/icons-react'
import { useNavigate } from '@tanstack/react-router'
import type { Channel, ChannelType } from '../../../contract/entities/channel.ts'
import { channelStatus } from '../../../contract/entities/channel-status.ts'
import { useText } from '../../lib/i18n.ts'
import { useWrite } from '../../lib/query.ts'
import { useMay } from '../../lib/session.ts'
import { startOfDay } from '../../lib/times.ts'
import { toast } from '../../lib/toast.ts'
import { useBudgetsAction } from '../../ui/budgets/use-budgets-action.tsx'
import { actionIcon, type RowAction } from '../../ui/list/row-action.ts'
import { RowActions } from '../../ui/list/row-actions.tsx'
import { deleteAction, toggleAction } from '../../ui/list/row-common-actions.tsx'
import { useRecordAction } from '../../ui/recording/use-record-action.tsx'
import { texts } from './texts.ts'
import { useBalance } from './use-balance.ts'
import { useChannelTest } from './use-channel-test.ts'
import { useRowEdit } from './use-row-edit.ts'

interface ActionsProps {
  readonly channel: Channel
  readonly type: ChannelType | undefined
  readonly onEdit: () => void
  readonly onTestWith: () => void
  readonly onKeys: () => void
  readonly onDeleted: () => void
}

export function Actions({ channel, type, onEdit, onTestWith, onKeys, onDeleted }: ActionsProps) {
  const say = useText(texts)
  const navigate = useNavigate()
  const { id, name, status } = channel
  const isEnabled = status === channelStatus.enabled
  const testable = type?.testable !== false
  const test = useChannelTest()
  const balance = useBalance(channel)
  const isRoot = useMay('root')
  const record = useRecordAction({ kind: 'channel', id, name })
  const budgets = useBudgetsAction({ scope: 'channel', subject: String(id), name })
  const toggle = useRowEdit((after) => say(after.status === channelStatus.enabled ? 'enabled' : 'disabled', { name }))
  const copy = useWrite('POST /api/channel/:id/copy', { invalidates: ['GET /api/channel/search'], success: say('copied') })
  const remove = useWrite('DELETE /api/channel/:id', {
    invalidates: ['GET /api/channel/search'],
    success: say('deleted', { name }),
    onSuccess: onDeleted,
  })

  function runTest(): void {
    test.mutate(
      { id, model: '' },
      {
        onSuccess: (seconds) => toast.success(say('testOk', { name, seconds: seconds.toFixed(2) })),
        onError: (cause) => toast.error(say('testFailed', { name, reason: cause.message })),
      },
    )
  }

  const actions: RowAction[] = [
    {
      label: say('test'),
      icon: <IconPlayerPlay {...actionIcon} />,
      primary: testable,
      disabled: !testable,
      busy: test.isPending,
      onClick: runTest,
    },
    { label: say('edit'), icon: <IconPencil {...actionIcon} />, primary: true, onClick: onEdit },
    { label: say('testWith'), icon: <IconListCheck {...actionIcon} />, disabled: !testable, onClick: onTestWith },
    { label: say('keys'), icon: <IconKey {...actionIcon} />, onClick: onKeys },
    {
      label: say('showLogs'),
      icon: <IconReceipt {...actionIcon} />,
      onClick: () => void navigate({ to: '/log', search: { channel: String(id), from: startOfDay(6) } }),
    },
    budgets.action,
    ...(isRoot ? [record.action] : []),
    {
      label: say('balance'),
      icon: <IconWallet {...actionIcon} />,
      disabled: type?.tells_balance !== true || balance.isPending,
      onClick: () => balance.mutate(),
    },
    {
      label: say('copy'),
      icon: <IconCopy {...actionIcon} />,
      disabled: copy.isPending,
      onClick: () => copy.mutate({ params: { id } }),
    },
    toggleAction(say, {
      isOn: isEnabled,
      disabled: toggle.isPending,
      onClick: () => toggle.mutate({ body: { id, status: isEnabled ? channelStatus.disabled : channelStatus.enabled } }),
    }),
    deleteAction(say, { object: `#${id} ${name}`, onClick: () => remove.mutate({ params: { id } }) }),
  ]
  return (
    <>
      <RowActions name={name} actions={actions} />
      {budgets.dialog}
      {record.dialog}
    </>
  )
}
