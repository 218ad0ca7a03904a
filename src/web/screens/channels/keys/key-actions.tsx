import { IconCircleCheck, IconCircleOff, IconTrash } from '@tabler/icons-react'
import type { ChannelKey } from '../../../../contract/entities/channel.ts'
import { channelStatus } from '../../../../contract/entities/channel-status.ts'
import { useText } from '../../../lib/i18n.ts'
import { actionIcon } from '../../../ui/list/row-action.ts'
import { RowActions } from '../../../ui/list/row-actions.tsx'
import { texts } from './texts.ts'
import { useKeyWrites } from './use-key-writes.ts'

interface KeyActionsProps {
  readonly channelId: number
  readonly channelKey: ChannelKey
  /** The only key of the channel, which cannot be removed. */
  readonly isLast: boolean
}

export function KeyActions({ channelId, channelKey, isLast }: KeyActionsProps) {
  const say = useText(texts)
  const { id, tail, status } = channelKey
  const { setStatus, remove } = useKeyWrites()
  const isEnabled = status === channelStatus.enabled

  return (
    <RowActions
      name={tail}
      actions={[
        {
          label: say(isEnabled ? 'disable' : 'enable'),
          icon: isEnabled ? <IconCircleOff {...actionIcon} /> : <IconCircleCheck {...actionIcon} />,
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
          icon: <IconTrash {...actionIcon} />,
          primary: true,
          danger: true,
          disabled: isLast,
          busy: remove.isPending,
          ask: { title: say('removeTitle'), object: `${tail} #${id}`, body: say('removeBody') },
          onClick: () => remove.mutate({ params: { id: channelId, key: id } }),
        },
      ]}
    />
  )
}
