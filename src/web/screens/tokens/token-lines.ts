import type { ReadLine } from '../../lib/query.ts'

/** The lists that a change of a token makes stale. */
export const tokenLists: readonly ReadLine[] = ['GET /api/token/', 'GET /api/token/search']
