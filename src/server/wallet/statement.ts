import type { LedgerRow } from '../../contract/entities/ledger-row.ts'
import type { Queries } from '../db/open.ts'

const rowsAtOnce = 1000
const columns = ['id', 'created_at', 'kind', 'amount', 'reference', 'token_id'] as const

/**
 * A user's ledger rows, newest first. `before` is the id that the page ends before, 0 for the newest. `next` is the `before` of the
 * following page, 0 when there is none. A page costs the same at any depth.
 */
export async function listLedgerRows(
  db: Queries,
  { userId, before, limit }: { userId: number; before: number; limit: number },
): Promise<{ items: LedgerRow[]; next: number }> {
  const rows = await db
    .selectFrom('ledger')
    .select(columns)
    .where('user_id', '=', userId)
    .$if(before > 0, (query) => query.where('id', '<', before))
    .orderBy('id', 'desc')
    .limit(limit + 1)
    .execute()
  const items = rows.slice(0, limit)
  return { items, next: rows.length > limit ? (items.at(-1)?.id ?? 0) : 0 }
}

/**
 * All ledger rows of a user as CSV lines, oldest first, with the balance after each. Times are UTC, amounts units. Some thousand rows
 * are read at a time, as fast as they are taken; rows that are written meanwhile may be part of it.
 */
export async function* statementCsv(db: Queries, userId: number): AsyncGenerator<string> {
  yield 'id,time,kind,amount,balance,reference,token_id\r\n'
  let balance = 0
  let lastId = 0

  for (;;) {
    const rows = await db
      .selectFrom('ledger')
      .select(columns)
      .where('user_id', '=', userId)
      .where('id', '>', lastId)
      .orderBy('id')
      .limit(rowsAtOnce)
      .execute()
    let text = ''
    for (const row of rows) {
      balance += row.amount
      lastId = row.id
      text += line([row.id, timeText(row.created_at), row.kind, row.amount, balance, row.reference, row.token_id])
    }
    if (text !== '') yield text
    if (rows.length < rowsAtOnce) return
  }
}

function line(fields: readonly (string | number)[]): string {
  return `${fields.map(field).join(',')}\r\n`
}

/** RFC 4180; a text that a spreadsheet would take for a formula becomes one that it shows. */
function field(value: string | number): string {
  if (typeof value === 'number') return String(value)
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

function timeText(unixSeconds: number): string {
  return new Date(unixSeconds * 1000).toISOString().replace('.000Z', 'Z')
}
