import { useState } from 'react'
import type { OptionTab } from './tabs.ts'

/** Texts of options, by key. */
export type FieldValues = Readonly<Record<string, string>>

/** Unsaved input of all tabs, by option. A draft that equals the saved value is removed. */
export interface Drafts {
  readonly values: FieldValues
  readonly errors: FieldValues
  /** The tabs that have drafts. */
  readonly tabs: ReadonlySet<string>
  readonly set: (key: string, value: string | undefined, tab: OptionTab) => void
  readonly drop: (keys: readonly string[]) => void
  readonly setErrors: (errors: FieldValues) => void
}

export function useDrafts(): Drafts {
  const [values, setValues] = useState<FieldValues>({})
  const [tabs, setTabs] = useState<Readonly<Record<string, OptionTab>>>({})
  const [errors, setErrors] = useState<FieldValues>({})

  return {
    values,
    errors,
    tabs: new Set(Object.keys(values).map((key) => tabs[key] ?? '')),
    set: (key, value, tab) => {
      setValues((old) => (value === undefined ? without(old, [key]) : { ...old, [key]: value }))
      setTabs((old) => ({ ...old, [key]: tab }))
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
