import { z } from 'zod'
import { choicesOf, type FieldsOf } from '../fields.ts'
import { nameText } from '../name-text.ts'
import type { Text } from '../text.ts'

/** An incident or planned maintenance, as the status page shows it. */
export const incidentKinds = ['incident', 'maintenance'] as const
export type IncidentKind = (typeof incidentKinds)[number]

export const incidentKindLabels: Readonly<Record<IncidentKind, Text>> = {
  incident: { zh: '事件', en: 'Incident' },
  maintenance: { zh: '计划维护', en: 'Planned maintenance' },
}

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
const incidentImpacts = ['none', 'degraded', 'outage'] as const
type IncidentImpact = (typeof incidentImpacts)[number]

const impactLabels: Readonly<Record<IncidentImpact, Text>> = {
  none: { zh: '无影响', en: 'No impact' },
  degraded: { zh: '性能下降', en: 'Degraded' },
  outage: { zh: '故障', en: 'Outage' },
}

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

/** The fields of an update: the new state, and the published text. */
export function incidentUpdateFields(kind: IncidentKind) {
  const offered: readonly IncidentState[] = incidentStates[kind]
  return {
    state: {
      widget: 'select',
      label: { zh: '状态', en: 'Status' },
      choices: offered.map((value) => ({ value, label: incidentStateLabels[value] })),
    },
    message: {
      widget: 'textarea',
      label: { zh: '说明', en: 'Message' },
      help: {
        zh: '读者会看到的说明，例如已知情况与预计恢复时间。',
        en: 'Shown to visitors: what you know so far and when you expect a fix.',
      },
      required: { zh: '请填写说明', en: 'Enter a message' },
      max: incidentLimits.messageMax,
      rows: [4, 12],
    },
  } satisfies FieldsOf<IncidentUpdateInput>
}

export const incidentFields = {
  kind: { widget: 'select', label: { zh: '类型', en: 'Type' }, choices: choicesOf(incidentKindLabels), onlyNew: true },
  title: {
    widget: 'text',
    label: { zh: '标题', en: 'Title' },
    placeholder: { zh: '如：gpt-4o 响应变慢', en: 'e.g. Slow responses from gpt-4o' },
    required: { zh: '请填写标题', en: 'Enter a title' },
    max: incidentLimits.titleMax,
  },
  impact: {
    widget: 'select',
    label: { zh: '影响程度', en: 'Impact' },
    help: {
      zh: '事件未结束时，受影响的模型至少显示为此状态。',
      en: 'While the incident is ongoing, affected models show at least this status.',
    },
    choices: choicesOf(impactLabels),
    when: { kind: ['incident'] },
  },
  groups: {
    widget: 'choices',
    label: { zh: '受影响的分组', en: 'Affected groups' },
    help: {
      zh: '留空表示全部；只有能使用它们的读者会看到。',
      en: 'Leave blank for all. Only visitors who can use them see the incident.',
    },
    max: incidentLimits.groupsMax,
  },
  models: { widget: 'tags', label: { zh: '受影响的模型', en: 'Affected models' }, max: incidentLimits.modelsMax },
  starts_at: {
    widget: 'time',
    label: { zh: '开始时间', en: 'Start' },
    required: { zh: '请填写开始时间', en: 'Enter a start time' },
  },
  ends_at: { widget: 'time', label: { zh: '计划结束时间', en: 'Planned end' }, when: { kind: ['maintenance'] } },
} satisfies FieldsOf<IncidentInput>

/** Whether it is over. */
export function isEnded(state: IncidentState): boolean {
  return state === 'resolved' || state === 'completed'
}
