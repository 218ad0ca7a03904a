import { NumberInput, TextInput } from '@mantine/core'
import type { ReactNode } from 'react'
import { useText } from '../lib/i18n.ts'
import { isJsonObject, parseJson } from '../lib/json.ts'
import styles from './ratio-map.module.css'
import { RowsEditor } from './rows-editor.tsx'
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
  const say = useText(texts)
  return (
    <RowsEditor<Row>
      {...props}
      scrolls
      read={readRows}
      write={writeRows}
      newRow={['', 1]}
      addLabel={say('ratioAdd')}
      nameOf={([name]) => name}
    >
      {({ row: [name, number], rows, index, change }) => (
        <div className={styles.row}>
          <TextInput
            aria-label={say('ratioKey')}
            value={name}
            disabled={props.disabled}
            error={isTwice(rows, index) && say('ratioTwice')}
            onChange={(event) => change([event.currentTarget.value, number])}
          />
          <NumberInput
            aria-label={`${say('ratioValue')}: ${name}`}
            value={number}
            disabled={props.disabled}
            min={0}
            decimalScale={6}
            onChange={(next) => change([name, next])}
          />
        </div>
      )}
    </RowsEditor>
  )
}

function readRows(text: string): readonly Row[] | undefined {
  if (text.trim() === '') return []
  const value = parseJson(text)
  if (!isJsonObject(value)) return undefined
  const rows = Object.entries(value).flatMap(([name, number]): Row[] => (typeof number === 'number' ? [[name, number]] : []))
  return rows.length > rowsMax || rows.length < Object.keys(value).length ? undefined : rows
}

/** A name that stands twice has no number, so that it cannot be saved. */
function writeRows(rows: readonly Row[]): string {
  const named = rows.map(([name, number], index) => [name, isTwice(rows, index) ? null : Number(number)])
  return JSON.stringify(Object.fromEntries(named), null, 2)
}

function isTwice(rows: readonly Row[], index: number): boolean {
  return rows.some(([name], at) => at < index && name === rows[index]?.[0])
}
