import { Button } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { useText } from '../../../lib/i18n.ts'
import type { RowsEditorProps } from '../rows-editor.tsx'
import styles from './request-limits.module.css'
import { texts } from './texts.ts'

type PresetRowsProps<Row> = Pick<RowsEditorProps<Row>, 'value' | 'onChange' | 'disabled' | 'read' | 'write'> & {
  readonly presets: readonly { readonly label: string; readonly row: Row }[]
}

/** Frequent rows, below the rows of an editor. */
export function PresetRows<Row>({ value, onChange, disabled, read, write, presets }: PresetRowsProps<Row>) {
  const say = useText(texts)
  const rows = read(value)
  if (!rows || disabled) return null
  return (
    <div className={styles.presets}>
      <span>{say('presets')}</span>
      {presets.map(({ label, row }) => (
        <Button
          key={label}
          size="compact-xs"
          variant="default"
          leftSection={<IconPlus size={12} />}
          aria-label={say('addPreset', { preset: label })}
          onClick={() => onChange(write([...rows, row]))}
        >
          {label}
        </Button>
      ))}
    </div>
  )
}
