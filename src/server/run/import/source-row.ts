import { isObject, readJson } from '../../base/lib/bytes/read-json.ts'
import type { SourceValues } from './source.ts'

/** A row cannot be imported; the message is the reason. Thrown before any write of that row. */
export class Refused extends Error {}
/** A row is left out because of `--into-existing skip`. */
export class Skipped extends Error {}

/**
 * A row of a source, whose values may be invalid. Values are read with a type: one that cannot be converted refuses the row, one that changes
 * in the conversion is reported.
 */
export class SourceRow {
  readonly changes: { readonly what: string; readonly value?: string }[] = []
  readonly notes: { readonly what: string; readonly value?: string }[] = []
  /** The number of null values that were read as an empty text or 0. */
  nulls = 0
  readonly #values: SourceValues

  constructor(values: SourceValues) {
    this.#values = values
  }

  /** The source id; 0 if it is not a safe integer. */
  get id(): number {
    const id = Number(this.#values.id ?? 0)
    return Number.isSafeInteger(id) ? id : 0
  }

  has(column: string): boolean {
    return this.#values[column] !== undefined
  }

  /** Reports a value that differs from the source. */
  change(what: string, value?: string): void {
    this.changes.push({ what, ...(value === undefined ? {} : { value }) })
  }

  /** Reports a value that is imported unchanged and should be reviewed. */
  note(what: string, value?: string): void {
    this.notes.push({ what, ...(value === undefined ? {} : { value }) })
  }

  /** Trims trailing spaces, which columns of type `char(n)` add, and removes characters that PostgreSQL cannot store. */
  text(column: string): string {
    const value = this.#values[column]
    if (value === undefined) return ''
    if (value === null) {
      this.nulls++
      return ''
    }
    const text = (typeof value === 'object' ? JSON.stringify(value) : String(value)).trimEnd()
    const clean = text.toWellFormed().replaceAll('\0', '')
    if (clean !== text) this.change(`${column}: invalid characters were removed`)
    return clean
  }

  /** Throws `Refused` if the value is not a safe integer. */
  integer(column: string, absent = 0): number {
    const value = this.#values[column]
    if (value === undefined || value === '') return absent
    if (value === null) {
      this.nulls++
      return absent
    }
    if (typeof value === 'boolean') return Number(value)
    const number = Number(value)
    if (!Number.isSafeInteger(number)) throw new Refused(`${column} is not an exact integer: ${String(value).slice(0, 40)}`)
    return number
  }

  /** An integer of any size; 0 if the value is not an integer. */
  units(column: string): bigint {
    const digits = String(this.#values[column] ?? '').trim()
    return /^-?\d+$/.test(digits) ? BigInt(digits) : 0n
  }

  /** A number; 0 if the value is not a finite number. */
  decimal(column: string): number {
    const number = Number(this.#values[column] ?? 0)
    return Number.isFinite(number) ? number : 0
  }

  flag(column: string, absent = 0): 0 | 1 {
    const value = this.#values[column] ?? absent
    return value === true || Number(value) === 1 || value === 't' || value === 'true' ? 1 : 0
  }

  /** Unix seconds of a time stored as text; null if it is empty. */
  time(column: string): number | null {
    const value = this.#values[column]
    if (value === undefined || value === null || value === '') return null
    const [, day, clock = '00:00:00', zone = ''] =
      /^(\d{4}-\d\d-\d\d)(?:[ T](\d\d:\d\d:\d\d)(?:\.\d+)?)?\s*(Z|[+-]\d\d(?::?\d\d)?)?/.exec(String(value)) ?? []
    const at =
      day === undefined ? Number.NaN : Date.parse(`${day}T${clock}${zone === '' ? 'Z' : zone.length === 3 ? `${zone}:00` : zone}`)
    if (Number.isNaN(at)) throw new Refused(`${column} is not a time: ${String(value).slice(0, 40)}`)
    return Math.trunc(at / 1000)
  }

  /** An object stored as JSON, `{}` if empty; undefined, with a note in the report, if it is anything else. */
  object(column: string): Readonly<Record<string, unknown>> | undefined {
    const text = this.text(column).trim()
    if (text === '' || text === 'null') return {}
    const value = readJson(text)
    if (isObject(value)) return value
    this.note(`${column} is not a JSON object`)
    return undefined
  }
}
