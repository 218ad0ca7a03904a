import { z } from 'zod'
import type { Text } from '../text.ts'
import { incident } from './incident.ts'

/** From best to worst, except `unknown`: no call or probe lately. */
export const serviceStates = ['unknown', 'operational', 'maintenance', 'degraded', 'outage'] as const
export type ServiceState = (typeof serviceStates)[number]

export const serviceStateLabels: Readonly<Record<ServiceState, Text>> = {
  unknown: { zh: '暂无数据', en: 'No recent data' },
  operational: { zh: '正常', en: 'Operational' },
  maintenance: { zh: '维护中', en: 'Maintenance' },
  degraded: { zh: '性能下降', en: 'Degraded' },
  outage: { zh: '故障', en: 'Outage' },
}

/** The number of days that the status page shows, the last of which is today (UTC). */
export const statusDays = 90

/**
 * The share of calls and probes that were answered, from 0 to 1; null without any. Calls refused for errors of their callers are
 * not counted.
 */
const share = z.number().min(0).max(1).nullable()

/** Below `poor` a day or the last hour counts as poor, below `fair` as fair. */
export const shareLevels = { fair: 0.99, poor: 0.95 } as const

export const statusPage = z.object({
  state: z.enum(serviceStates),
  /** When it was measured, in unix seconds. */
  updated_at: z.int(),
  /** The beginning of the first day of the strips, in unix seconds. */
  first_day: z.int(),
  /** Whether guests see the page too. */
  is_public: z.boolean(),
  groups: z.array(
    z.object({
      name: z.string(),
      description: z.string(),
      models: z.array(
        z.object({
          name: z.string(),
          state: z.enum(serviceStates),
          share,
          days: z.array(share),
          /** The kinds of upstream that serve it, if the site shows them. */
          vendors: z.array(z.object({ zh: z.string(), en: z.string() })),
        }),
      ),
    }),
  ),
  /** Incidents and maintenance that are not over, and those of the last 90 days, newest first. */
  incidents: z.array(incident),
})
export type StatusPage = z.output<typeof statusPage>
export type StatusGroup = StatusPage['groups'][number]
export type StatusModel = StatusGroup['models'][number]
