import { useNavigate, useSearch } from '@tanstack/react-router'

/** Filters, sorting and page of a list live in the address, so that a view can be linked and survives a reload. */

export type SearchValue = string | number | boolean
export type SearchShape = Readonly<Record<string, SearchValue>>

/** Literal defaults are widened to their type. */
export type Widened<Shape> = {
  -readonly [Key in keyof Shape]: Shape[Key] extends string
    ? string
    : Shape[Key] extends number
      ? number
      : Shape[Key] extends boolean
        ? boolean
        : SearchValue
}

interface UrlState<Shape> {
  readonly values: Widened<Shape>
  /** Changes some values. The list goes back to its first page unless `page` is among them. */
  readonly change: (patch: Partial<Widened<Shape>>) => void
  readonly reset: () => void
  /** Whether anything but the page differs from the defaults. */
  readonly filtered: boolean
}

/**
 * `const { values, change } = useUrlState({ keyword: '', type: 0, page: 1 })`; values equal to their default are left out of the
 * address.
 */
export function useUrlState<const Shape extends SearchShape>(defaults: Shape): UrlState<Shape> {
  const search: Readonly<Record<string, unknown>> = useSearch({ strict: false })
  const navigate = useNavigate()
  const values = readValues(defaults, search)

  function write(next: Readonly<Record<string, SearchValue | undefined>>): void {
    const rest = Object.fromEntries(Object.entries(search).filter(([name]) => !(name in defaults)))
    const changed = Object.fromEntries(Object.entries(next).filter(([name, value]) => value !== defaults[name]))
    void navigate({ to: '.', search: { ...rest, ...changed }, replace: true, resetScroll: false })
  }

  return {
    // Each value was parsed by the type of its default.
    values: values as Widened<Shape>,
    change: (patch) => write({ ...values, ...('page' in defaults ? { page: 1 } : {}), ...patch }),
    reset: () => write(defaults),
    filtered: Object.keys(defaults).some((name) => name !== 'page' && values[name] !== defaults[name]),
  }
}

function readValues(defaults: SearchShape, search: Readonly<Record<string, unknown>>): Record<string, SearchValue> {
  return Object.fromEntries(Object.entries(defaults).map(([name, fallback]) => [name, readValue(search[name], fallback)]))
}

function readValue(given: unknown, fallback: SearchValue): SearchValue {
  if (given === undefined || given === null) return fallback
  const text = String(given)
  if (typeof fallback === 'string') return text
  if (typeof fallback === 'boolean') return text === 'true'
  const number = Number(text)
  return Number.isFinite(number) && text !== '' ? number : fallback
}

/** The address as plain `name=value` pairs, so that links written by hand work and `0123` stays text. */
export function parseSearch(text: string): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(text))
}

export function writeSearch(search: Readonly<Record<string, unknown>>): string {
  const params = new URLSearchParams()
  for (const [name, value] of Object.entries(search)) {
    if (value !== undefined && value !== null) params.set(name, String(value))
  }
  return params.size === 0 ? '' : `?${params}`
}
