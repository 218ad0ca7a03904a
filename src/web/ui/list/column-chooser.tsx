import { ActionIcon, Checkbox, Popover, Stack, Tooltip } from '@mantine/core'
import { IconColumns3 } from '@tabler/icons-react'
import { useMemo } from 'react'
import { useText } from '../../lib/i18n.ts'
import { storedJson } from '../../lib/stored.ts'
import { texts } from '../texts.ts'

interface Choosable {
  readonly key: string
  readonly title: string
  readonly hideable?: boolean
  readonly hidden?: boolean
}

type Hidden = ReadonlySet<string>
const isNames = (value: unknown): value is readonly string[] | null =>
  value === null || (Array.isArray(value) && value.every((name) => typeof name === 'string'))

/** The hidden columns of a table, stored in this browser under the table's name. */
export function useHiddenColumns(table: string | undefined, columns: readonly Choosable[]) {
  const choice = useMemo(() => storedJson<readonly string[] | null>(`columns:${table ?? ''}`, null, isNames), [table])
  const chosen = choice.use()
  const hidden = chosen ?? columns.filter((column) => column.hidden).map((column) => column.key)
  return {
    hidden: new Set(hidden),
    /** Null until columns were chosen. */
    chosen: chosen && new Set(chosen),
    choose: (next: Hidden | null) => choice.write(next && [...next]),
  }
}

export function ColumnChooser({
  columns,
  hidden,
  onChange,
}: {
  columns: readonly Choosable[]
  hidden: Hidden
  onChange: (hidden: Hidden) => void
}) {
  const say = useText(texts)
  const hideable = columns.filter((column) => column.hideable)
  if (hideable.length === 0) return null

  function toggle(key: string): void {
    const next = new Set(hidden)
    if (!next.delete(key)) next.add(key)
    onChange(next)
  }

  return (
    <Popover position="bottom-end" shadow="md" radius="md" trapFocus>
      <Tooltip label={say('columns')}>
        <Popover.Target>
          <ActionIcon size={36} aria-label={say('columns')}>
            <IconColumns3 size={18} stroke={1.6} />
          </ActionIcon>
        </Popover.Target>
      </Tooltip>
      <Popover.Dropdown>
        <Stack gap="xs">
          {hideable.map(({ key, title }) => (
            <Checkbox key={key} size="xs" label={title} checked={!hidden.has(key)} onChange={() => toggle(key)} />
          ))}
        </Stack>
      </Popover.Dropdown>
    </Popover>
  )
}
