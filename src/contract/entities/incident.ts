import { z } from 'zod'
import { nameText } from '../name-text.ts'
import type { Text } from '../text.ts'

/** An incident or planned maintenance, as the status page shows it. */
export const incidentKinds = ['incident', 'maintenance'] as const
export type IncidentKind = (typeof incidentKinds)[number]

/** The states that an update can set, in their usual order. */
export const incidentStates = {
  incident: ['investigating', 'identified', 'monitoring', 'resolved'],
  maintenance: ['scheduled', 'in_progress', 'completed'],
} as const satisfies Record<IncidentKind, readonly string[]>

const states = [...incidentStates.incident, ...incidentStates.maintenance] as const
export type IncidentState = (typeof states)[number]

export const incidentStateLabels: Readonly<Record<IncidentState, Text>> = {
  investigating: { zh: '调查中', en: 'Investigating' },
  identified: { zh: '已定位', en: 'Identified' },
  monitoring: { zh: '观察中', en: 'Monitoring' },
  resolved: { zh: '已解决', en: 'Resolved' },
  scheduled: { zh: '已计划', en: 'Scheduled' },
  in_progress: { zh: '进行中', en: 'In progress' },
  completed: { zh: '已完成', en: 'Completed' },
}

/**
 * The state in which the affected models are shown while it lasts, unless their measured state is worse. Maintenance has its own
 * state.
 */
export const incidentImpacts = ['none', 'degraded', 'outage'] as const
export type IncidentImpact = (typeof incidentImpacts)[number]

export const incidentLimits = { titleMax: 200, messageMax: 5000, groupsMax: 50, modelsMax: 200, updatesMax: 200 } as const

const update = z.object({
  state: z.enum(states),
  message: z.string(),
  /** Unix seconds. */
  created_at: z.int(),
})

export const incident = z.object({
  id: z.int(),
  kind: z.enum(incidentKinds),
  title: z.string(),
  /** The state of maintenance follows its planned time, until an update completes it. */
  state: z.enum(states),
  impact: z.enum(incidentImpacts),
  /** Both empty: it affects everything. */
  groups: z.array(z.string()),
  models: z.array(z.string()),
  starts_at: z.int(),
  /** When it was resolved, or is planned to end; 0 for neither. */
  ends_at: z.int(),
  /** Newest first. */
  updates: z.array(update),
})
export type Incident = z.output<typeof incident>

/** With its author, for admins. */
export const adminIncident = incident.extend({ created_by: z.string(), created_at: z.int() })
export type AdminIncident = z.output<typeof adminIncident>

const names = (max: number) => z.array(z.string().trim().min(1).max(255)).max(max).default([])
const message = z.string().trim().min(1).max(incidentLimits.messageMax)

/** `starts_at` of 0 means now. */
const shared = z.object({
  title: z.string().transform(nameText).pipe(z.string().min(1).max(incidentLimits.titleMax)),
  impact: z.enum(incidentImpacts).default('none'),
  groups: names(incidentLimits.groupsMax),
  models: names(incidentLimits.modelsMax),
  starts_at: z.int().min(0).default(0),
  /** The planned end of maintenance. */
  ends_at: z.int().min(0).default(0),
})

export const incidentChange = shared
export const incidentInput = shared.extend({ kind: z.enum(incidentKinds), state: z.enum(states), message })
export const incidentUpdateInput = z.object({ state: z.enum(states), message })
export type IncidentInput = z.output<typeof incidentInput>
export type IncidentChange = z.output<typeof incidentChange>
export type IncidentUpdateInput = z.output<typeof incidentUpdateInput>

/** Whether it is over. */
export function isEnded(state: IncidentState): boolean {
  return state === 'resolved' || state === 'completed'
}
