import type { Text } from './text.ts'
import type { Unit } from './units.ts'

/**
 * The closed set of form widgets. A form is a table of fields, and one component draws each of them. `amount` is a whole number,
 * `whole` one of few digits, `identifier` a text that is no prose, `choices` several names of a list, `tags` typed names, `time` a
 * moment in unix seconds.
 */
export type Widget =
  | 'switch'
  | 'number'
  | 'amount'
  | 'whole'
  | 'text'
  | 'identifier'
  | 'secret'
  | 'lines'
  | 'textarea'
  | 'markdown'
  | 'ratio-map'
  | 'text-map'
  | 'header-lists'
  | 'chats'
  | 'group-limits'
  | 'group-counts'
  | 'video-prices'
  | 'select'
  | 'choices'
  | 'tags'
  | 'time'
  | 'url'

export interface Choice {
  readonly value: string
  readonly label: Text
}

/** One field of a form: of a setting, or of a member of the input of an entity. */
export interface Field {
  readonly widget: Widget
  readonly label: Text
  readonly help?: Text
  readonly placeholder?: Text
  readonly unit?: Unit
  readonly choices?: readonly Choice[]
  /** It must not be blank; the text is the form's error for that. */
  readonly required?: Text | true
  /** The smallest number; that of `whole` is 0 unless it is declared. */
  readonly min?: number
  /** The greatest number, or number of characters or of values. */
  readonly max?: number
  /** The height of a text of several lines, in lines. */
  readonly rows?: readonly [min: number, max: number]
  /** It is shown while other values of the form are among these. */
  readonly when?: Readonly<Record<string, readonly unknown[]>>
  /** It is a field of the form of a new entity only. */
  readonly onlyNew?: true
  /** It stands beside another short one where there is room. */
  readonly short?: true
}

/** The place of what the form draws itself. */
export interface Own extends Pick<Field, 'short'> {
  readonly widget: 'own'
}

export type Fields = Readonly<Record<string, Field | Own>>

/** The fields of an input in the order of its form, each named by its member. */
export type FieldsOf<Input> = { readonly [Name in keyof Input]?: Field | Own }

export function choicesOf(labels: Readonly<Record<string, Text>>): Choice[] {
  return Object.entries(labels).map(([value, label]) => ({ value, label }))
}

/** The fields of the form of an entity that is saved already. */
export function savedFields(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([, field]) => field.widget === 'own' || !field.onlyNew))
}

/** Whether a field is shown with these values of its form. */
export function isShown({ when = {} }: Field, values: object): boolean {
  return Object.entries(when).every(([name, among]) => among.includes(Reflect.get(values, name)))
}

/** The errors at the required fields that are shown and blank. */
export function blankFaults(fields: Fields, values: object, say: (text: Text) => string): Record<string, string> {
  const faults = Object.entries(fields).flatMap(([name, field]) => {
    if (field.widget === 'own' || typeof field.required !== 'object' || !isShown(field, values)) return []
    const value: unknown = Reflect.get(values, name)
    return isBlank(value) ? [[name, say(field.required)] as const] : []
  })
  return Object.fromEntries(faults)
}

/** NaN is a text that is no time. */
function isBlank(value: unknown): boolean {
  if (typeof value === 'string') return value.trim() === ''
  return value === undefined || Number.isNaN(value) || (Array.isArray(value) && value.length === 0)
}
