import { ActionIcon, Button, Tooltip } from '@mantine/core'
import type { Icon } from '@tabler/icons-react'
import { useNarrow } from '../../lib/narrow.ts'

interface HeadButtonProps {
  readonly label: string
  readonly icon: Icon
  /** Its effect, if the label does not explain it. */
  readonly hint?: string
  readonly loading?: boolean
  readonly disabled?: boolean
  readonly onClick: () => void
}

/** A button in the head of a page that is not its main one: in a narrow window its icon alone, so that the main one has room. */
export function HeadButton({ label, icon: Drawn, hint, ...button }: HeadButtonProps) {
  const narrow = useNarrow()
  const icon = <Drawn size={16} stroke={1.8} />
  return (
    <Tooltip label={hint ?? label} disabled={!narrow && hint === undefined}>
      {narrow ? (
        <ActionIcon variant="default" size={36} aria-label={label} {...button}>
          {icon}
        </ActionIcon>
      ) : (
        <Button variant="default" leftSection={icon} {...button}>
          {label}
        </Button>
      )}
    </Tooltip>
  )
}
