import { z } from 'zod'
import type { Text } from '../text.ts'

/** The reasons that the site, and not the caller, bears an upstream's cost. */
export const siteCostReasons = ['usage_implausible', 'undelivered'] as const
export type SiteCostReason = (typeof siteCostReasons)[number]

export const siteCostReasonLabels: Readonly<Record<SiteCostReason, Text>> = {
  usage_implausible: { zh: '用量不合理', en: 'Implausible usage' },
  undelivered: { zh: '未送达', en: 'Not delivered' },
}

const sum = z.object({ count: z.int(), quota: z.int() })

/** The site's cost for one reason on one channel. `channel_name` is '' for a deleted channel. */
export const siteCostSum = z.object({
  reason: z.enum(siteCostReasons),
  channel_id: z.int(),
  channel_name: z.string(),
  last_24_hours: sum,
  last_30_days: sum,
  all: sum,
})
export type SiteCostSum = z.output<typeof siteCostSum>
