import { ActionIcon, Button, Input, NumberInput, SegmentedControl, TextInput } from '@mantine/core'
import { IconPlus, IconX } from '@tabler/icons-react'
import { type ReactNode, useState } from 'react'
import { useText } from '../lib/i18n.ts'
import { isJson, JsonInput } from './json-input.tsx'
import styles from './ratio-map.module.css'
import { texts } from './texts.ts'

export interface RatioMapProps {
  readonly label: string
  readonly description?: ReactNode
  readonly error?: ReactNode
  readonly disabled?: boolean
  /** JSON text of an object of numbers. */
  readonly value: string
  readonly onChange: (value: string) => void
}

type Row = readonly [name: string, value: number | string]

const rowsMax = 100

/** An object of numbers, as rows or as JSON text. What is no such object, or is long, is shown as text. */
export function RatioMap(props: RatioMapProps) {
  const { label, description, error, disabled, value, onChange } = props
  const say = useText(texts)
  const rows = readRows(value)
  const [asText, setAsText] = useState(rows === undefined)

  if (rows === undefined || asText) {
    return (
      <JsonInput
        label={label}
        description={description}
        error={error}
        disabled={disabled}
        value={value}
        onChange={onChange}
        aside={rows && <Switcher asText onChange={setAsText} label={label} />}
      />
    )
  }

  const write = (next: readonly Row[]) => onChange(JSON.stringify(Object.fromEntries(next), null, 2))
  const change = (index: number, row: Row) => write(rows.map((old, at) => (at === index ? row : old)))

  return (
    <div className={styles.frame}>
      <Switcher asText={false} onChange={setAsText} label={label} />
      <Input.Wrapper label={label} labelElement="div" description={description} error={error}>
        <div className={styles.rows}>
          {rows.map(([name, number], index) => (
            // A name is edited in place, so its place is what stays.
            // biome-ignore lint/suspicious/noArrayIndexKey: rows keep their order
            <div key={index} className={styles.row}>
              <TextInput
                aria-label={say('ratioKey')}
                value={name}
                disabled={disabled}
                onChange={(event) => {
                  const next = event.currentTarget.value
                  if (!rows.some(([other], at) => at !== index && other === next)) change(index, [next, number])
                }}
              />
              <NumberInput
                aria-label={`${say('ratioValue')}: ${name}`}
                value={number}
                disabled={disabled}
                min={0}
                decimalScale={6}
                onChange={(next) => change(index, [name, next === '' ? 0 : Number(next)])}
              />
              <ActionIcon
                aria-label={say('ratioRemove', { name })}
                disabled={disabled}
                onClick={() => write(rows.filter((_, at) => at !== index))}
              >
                <IconX size={16} />
              </ActionIcon>
            </div>
          ))}
          <Button
            size="compact-sm"
            variant="subtle"
            leftSection={<IconPlus size={14} />}
            disabled={disabled || rows.some(([name]) => name === '')}
            onClick={() => write([...rows, ['', 1]])}
            className={styles.add ?? ''}
          >
            {say('ratioAdd')}
          </Button>
        </div>
      </Input.Wrapper>
    </div>
  )
}

function Switcher({ asText, onChange, label }: { asText: boolean; onChange: (asText: boolean) => void; label: string }) {
  const say = useText(texts)
  return (
    <SegmentedControl
      size="xs"
      className={styles.switcher ?? ''}
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

function readRows(text: string): readonly Row[] | undefined {
  if (text.trim() === '') return []
  if (!isJson(text)) return undefined
  const value: unknown = JSON.parse(text)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  const rows = Object.entries(value)
  if (rows.length > rowsMax || rows.some(([, number]) => typeof number !== 'number')) return undefined
  return rows
}
