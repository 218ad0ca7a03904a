import { type RawBuilder, type SelectQueryBuilder, type Simplify, type SqlBool, sql } from 'kysely'
import type { SortBy } from '../../../contract/envelope.ts'
import type { Tables } from './schema.ts'

/** A page of a query's result, as offset and limit. */
export interface PageOf {
  readonly offset: number
  readonly limit: number
}

export function zeroBased(page: number, size: number): PageOf {
  return { offset: page * size, limit: size }
}

export function oneBased(page: number, size: number): PageOf {
  return { offset: (Math.max(1, page) - 1) * size, limit: size }
}

/** A page of the rows that a sorted query finds, and the number of all of them. */
export async function readPage<Joined, From extends keyof Joined, Output>(
  query: SelectQueryBuilder<Joined, From, Output>,
  { offset, limit }: PageOf,
): Promise<{ rows: Simplify<Output>[]; total: number }> {
  const rows = await query.offset(offset).limit(limit).execute()
  const count = query.clearSelect().clearOrderBy().select(sql<number>`count(*)`.as('total'))
  const { total } = await count.$castTo<{ total: number }>().executeTakeFirstOrThrow()
  return { rows, total: Number(total) }
}

/**
 * The rows of a table sorted by a column, newest first by default; `values` replaces columns that cannot be compared directly. Rows
 * with the same value keep one order from page to page.
 */
export function inOrder<Joined, From extends keyof Joined, Output>(
  query: SelectQueryBuilder<Joined, From, Output>,
  table: keyof Tables & string,
  { by, descending }: SortBy = { by: 'id', descending: true },
  values: Readonly<Record<string, RawBuilder<number>>> = {},
): SelectQueryBuilder<Joined, From, Output> {
  const ordered = query.orderBy(values[by] ?? sql.ref(`${table}.${by}`), descending ? 'desc' : 'asc')
  return by === 'id' ? ordered : ordered.orderBy(sql.ref(`${table}.id`), 'desc')
}

/** Sorts by a time column so that rows without an end come after all others. */
export function endless(column: string, isEndless: RawBuilder<SqlBool>): RawBuilder<number> {
  return sql`case when ${isEndless} then ${sql.lit(Number.MAX_SAFE_INTEGER)} else ${sql.ref(column)} end`
}

/** Whether a column contains a text, whatever the case of their letters; the database folds both, so that a value is found by itself. */
export function containsText(column: string, text: string): RawBuilder<SqlBool> {
  return matches(column, `%${literally(text)}%`)
}

/** Whether a column begins with a text, whatever the case of their letters. */
export function beginsWithText(column: string, text: string): RawBuilder<SqlBool> {
  return matches(column, `${literally(text)}%`)
}

function matches(column: string, pattern: string): RawBuilder<SqlBool> {
  return sql`lower(${sql.ref(column)}) like lower(${pattern}) escape '\\'`
}

/** The text as a pattern that stands for itself alone. */
function literally(text: string): string {
  return text.replace(/[\\%_]/g, (sign) => `\\${sign}`)
}
