import { IconCircleCheck, IconCircleOff, IconPencil } from '@tabler/icons-react'
import { useText } from '../../../lib/i18n.ts'
import { useWrite } from '../../../lib/query.ts'
import { actionIcon } from '../../../ui/list/row-action.ts'
import { RowActions } from '../../../ui/list/row-actions.tsx'
import { texts } from '../texts.ts'
import type { Tagged } from './tagged.ts'

/** Actions on all channels of a tag. */
export function TagActions({ tagged, onEdit }: { tagged: Tagged; onEdit: (tagged: Tagged) => void }) {
  const say = useText(texts)
  const { tag } = tagged
  const common = {
    invalidates: ['GET /api/channel/search'],
    success: (count: number) => say('bulkChanged', { count }),
  } as const
  const enable = useWrite('POST /api/channel/tag/enabled', common)
  const disable = useWrite('POST /api/channel/tag/disabled', common)
  const body = { tag }
  return (
    <RowActions
      name={tag}
      actions={[
        {
          label: say('enableAll'),
          icon: <IconCircleCheck {...actionIcon} />,
          primary: true,
          busy: enable.isPending,
          onClick: () => enable.mutate({ body }),
        },
        {
          label: say('disableAll'),
          icon: <IconCircleOff {...actionIcon} />,
          primary: true,
          busy: disable.isPending,
          onClick: () => disable.mutate({ body }),
        },
        { label: say('editTag'), icon: <IconPencil {...actionIcon} />, primary: true, onClick: () => onEdit(tagged) },
      ]}
    />
  )
}
