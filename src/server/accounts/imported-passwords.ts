import { sql } from 'kysely'
import type { Queries } from '../db/open.ts'

/** The highest cost among the bcrypt hashes that another program has left and whose users have not logged in since; 0 without any. */
export async function findImportedCost(db: Queries): Promise<number> {
  const found = await db
    .selectFrom('users')
    .select(sql<string | null>`max(substr(password_hash, 5, 2))`.as('cost'))
    .where('password_hash', 'like', '$2%')
    .executeTakeFirst()
  const cost = Number(found?.cost ?? 0)
  return Number.isInteger(cost) ? cost : 0
}
