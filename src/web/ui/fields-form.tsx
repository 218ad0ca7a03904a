import type { ReactNode } from 'react'
import type { Field, Widget } from '../../contract/fields.ts'
import { FieldInput } from './field.tsx'
import styles from './fields-form.module.css'

export type FieldValues = Readonly<Record<string, string>>

interface FieldsFormProps {
  readonly fields: readonly Field[]
  readonly values: FieldValues
  readonly onChange: (name: string, value: string) => void
  readonly errors?: Readonly<Record<string, ReactNode>>
  readonly isDisabled?: (name: string) => boolean
  readonly markOf?: (name: string) => ReactNode
  /** Draws a field in its own way; `undefined` leaves it to its widget. */
  readonly draw?: (field: Field) => ReactNode | undefined
}

const wide: ReadonlySet<Widget> = new Set([
  ...(['lines', 'textarea', 'markdown', 'json', 'tags'] as const),
  ...(['ratio-map', 'text-map', 'chats', 'group-limits', 'group-counts'] as const),
])

/** A form drawn from declared fields: short ones side by side, long ones across. */
export function FieldsForm({ fields, values, onChange, errors = {}, isDisabled, markOf, draw }: FieldsFormProps) {
  return (
    <div className={styles.grid}>
      {fields.map((field) => (
        <div key={field.name} className={styles.cell} data-wide={wide.has(field.widget)} data-field={field.name}>
          {draw?.(field) || (
            <FieldInput
              field={field}
              value={values[field.name] ?? ''}
              onChange={(value) => onChange(field.name, value)}
              error={errors[field.name]}
              disabled={isDisabled?.(field.name)}
              mark={markOf?.(field.name)}
            />
          )}
        </div>
      ))}
    </div>
  )
}
