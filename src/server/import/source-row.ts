import type { SourceValues } from './source.ts'

/** Why a row stays behind. Thrown before anything of the row is written. */
export class Refused extends Error {}
/** The row was left out because it was asked for. */
export class Skipped extends Error {}

/**
 * A row of a source, whose values nobody checked when they were stored. What cannot be read refuses the row, what is read otherwise than
 * it is written is noted.
 */
export class SourceRow {
  readonly changes: { readonly what: string; readonly value?: string }[] = []
  readonly notes: { readonly what: string; readonly value?: string }[] = []
  /** Columns where null stands for an empty text or 0. */
  nulls = 0
  readonly #values: SourceValues

  constructor(values: SourceValues) {
    this.#values = values
  }

  /** 0 where the id is not even a number: then nothing of the row can be named. */
  get id(): number {
    const id = Number(this.#values.id ?? 0)
    return Number.isSafeInteger(id) ? id : 0
  }

  has(column: string): boolean {
    return this.#values[column] !== undefined
  }

  /** Something of the row is not what it was. */
  change(what: string, value?: string): void {
    this.changes.push({ what, ...(value === undefined ? {} : { value }) })
  }

  /** Something of the row is taken as it is, and worth a look. */
  note(what: string, value?: string): void {
    this.notes.push({ what, ...(value === undefined ? {} : { value }) })
  }

  /** Trailing spaces are those of columns of a fixed width. Characters that no database takes are left out. */
  text(column: string): string {
    const value = this.#values[column]
    if (value === undefined) return ''
    if (value === null) {
      this.nulls++
      return ''
    }
    const text = (typeof value === 'object' ? JSON.stringify(value) : String(value)).trimEnd()
    const clean = text.toWellFormed().replaceAll('\0', '')
    if (clean !== text) this.change(`${column}: characters that no text can have were left out`)
    return clean
  }

  /** Throws `Refused` for what is no exact integer. */
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

  /** An integer of any size; 0 for what is none. */
  units(column: string): bigint {
    const digits = String(this.#values[column] ?? '').trim()
    return /^-?\d+$/.test(digits) ? BigInt(digits) : 0n
  }

  /** 0 for what is no number. */
  decimal(column: string): number {
    const number = Number(this.#values[column] ?? 0)
    return Number.isFinite(number) ? number : 0
  }

  flag(column: string, absent = 0): 0 | 1 {
    const value = this.#values[column] ?? absent
    return value === true || Number(value) === 1 || value === 't' || value === 'true' ? 1 : 0
  }

  /** A time that is stored as text, in unix seconds; null where there is none. */
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

  /** An object that is stored as JSON; undefined, with a note, for anything else but nothing. */
  object(column: string): Readonly<Record<string, unknown>> | undefined {
    const text = this.text(column).trim()
    if (text === '' || text === 'null') return {}
    try {
      const value: unknown = JSON.parse(text)
      if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value }
    } catch {
      // Said below, as of JSON of another kind.
    }
    this.note(`${column} is not a JSON object`)
    return undefined
  }
}
