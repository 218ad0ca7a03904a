import { useState } from 'react'
import type { Place } from '../../../contract/options/define.ts'

/** Texts of options, by key. */
export type FieldValues = Readonly<Record<string, string>>

/** Unsaved input of all tabs, by option. A draft that equals the saved value is removed. */
export interface Drafts {
  readonly values: FieldValues
  readonly errors: FieldValues
  /** The tabs and the sections that have drafts. */
  readonly tabs: ReadonlySet<string>
  readonly sections: ReadonlySet<string>
  readonly set: (key: string, value: string | undefined, place: Place) => void
  readonly drop: (keys: readonly string[]) => void
  readonly setErrors: (errors: FieldValues) => void
}

export function useDrafts(): Drafts {
  const [values, setValues] = useState<FieldValues>({})
  const [places, setPlaces] = useState<Readonly<Record<string, Place>>>({})
  const [errors, setErrors] = useState<FieldValues>({})

  const changed = Object.keys(values).flatMap((key) => places[key] ?? [])

  return {
    values,
    errors,
    tabs: new Set(changed.map(({ tab }) => tab)),
    sections: new Set(changed.map(({ name }) => name)),
    set: (key, value, place) => {
      setValues((old) => (value === undefined ? without(old, [key]) : { ...old, [key]: value }))
      setPlaces((old) => ({ ...old, [key]: place }))
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
