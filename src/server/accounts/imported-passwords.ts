import { type SqlBool, sql } from 'kysely'
import type { Queries } from '../db/open.ts'

/**
 * The highest cost among the bcrypt hashes that another program has left and whose users have not logged in since; 0 without any. Written as
 * the index over them is, which has next to nothing in it: every login asks.
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
