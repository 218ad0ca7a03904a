import { IconCircleCheck, IconCircleOff, IconTrash } from '@tabler/icons-react'
import type { ChannelKey } from '../../../../contract/entities/channel.ts'
import { channelStatus } from '../../../../contract/entities/channel-status.ts'
import { useText } from '../../../lib/i18n.ts'
import { confirm } from '../../../ui/confirm.tsx'
import { RowActions } from '../../../ui/row-actions.tsx'
import { texts } from './texts.ts'
import { useKeyWrites } from './use-key-writes.ts'

export interface KeyActionsProps {
  readonly channelId: number
  readonly channelKey: ChannelKey
  /** A channel keeps at least one. */
  readonly isLast: boolean
}

const icon = { size: 16, stroke: 1.6 } as const

export function KeyActions({ channelId, channelKey, isLast }: KeyActionsProps) {
  const say = useText(texts)
  const { id, tail, status } = channelKey
  const { setStatus, remove } = useKeyWrites()
  const isEnabled = status === channelStatus.enabled

  async function askRemove(): Promise<void> {
    const object = `${tail} #${id}`
    const sure = await confirm({
      title: say('removeTitle'),
      object,
      body: say('removeBody'),
      confirmLabel: say('remove'),
      danger: true,
    })
    if (sure) remove.mutate({ params: { id: channelId, key: id } })
  }

  return (
    <RowActions
      name={tail}
      actions={[
        {
          label: say(isEnabled ? 'disable' : 'enable'),
          icon: isEnabled ? <IconCircleOff {...icon} /> : <IconCircleCheck {...icon} />,
          primary: true,
          busy: setStatus.isPending,
          onClick: () =>
            setStatus.mutate({
              params: { id: channelId },
              body: { ids: [id], status: isEnabled ? channelStatus.disabled : channelStatus.enabled },
            }),
        },
        {
          label: isLast ? say('keepsLast') : say('remove'),
          icon: <IconTrash {...icon} />,
          primary: true,
          danger: true,
          disabled: isLast,
          busy: remove.isPending,
          onClick: () => void askRemove(),
        },
      ]}
    />
  )
}
