import { z } from 'zod'

/** What the usage of an organisation is summed up by. */
export const usageSides = ['team', 'member', 'token', 'model'] as const
export type UsageSide = (typeof usageSides)[number]

/** The key of the row that sums up all after the costliest ones. */
export const otherUsage = '*'

const figures = {
  /** Calls that were charged, as the ledger has them. */
  calls: z.int(),
  /** Calls that failed, as the log has them. */
  failed: z.int(),
  input_tokens: z.int(),
  output_tokens: z.int(),
  /** Charges less refunds, in units. */
  cost: z.int(),
}

/**
 * What calls of an organisation have cost from one second until before another. `key` is the id of a team, member or token, '0' for
 * none, or the name of a model, '' where the log is purged; `name` is '' for what does not exist any more.
 */
export const organisationUsage = z.object({
  from: z.int(),
  to: z.int(),
  rows: z.array(z.object({ key: z.string(), name: z.string(), ...figures })),
  total: z.object(figures),
})
export type OrganisationUsage = z.output<typeof organisationUsage>
export type UsageRow = OrganisationUsage['rows'][number]
