import { z } from 'zod'

/** A month as `2026-11`. */
export const monthPattern = /^\d{4}-(0[1-9]|1[0-2])$/

/** What a month has changed of a balance. Amounts are units; `opening` and all others together are `closing`. */
export const monthlyStatement = z.object({
  month: z.string(),
  /** The first second of the month in the time zone of the site, and that of the next one. */
  from: z.int(),
  to: z.int(),
  time_zone: z.string(),
  opening: z.int(),
  /** Changes other than charges, by the kind of their ledger rows. */
  credits: z.array(z.object({ kind: z.string(), count: z.int(), amount: z.int() })),
  /** Of an organisation by the team that a token belonged to at the time, '' for none. The model is '' where the log is purged. */
  charges: z.array(z.object({ team_id: z.int(), team: z.string(), model: z.string(), count: z.int(), amount: z.int() })),
  closing: z.int(),
})
export type MonthlyStatement = z.output<typeof monthlyStatement>
