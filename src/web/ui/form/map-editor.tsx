import { TextInput } from '@mantine/core'
import type { ReactNode } from 'react'
import { useText } from '../../lib/i18n.ts'
import { isJsonObject, parseJson } from '../../lib/json.ts'
import { texts } from '../texts.ts'
import styles from './map-editor.module.css'
import { RowsEditor, type RowsEditorProps } from './rows-editor.tsx'

/** `value` is the JSON text of an object. */
export type MapProps = Pick<RowsEditorProps<unknown>, 'label' | 'description' | 'error' | 'disabled' | 'value' | 'onChange'>

interface MapEditorProps<Value> extends MapProps {
  /** Whether the object fits into rows. */
  readonly isValue: (value: unknown) => value is Value
  readonly newValue: Value
  /** Completes an unfinished value; without this it is kept. */
  readonly finish?: (value: Value) => Value
  /** The field of a value; it is labelled by its name. */
  readonly children: (props: {
    readonly value: Value
    readonly label: string
    readonly change: (value: Value) => void
  }) => ReactNode
}

const rowsMax = 100

/**
 * An object from names to values of one type, as rows or as JSON text. An object of other values, or a long one, is shown as text.
 */
export function MapEditor<Value>({ isValue, newValue, finish, children, ...props }: MapEditorProps<Value>) {
  const say = useText(texts)
  return (
    <RowsEditor<readonly [name: string, value: Value]>
      {...props}
      scrolls
      read={(text) => readRows(text, isValue)}
      write={(rows) => writeRows(rows, finish)}
      newRow={['', newValue]}
      addLabel={say('ratioAdd')}
      nameOf={([name]) => name}
    >
      {({ row: [name, value], rows, index, change }) => (
        <div className={styles.row}>
          <TextInput
            aria-label={say('ratioKey')}
            value={name}
            disabled={props.disabled}
            error={isTwice(rows, index) && say('ratioTwice')}
            onChange={(event) => change([event.currentTarget.value, value])}
          />
          {children({ value, label: `${say('ratioValue')}: ${name}`, change: (next) => change([name, next]) })}
        </div>
      )}
    </RowsEditor>
  )
}

type Rows<Value> = readonly (readonly [name: string, value: Value])[]

function readRows<Value>(text: string, isValue: (value: unknown) => value is Value): Rows<Value> | undefined {
  if (text.trim() === '') return []
  const object = parseJson(text)
  if (!isJsonObject(object)) return undefined
  const rows = Object.entries(object).flatMap(([name, value]) => (isValue(value) ? [[name, value] as const] : []))
  return rows.length > rowsMax || rows.length < Object.keys(object).length ? undefined : rows
}

/** A repeated name has no value, so that it cannot be saved. */
function writeRows<Value>(rows: Rows<Value>, finish = (value: Value) => value): string {
  const named = rows.map(([name, value], index) => [name, isTwice(rows, index) ? null : finish(value)])
  return JSON.stringify(Object.fromEntries(named), null, 2)
}

function isTwice(rows: Rows<unknown>, index: number): boolean {
  return rows.some(([name], at) => at < index && name === rows[index]?.[0])
}
