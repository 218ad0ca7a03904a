import { ActionIcon, Box, Button, Input, SegmentedControl } from '@mantine/core'
import { IconPlus, IconX } from '@tabler/icons-react'
import { type ReactNode, useState } from 'react'
import { useText } from '../../lib/i18n.ts'
import shared from '../shared.module.css'
import { texts } from '../texts.ts'
import { JsonInput } from './json-input.tsx'
import styles from './rows-editor.module.css'

export interface RowsEditorProps<Row> {
  readonly label: string
  readonly description?: ReactNode
  readonly error?: ReactNode
  readonly disabled?: boolean
  /** JSON text; '' for nothing. */
  readonly value: string
  readonly onChange: (value: string) => void
  /** The rows of a text; undefined when rows cannot show it. */
  readonly read: (value: string) => readonly Row[] | undefined
  /** The text of rows. An incomplete row is written so that the schema refuses it. */
  readonly write: (rows: readonly Row[]) => string
  readonly newRow: Row
  readonly addLabel: string
  readonly nameOf: (row: Row) => string
  readonly placeholder?: string
  /** Many rows scroll by themselves. */
  readonly scrolls?: true
  /** The names of the columns, where the fields of a row stand beside each other. */
  readonly head?: ReactNode
  /** The fields of one row. */
  readonly children: (props: RowProps<Row>) => ReactNode
  /** Below the rows, such as their consequences. */
  readonly footer?: ReactNode
}

export interface RowProps<Row> {
  readonly row: Row
  readonly rows: readonly Row[]
  readonly index: number
  readonly change: (row: Row) => void
  readonly moveUp: (() => void) | undefined
}

/** JSON as rows to fill in, or as text. */
export function RowsEditor<Row>(props: RowsEditorProps<Row>) {
  const { label, description, error, disabled, value, onChange, placeholder, footer } = props
  const drafts = useDrafts(props)
  const [asText, setAsText] = useState(drafts.rows === undefined)
  const views = <Views asText={asText} onChange={setAsText} label={label} />

  if (drafts.rows === undefined || asText) {
    return (
      <Box pos="relative">
        <JsonInput
          label={label}
          description={description}
          error={error}
          disabled={disabled}
          placeholder={placeholder}
          value={value}
          onChange={onChange}
          aside={drafts.rows && views}
        />
        {footer}
      </Box>
    )
  }
  return (
    <Box pos="relative">
      <div className={styles.views}>{views}</div>
      <Input.Wrapper label={label} labelElement="div" description={description} error={error} inputWrapperOrder={order}>
        <Rows {...props} rows={drafts.rows} onRows={drafts.change} />
      </Input.Wrapper>
      {footer}
    </Box>
  )
}

/** Help is above the growing part. */
const order: ('label' | 'description' | 'input' | 'error')[] = ['label', 'description', 'input', 'error']

type DraftsInput<Row> = Pick<RowsEditorProps<Row>, 'value' | 'onChange' | 'read' | 'write'>

/** Rows as they are typed, possibly incomplete, and the text that they produce. A text from outside replaces them. */
function useDrafts<Row>({ value, onChange, read, write }: DraftsInput<Row>) {
  const [drafts, setDrafts] = useState(() => ({ value, rows: read(value) }))
  const current = drafts.value === value ? drafts : { value, rows: read(value) }
  if (current !== drafts) setDrafts(current)
  return {
    rows: current.rows,
    change(rows: readonly Row[]): void {
      const next = write(rows)
      setDrafts({ value: next, rows })
      onChange(next)
    },
  }
}

type RowsProps<Row> = RowsEditorProps<Row> & { readonly rows: readonly Row[]; readonly onRows: (rows: readonly Row[]) => void }

function Rows<Row>({ rows, onRows, disabled, newRow, addLabel, nameOf, scrolls, head, children }: RowsProps<Row>) {
  const say = useText(texts)
  const swapped = (index: number) =>
    rows.map((row, at) => (at === index - 1 ? rows[index] : at === index ? rows[at - 1] : row) ?? row)
  return (
    <div className={styles.rows} data-scrolls={scrolls}>
      {head && rows.length > 0 && (
        <div className={styles.head} aria-hidden="true">
          {head}
        </div>
      )}
      {rows.map((row, index) => (
        // A row is edited in place, so its place is what stays.
        // biome-ignore lint/suspicious/noArrayIndexKey: rows keep their order
        <div key={index} className={styles.row}>
          <div className={shared.grow}>
            {children({
              row,
              rows,
              index,
              change: (next) => onRows(rows.map((old, at) => (at === index ? next : old))),
              moveUp: index === 0 ? undefined : () => onRows(swapped(index)),
            })}
          </div>
          <ActionIcon
            className={styles.remove}
            aria-label={say('ratioRemove', { name: nameOf(row) || String(index + 1) })}
            disabled={disabled}
            onClick={() => onRows(rows.filter((_, at) => at !== index))}
          >
            <IconX size={16} />
          </ActionIcon>
        </div>
      ))}
      <Button
        size="compact-sm"
        variant="subtle"
        leftSection={<IconPlus size={14} />}
        disabled={disabled}
        onClick={() => onRows([...rows, newRow])}
        className={styles.add ?? ''}
      >
        {addLabel}
      </Button>
    </div>
  )
}

function Views({ asText, onChange, label }: { asText: boolean; onChange: (asText: boolean) => void; label: string }) {
  const say = useText(texts)
  return (
    <SegmentedControl
      size="xs"
      aria-label={label}
      value={asText ? 'json' : 'rows'}
      onChange={(choice) => onChange(choice === 'json')}
      data={[
        { value: 'rows', label: say('ratioRows') },
        { value: 'json', label: 'JSON' },
      ]}
    />
  )
}
