import type { ReadLine } from '../../lib/query.ts'

/** What a change of a code makes stale. */
export const redemptionLists: readonly ReadLine[] = ['GET /api/redemption/search']
