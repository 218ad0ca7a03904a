import { z } from 'zod'
import type { Text } from '../text.ts'

/** The reasons that the site, and not the caller, bears the upstream's cost of a request. */
export const requestCostReasons = ['usage_implausible', 'above_hold', 'prompt_addition', 'undelivered'] as const
/** The purposes of calls that the site makes itself. Their cost is in no log row. */
const siteCallReasons = ['status_probe', 'quality_check'] as const
export type SiteCallReason = (typeof siteCallReasons)[number]

export const siteCostReasons = [...requestCostReasons, ...siteCallReasons] as const
export type SiteCostReason = (typeof siteCostReasons)[number]

export const siteCostReasonLabels: Readonly<Record<SiteCostReason, Text>> = {
  usage_implausible: { zh: '用量不合理', en: 'Implausible usage' },
  above_hold: { zh: '超出预留额度', en: 'Above the hold' },
  prompt_addition: { zh: '上游增加了提示词', en: 'Prompt added by the upstream' },
  undelivered: { zh: '未送达', en: 'Not delivered' },
  status_probe: { zh: '状态页探测', en: 'Status page probe' },
  quality_check: { zh: '质量检查', en: 'Quality check' },
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
