import type { ReadLine } from '../../lib/query.ts'

/** The queries invalidated by a change of a code. */
export const redemptionLists: readonly ReadLine[] = ['GET /api/redemption/search']
