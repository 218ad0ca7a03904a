import { z } from 'zod'
import type { Fields, FieldsOf } from '../fields.ts'
import { nameText } from '../name-text.ts'
import type { Text } from '../text.ts'
import { units } from '../units.ts'
import { limitSecondsMax } from './request-limit.ts'

/** Whose calls a budget counts. */
export const siteBudgetScopes = ['user', 'group', 'token', 'model', 'channel'] as const
export type SiteBudgetScope = (typeof siteBudgetScopes)[number]
/** Places in an organisation: a team with all below it, and one member. */
const organisationBudgetScopes = ['organisation', 'team', 'member'] as const
export type OrganisationBudgetScope = (typeof organisationBudgetScopes)[number]
export const budgetScopes = [...siteBudgetScopes, ...organisationBudgetScopes] as const
export type BudgetScope = (typeof budgetScopes)[number]

/**
 * The window of a budget: a sliding number of seconds, a day, a week (from Monday) or a month in the site's time zone, or all time.
 */
const budgetPeriods = ['sliding', 'day', 'week', 'month', 'total'] as const
export type BudgetPeriod = (typeof budgetPeriods)[number]

export const budgetScopeLabels: Readonly<Record<BudgetScope, Text>> = {
  user: { zh: '用户', en: 'User' },
  group: { zh: '分组', en: 'Group' },
  token: { zh: '令牌', en: 'Token' },
  model: { zh: '模型', en: 'Model' },
  channel: { zh: '渠道', en: 'Channel' },
  organisation: { zh: '组织', en: 'Organisation' },
  team: { zh: '团队', en: 'Team' },
  member: { zh: '成员', en: 'Member' },
}

export const budgetPeriodLabels: Readonly<Record<BudgetPeriod, Text>> = {
  sliding: { zh: '最近一段时间', en: 'Sliding' },
  day: { zh: '每天', en: 'Per day' },
  week: { zh: '每周', en: 'Per week' },
  month: { zh: '每月', en: 'Per month' },
  total: { zh: '总计', en: 'Total' },
}

export const budgetLimits = { amountMax: 1e13, sharesMax: 5, windowsMax: 100, ofTokenMax: 10, nameLengthMax: 60 } as const

/** An amount of money that the calls of a user, group, token, model or channel may cost within a window. */
export const budget = z.object({
  id: z.int(),
  scope: z.enum(budgetScopes),
  /** Id of the user, token, channel, organisation, team or member; name of the group or model. */
  subject: z.string(),
  /** The name of what the id stands for; '' when it is gone. */
  subject_name: z.string(),
  name: z.string(),
  period: z.enum(budgetPeriods),
  /** Length of a sliding window; 0 for the others. */
  seconds: z.int(),
  /** In quota units. */
  amount: z.int(),
  /** Refuses calls that do not fit; otherwise it only counts and notifies. */
  is_hard: z.boolean(),
  /** Percentages of the amount at which a notification is sent, once in a window. */
  shares: z.array(z.int()),
  /** Owners cannot change what an admin has set. */
  set_by: z.enum(['admin', 'owner']),
  /** Another amount that applies until a time (unix seconds; 0 for no end). */
  override: z.object({ amount: z.int(), until: z.int() }).nullable(),
  /** Units charged in the current window since it began or was reset. */
  spent: z.int(),
  /** Units held by running calls; known only with PostgreSQL. */
  held: z.int(),
  /** When the current window ends, or the oldest part of a sliding window drops out of it. Unix seconds; 0 for never. */
  renews_at: z.int(),
  created_at: z.int(),
})
export type Budget = z.output<typeof budget>

const amount = z.int().min(0).max(budgetLimits.amountMax)
const shares = z
  .array(z.int().min(1).max(100))
  .max(budgetLimits.sharesMax)
  .transform((list) => [...new Set(list)].sort((one, other) => one - other))
const name = z.string().max(1000).transform(nameText).pipe(z.string().max(budgetLimits.nameLengthMax))

export const budgetInput = z.object({
  scope: z.enum(budgetScopes),
  subject: z
    .string()
    .max(200)
    .transform((text) => text.replaceAll('\0', '').trim())
    .pipe(z.string().min(1)),
  name: name.default(''),
  period: z.enum(budgetPeriods),
  /** For `sliding` only. */
  seconds: z.int().min(0).max(limitSecondsMax).default(0),
  amount,
  is_hard: z.boolean().default(true),
  shares: shares.default([]),
})
export type BudgetInput = z.output<typeof budgetInput>

/**
 * Absent members stay unchanged. Scope and window of a budget cannot be changed: another window counts from zero, as another
 * budget.
 */
export const budgetChange = z.object({
  name: name.optional(),
  amount: amount.optional(),
  is_hard: z.boolean().optional(),
  shares: shares.optional(),
})
export type BudgetChange = z.output<typeof budgetChange>

const amountField = {
  widget: 'number',
  label: { zh: '金额', en: 'Amount' },
  unit: units.quota,
  min: 0,
  required: { zh: '请输入金额', en: 'Enter an amount' },
} as const

/** `window` is a period, or a sliding one of some length: their choices are those of the form. */
export const budgetFields = {
  amount: amountField,
  window: { widget: 'own' },
  is_hard: {
    widget: 'switch',
    label: { zh: '用尽后拒绝请求', en: 'Refuse calls when the budget is used up' },
    help: { zh: '关闭后只计数和提醒，不拒绝请求。', en: 'If off, the budget only tracks spending and sends notifications.' },
  },
  shares: {
    widget: 'tags',
    label: { zh: '提醒比例', en: 'Notify at' },
    help: {
      zh: '达到所选比例时提醒，每个周期每个比例一次。',
      en: 'Sends a notification when this share of the budget is used, once per period.',
    },
    max: budgetLimits.sharesMax,
  },
  name: {
    widget: 'text',
    label: { zh: '名称', en: 'Name' },
    placeholder: { zh: '可选', en: 'Optional' },
    max: budgetLimits.nameLengthMax,
  },
} satisfies FieldsOf<BudgetChange & { window: string }>

/** Another amount for the current window and those after it, `windows` in total; 0 windows end an override. */
export const budgetOverride = z.object({ amount, windows: z.int().min(0).max(budgetLimits.windowsMax) })

export const budgetOverrideFields = {
  amount: amountField,
  windows: { widget: 'whole', label: { zh: '周期数（0 表示立即结束）', en: 'Number of periods (0 to end it now)' } },
} satisfies Fields

/** A budget of an organisation, with whether the caller may change it. */
export const organisationBudget = budget.extend({ may_manage: z.boolean() })
export type OrganisationBudget = z.output<typeof organisationBudget>

/** A member asks those who decide about a budget for a greater amount until its window ends. */
export const raiseInput = z.object({
  amount,
  reason: z
    .string()
    .max(1000)
    .transform((text) => text.replaceAll('\0', '').trim())
    .pipe(z.string().max(500))
    .default(''),
})
export const raiseFields = {
  amount: amountField,
  reason: { widget: 'textarea', label: { zh: '原因', en: 'Reason' }, max: 500, rows: [2, 6] },
} satisfies Fields
export const raise = z.object({
  id: z.int(),
  budget_id: z.int(),
  /** Of the place of the budget. */
  scope: z.string(),
  subject_name: z.string(),
  /** Who asks. */
  username: z.string(),
  amount: z.int(),
  reason: z.string(),
  created_at: z.int(),
  /** '' while it is open, else `granted` or `refused`. */
  answer: z.string(),
  answered_by: z.string(),
  /** Whether the caller may answer it. */
  may_answer: z.boolean(),
})
export type Raise = z.output<typeof raise>
