import { type SqlBool, sql } from 'kysely'
import type { Queries } from '../db/open.ts'

/**
 * The highest cost among imported bcrypt hashes of users who have not logged in since; 0 without any. Written like the condition of
 * its partial index, which is nearly empty: every login runs this query.
 */
export async function findImportedCost(db: Queries): Promise<number> {
  const found = await db
    .selectFrom('users')
    .select(sql<string | null>`max(substr(password_hash, 5, 2))`.as('cost'))
    .where(sql<SqlBool>`substr(password_hash, 1, 2) = '$2'`)
    .executeTakeFirst()
  const cost = Number(found?.cost ?? 0)
  return Number.isInteger(cost) ? cost : 0
}
