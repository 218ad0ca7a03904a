import { useState } from 'react'
import type { FieldValues } from '../../ui/fields-form.tsx'

/** Unsaved input, by option. A draft that equals the saved value is removed. */
export interface Drafts {
  readonly values: FieldValues
  readonly errors: FieldValues
  readonly set: (key: string, value: string | undefined) => void
  readonly drop: (keys: readonly string[]) => void
  readonly setErrors: (errors: FieldValues) => void
}

export function useDrafts(): Drafts {
  const [values, setValues] = useState<FieldValues>({})
  const [errors, setErrors] = useState<FieldValues>({})

  return {
    values,
    errors,
    set: (key, value) => {
      setValues((old) => (value === undefined ? without(old, [key]) : { ...old, [key]: value }))
      setErrors((old) => without(old, [key]))
    },
    drop: (keys) => {
      setValues((old) => without(old, keys))
      setErrors((old) => without(old, keys))
    },
    setErrors: (fresh) => setErrors((old) => ({ ...old, ...fresh })),
  }
}

function without(values: FieldValues, keys: readonly string[]): FieldValues {
  return Object.fromEntries(Object.entries(values).filter(([key]) => !keys.includes(key)))
}
