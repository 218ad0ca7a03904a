import type { ReactNode } from 'react'
import { type Field, type Fields, isShown, type Own } from '../../../contract/fields.ts'
import { FieldInput, type FieldInputProps } from './field.tsx'
import styles from './fields-form.module.css'

type InputProps = Omit<FieldInputProps, 'field'>

interface FieldsFormProps {
  readonly fields: Fields
  /** The form that `useForm` returned, or the same for its part in a nested value. */
  readonly form: { readonly values: object; readonly getInputProps: (name: string) => InputProps }
  /** What is not declared, by field: choices that depend on the site, frequent values. */
  readonly inputs?: Readonly<Record<string, Partial<InputProps>>>
  /** What the form draws itself, by field. */
  readonly draw?: Readonly<Record<string, ReactNode>>
  /** Short fields stand side by side. */
  readonly isGrid?: boolean
}

const wide: ReadonlySet<string> = new Set([
  ...['lines', 'textarea', 'markdown', 'tags'],
  ...['ratio-map', 'text-map', 'header-lists', 'chats', 'group-limits', 'group-counts', 'video-prices'],
])

/** The declared fields of a form that are shown with its values, in their order. */
export function FieldsForm({ fields, form, inputs = {}, draw = {}, isGrid = false }: FieldsFormProps) {
  function drawField(name: string, field: Field | Own): ReactNode {
    if (name in draw || field.widget === 'own') return draw[name]
    return isShown(field, form.values) && <FieldInput field={field} {...form.getInputProps(name)} {...inputs[name]} />
  }
  return (
    <div className={isGrid ? styles.grid : styles.column}>
      {Object.entries(fields).map(([name, field]) => {
        const drawn = drawField(name, field)
        return (
          drawn && (
            <div key={name} className={styles.cell} data-short={field.short} data-wide={wide.has(field.widget)} data-field={name}>
              {drawn}
            </div>
          )
        )
      })}
    </div>
  )
}
