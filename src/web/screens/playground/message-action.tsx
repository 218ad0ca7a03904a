import { ActionIcon, Tooltip } from '@mantine/core'
import type { Icon } from '@tabler/icons-react'

/** The small button of an action on a message. */
export function MessageAction({ label, icon: Drawn, onClick }: { label: string; icon: Icon; onClick: () => void }) {
  return (
    <Tooltip label={label}>
      <ActionIcon size="sm" aria-label={label} onClick={onClick}>
        <Drawn size={15} stroke={1.6} />
      </ActionIcon>
    </Tooltip>
  )
}
