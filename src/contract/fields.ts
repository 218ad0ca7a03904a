import type { Text } from './text.ts'
import type { Unit } from './units.ts'

/** The closed set of form widgets. A form is a list of fields; one component draws them all. */
export type Widget =
  | 'switch'
  | 'number'
  | 'text'
  | 'secret'
  | 'lines'
  | 'textarea'
  | 'markdown'
  | 'json'
  | 'ratio-map'
  | 'text-map'
  | 'chats'
  | 'group-limits'
  | 'group-counts'
  | 'select'
  | 'tags'
  | 'url'

export interface Choice {
  readonly value: string
  readonly label: Text
}

export interface Field {
  readonly name: string
  readonly widget: Widget
  readonly label: Text
  readonly help?: Text
  readonly placeholder?: Text
  readonly unit?: Unit
  readonly choices?: readonly Choice[]
  readonly required?: boolean
}
