import { z } from 'zod'

/** Every console answer. `code` is stable and accompanies the message of a refusal. */
export interface Envelope<Data = unknown> {
  success: boolean
  message: string
  data?: Data
  code?: string
}

export const pageSizes = [10, 20, 50, 100] as const

/** Numbers of a query are parsed leniently: invalid ones count as absent, and those out of range are clamped. */
const lenientInt = (fallback: number, min: number, max: number) =>
  z.preprocess((value) => {
    const number = Number(value)
    if (value === undefined || value === '' || !Number.isFinite(number)) return fallback
    return Math.min(max, Math.max(min, Math.trunc(number)))
  }, z.int())

/**
 * Text of a query. The literals that some clients send for "nothing" are treated as absent, and NUL, which no database stores, is
 * removed.
 */
export const queryText = z
  .string()
  .optional()
  .transform((value) =>
    value === undefined || value === 'null' || value === 'undefined' || value === 'NaN' ? '' : value.replaceAll('\0', '').trim(),
  )

/** An email address of a query. Clients that do not escape it send a plus sign, which arrives as a space; no address contains a space. */
export const queryEmail = queryText.transform((text) => text.replaceAll(' ', '+'))

export const queryInt = lenientInt(0, 0, Number.MAX_SAFE_INTEGER)
export const queryFlag = z.preprocess((value) => value === 'true' || value === '1' || value === true, z.boolean())

/** A list's sort order. */
export interface SortBy<Name extends string = string> {
  readonly by: Name
  readonly descending: boolean
}

/** One of these names, with a `-` before it for descending order. Anything else means the default order of the list. */
export const querySort = <const Name extends string>(names: readonly Name[]) =>
  queryText.transform((text): SortBy<Name> | undefined => {
    const by = names.find((name) => name === text.replace(/^-/, ''))
    return by && { by, descending: text.startsWith('-') }
  })

const pageNumberMax = 1_000_000
const pageSizeUsual = 10

/** Rows of a page: 10 where the number is below 1, and at most `max`. */
const pageSizeUpTo = (max: number) =>
  lenientInt(pageSizeUsual, Number.MIN_SAFE_INTEGER, max).transform((size) => (size < 1 ? pageSizeUsual : size))

/** Minutes east of Greenwich, which determine the start of days and weeks. */
export const offsetMinutes = z.coerce.number().int().min(-840).max(840).catch(0)

/** For lists of admins that scripts read completely. */
export const longPageSize = pageSizeUpTo(1000)

/** Lists that count pages from 0 and return a bare array unless `paged=true`, with the number of all rows in `X-Total-Count`. */
export const zeroBasedPage = {
  p: lenientInt(0, 0, pageNumberMax),
  page_size: pageSizeUpTo(100),
  paged: queryFlag.optional(),
}

/** Lists that count pages from 1 and return `{ items, total, page, page_size }`. */
export const oneBasedPage = {
  p: lenientInt(1, 1, pageNumberMax),
  page_size: pageSizeUpTo(100),
}

export const page = <T extends z.ZodType>(item: T) =>
  z.object({ items: z.array(item), total: z.int(), page: z.int(), page_size: z.int() })

/** A bare array, or a page when the caller asked with `paged=true`. */
export const arrayOrPage = <T extends z.ZodType>(item: T) => z.union([z.array(item), page(item)])

/** An id in a path has only one valid form: `1.0`, `01` and `1e0` are refused. */
const pathId = z.preprocess(
  (given) => (typeof given === 'string' && /^[1-9]\d{0,15}$/.test(given) ? Number(given) : given),
  z.int().positive(),
)

export const idParams = z.object({ id: pathId })

/**
 * A required text of a body: a missing one counts as empty, and is reported by the rule of its field. OpenAPI lists it as required.
 */
export const neededText = <Schema extends z.ZodType<string, string>>(schema: Schema) =>
  z
    .optional(schema)
    .transform((text) => text ?? '')
    .meta({ needed: true })
