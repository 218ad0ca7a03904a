import { z } from 'zod'
import type { Field, Fields, FieldsOf } from '../fields.ts'
import type { Text } from '../text.ts'
import { type Unit, units } from '../units.ts'

/** The rules of alerts. Each is declared here once, with its texts and parameters; `server/watch/alerts` defines how it is measured. */

export type AlertUnit = 'percent' | 'seconds' | 'minutes' | 'hours' | 'usd' | 'days' | 'count' | 'calls' | 'times'

/** What stands behind a number of each unit. */
export const alertUnitLabels: Readonly<Record<AlertUnit, Unit>> = {
  percent: { zh: '%', en: '%' },
  seconds: { zh: '秒', en: 's' },
  minutes: { zh: '分钟', en: 'min' },
  hours: { zh: '小时', en: 'h' },
  usd: units.usd,
  days: { zh: '天', en: 'days' },
  count: { zh: '个', en: 'items' },
  calls: { zh: '次调用', en: 'calls' },
  times: { zh: '倍', en: '×' },
}

export interface AlertParam {
  readonly name: string
  readonly label: Text
  readonly unit: AlertUnit
  readonly default: number
  readonly min: number
  readonly max: number
}

interface AlertRuleText {
  readonly label: Text
  readonly help: Text
  /** The kind of subject that is measured; the scope of a rule selects subjects by id or name. */
  readonly subject: 'channel' | 'model' | 'user' | 'budget' | 'job' | 'node' | 'site'
  /** It fires while the value is beyond the threshold in this direction. */
  readonly fires: 'above' | 'below'
  readonly unit: AlertUnit
  /** The first is the threshold; rules without one fire above 0. */
  readonly params: readonly AlertParam[]
  /** Params beyond each of which the alert is sent again, once. */
  readonly steps?: readonly string[]
  /** It is sent once, unless its settings say how often it is sent again. */
  readonly isSentOnce?: true
  /** Offered to be enabled together with the others that every site should have. */
  readonly isRecommended?: true
  /** The text about each subject, with the parameters `{name}`, `{value}`, `{threshold}`; the note of the alert follows it. */
  readonly says: Text
}

const threshold = { zh: '阈值', en: 'Threshold' }
const percent = (value: number): AlertParam => ({
  name: 'threshold',
  label: threshold,
  unit: 'percent',
  default: value,
  min: 1,
  max: 100,
})

const windowOf = (minutes: number): AlertParam => ({
  name: 'window',
  label: { zh: '最近', en: 'Over the last' },
  unit: 'minutes',
  default: minutes,
  min: 5,
  max: 1440,
})
const leastCalls: AlertParam = {
  name: 'least',
  label: { zh: '至少', en: 'With at least' },
  unit: 'calls',
  default: 20,
  min: 1,
  max: 1_000_000,
}
const windowHelp = {
  zh: '调用方自身的错误不计入。预览按小时计算。',
  en: 'Errors caused by the caller do not count. The preview uses hourly data.',
}
const timeHelp = {
  zh: '成功调用的总用时（p95）。预览按小时计算。',
  en: 'Total duration (p95) of successful calls. The preview uses hourly data.',
}

const daysLeft = (name: string, value: number): AlertParam => ({
  name,
  label: name === 'threshold' ? { zh: '提前', en: 'Before the end' } : { zh: '再次提前', en: 'Again before the end' },
  unit: 'days',
  default: value,
  min: 1,
  max: 365,
})

/** The age of a daily backup, with two hours for its run. */
export const backupHoursMax = 26

/** The rules of the success rate and of the 95th percentile of durations are the same for a channel, a model and the site. */
const successRule = (subject: 'channel' | 'model' | 'site', label: Text, says: Text): AlertRuleText => ({
  ...{ label, says, subject, help: windowHelp, fires: 'below', unit: 'percent' },
  params: [percent(90), windowOf(15), leastCalls],
})
const p95Rule = (subject: 'channel' | 'model' | 'site', label: Text, says: Text): AlertRuleText => ({
  ...{ label, says, subject, help: timeHelp, fires: 'above', unit: 'seconds' },
  params: [
    { name: 'threshold', label: threshold, unit: 'seconds', default: 60, min: 0.1, max: 86_400 },
    windowOf(15),
    leastCalls,
  ],
})

const alertRules = {
  'channel-success': successRule(
    'channel',
    { zh: '渠道成功率低', en: 'Low success rate of a channel' },
    { zh: '{name} 的成功率为 {value}，低于 {threshold}', en: '{name} has a success rate of {value}, below {threshold}' },
  ),
  'channel-p95': p95Rule(
    'channel',
    { zh: '渠道响应慢', en: 'Slow channel' },
    { zh: '{name} 的 p95 为 {value}，超过 {threshold}', en: '{name} has a p95 of {value}, above {threshold}' },
  ),
  'model-success': successRule(
    'model',
    { zh: '模型成功率低', en: 'Low success rate of a model' },
    {
      zh: '模型 {name} 的成功率为 {value}，低于 {threshold}',
      en: 'Model {name} has a success rate of {value}, below {threshold}',
    },
  ),
  'model-p95': p95Rule(
    'model',
    { zh: '模型响应慢', en: 'Slow model' },
    { zh: '模型 {name} 的 p95 为 {value}，超过 {threshold}', en: 'Model {name} has a p95 of {value}, above {threshold}' },
  ),
  'site-success': {
    isRecommended: true,
    ...successRule(
      'site',
      { zh: '全站成功率低', en: 'Low success rate of the site' },
      { zh: '全站成功率为 {value}，低于 {threshold}', en: 'The success rate is {value}, below {threshold}' },
    ),
  },
  'site-p95': p95Rule(
    'site',
    { zh: '全站响应慢', en: 'Slow site' },
    { zh: '全站 p95 为 {value}，超过 {threshold}', en: 'The p95 of calls is {value}, above {threshold}' },
  ),
  'breaker-open': {
    label: { zh: '渠道熔断', en: 'Circuit breaker open' },
    help: {
      zh: '任一节点上渠道的密钥因连续失败而停用时触发。',
      en: 'A channel key is paused on at least one node after repeated failures.',
    },
    subject: 'channel',
    fires: 'above',
    unit: 'count',
    params: [],
    says: { zh: '{name} 已熔断，涉及 {value} 个密钥', en: '{name}: the breaker is open for {value} {value|key|keys}' },
  },
  'channel-disabled': {
    isRecommended: true,
    label: { zh: '渠道被自动禁用', en: 'Channel disabled automatically' },
    help: { zh: '渠道重新启用后恢复。', en: 'Resolved when the channel is enabled again.' },
    subject: 'channel',
    fires: 'above',
    unit: 'count',
    params: [],
    says: { zh: '{name} 已被自动禁用', en: '{name} was disabled automatically' },
  },
  'key-disabled': {
    label: { zh: '渠道密钥被自动禁用', en: 'Channel key disabled automatically' },
    help: { zh: '仍启用的渠道中有被自动禁用的密钥。', en: 'An enabled channel has keys that were disabled automatically.' },
    subject: 'channel',
    fires: 'above',
    unit: 'count',
    params: [],
    says: { zh: '{name} 有 {value} 个密钥被自动禁用', en: '{name} has {value} disabled {value|key|keys}' },
  },
  'channel-balance': {
    label: { zh: '渠道余额不足', en: 'Low balance of a channel' },
    help: { zh: '按最近一次查询到的余额。', en: 'The balance last reported by the upstream.' },
    subject: 'channel',
    fires: 'below',
    unit: 'usd',
    params: [{ name: 'threshold', label: threshold, unit: 'usd', default: 10, min: 0, max: 1_000_000 }],
    says: { zh: '{name} 的余额为 {value}，低于 {threshold}', en: '{name} has a balance of {value}, below {threshold}' },
  },
  'user-balance': {
    label: { zh: '用户余额不足', en: 'Low balance of a user' },
    help: {
      zh: '一天内有消费的用户；一次最多列出 200 个。',
      en: 'Users who spent something in the last day. At most 200 are listed.',
    },
    subject: 'user',
    fires: 'below',
    unit: 'usd',
    params: [{ name: 'threshold', label: threshold, unit: 'usd', default: 1, min: 0, max: 1_000_000 }],
    says: { zh: '用户 {name} 的余额为 {value}，低于 {threshold}', en: 'User {name} has {value} left, below {threshold}' },
  },
  'budget-share': {
    label: { zh: '预算即将用尽', en: 'Budget nearly used up' },
    help: {
      zh: '预算当前周期已扣费的比例；一次最多列出 200 个。',
      en: 'Share of a budget that is used in the current period. At most 200 are listed.',
    },
    subject: 'budget',
    fires: 'above',
    unit: 'percent',
    params: [percent(80)],
    says: {
      zh: '{name} 的预算已使用 {value}，超过 {threshold}',
      en: 'The budget of {name} is {value} used, above {threshold}',
    },
  },
  'spend-spike': {
    label: { zh: '消费突增', en: 'Spend spike' },
    help: {
      zh: '本小时消费超过过去四周同一小时中位数的倍数。数据不足一周时不触发。',
      en: 'Spend of this hour compared with the median of the same hour over four weeks. Needs at least a week of data.',
    },
    subject: 'site',
    fires: 'above',
    unit: 'times',
    params: [
      { name: 'threshold', label: { zh: '倍数', en: 'Times the median' }, unit: 'times', default: 3, min: 1, max: 1000 },
      { name: 'least', label: { zh: '且至少消费', en: 'And at least' }, unit: 'usd', default: 1, min: 0, max: 1_000_000 },
    ],
    says: {
      zh: '本小时消费为中位数的 {value} 倍，超过 {threshold} 倍',
      en: 'The spend of this hour is {value} times its median, above {threshold}',
    },
  },
  'ledger-difference': {
    isRecommended: true,
    label: { zh: '账本不一致', en: 'Ledger difference' },
    help: {
      zh: '余额与账本之和不同，账本缺少记录，或日志文件已损坏并被移开。',
      en: 'A balance does not match its ledger rows, ledger rows are missing, or files of the journal were damaged and set aside.',
    },
    subject: 'site',
    fires: 'above',
    unit: 'count',
    params: [],
    says: { zh: '账本有 {value} 处不一致', en: '{value} {value|difference|differences} in the ledger' },
  },
  'backup-age': {
    label: { zh: '备份过旧', en: 'Old backup' },
    help: {
      zh: '距最近一次 sluice backup 的时间。从未执行过时不触发；其他方式的备份不计入。',
      en: 'Time since the last sluice backup. Does not fire before the first one; backups made in other ways do not count.',
    },
    subject: 'site',
    fires: 'above',
    unit: 'hours',
    params: [{ name: 'threshold', label: threshold, unit: 'hours', default: backupHoursMax, min: 1, max: 8760 }],
    says: { zh: '最近一次备份已过去 {value}，超过 {threshold}', en: 'The last backup is {value} old, more than {threshold}' },
  },
  'job-failed': {
    isRecommended: true,
    label: { zh: '任务失败', en: 'Job failed' },
    help: { zh: '定时任务最近一次运行失败或超时。', en: 'The last run of a scheduled job failed or timed out.' },
    subject: 'job',
    fires: 'above',
    unit: 'count',
    params: [],
    says: { zh: '任务 {name} 失败', en: 'The job {name} failed' },
  },
  'disk-space': {
    isRecommended: true,
    label: { zh: '磁盘空间不足', en: 'Low disk space' },
    help: { zh: '数据目录所在磁盘的可用空间。', en: 'Free space on the disk of the data folder.' },
    subject: 'node',
    fires: 'below',
    unit: 'percent',
    params: [percent(10)],
    says: {
      zh: '节点 {name} 的磁盘可用空间为 {value}，低于 {threshold}',
      en: 'Node {name} has {value} of its disk free, below {threshold}',
    },
  },
  memory: {
    label: { zh: '内存不足', en: 'High memory use' },
    help: {
      zh: '进程内存占机器、容器或堆上限的比例。',
      en: 'Memory used by a process, as a share of the limit of its machine, container or heap.',
    },
    subject: 'node',
    fires: 'above',
    unit: 'percent',
    params: [percent(85)],
    says: {
      zh: '节点 {name} 已使用 {value} 的内存，超过 {threshold}',
      en: 'Node {name} uses {value} of its memory, above {threshold}',
    },
  },
  queue: {
    label: { zh: '写入积压', en: 'Long write queue' },
    help: {
      zh: '节点上等待写入数据库的扣费和失败调用记录。',
      en: 'Charges and log rows on a node that wait to be written to the database.',
    },
    subject: 'node',
    fires: 'above',
    unit: 'count',
    params: [{ name: 'threshold', label: threshold, unit: 'count', default: 500, min: 1, max: 2000 }],
    says: {
      zh: '节点 {name} 有 {value} 行等待写入，超过 {threshold}',
      en: 'Node {name} has {value} rows waiting, above {threshold}',
    },
  },
  'quality-check': {
    label: { zh: '质量检查未达标', en: 'Quality check failing' },
    help: {
      zh: '渠道在某项质量检查中的通过率低于阈值，或比自身基线下降过多。',
      en: 'The pass rate of a channel is below the minimum of a quality check, or far below its own baseline.',
    },
    subject: 'channel',
    fires: 'above',
    unit: 'count',
    params: [],
    says: {
      zh: '{name} 有 {value} 项质量检查未达标',
      en: '{name} fails {value} quality {value|check|checks}',
    },
  },
  certificate: {
    isRecommended: true,
    label: { zh: '渠道证书即将过期', en: 'Channel certificate expiring' },
    help: {
      zh: '每 12 小时检查一次启用渠道的 TLS 证书。',
      en: 'TLS certificates of enabled channels, checked every 12 hours.',
    },
    subject: 'channel',
    fires: 'below',
    unit: 'days',
    params: [{ name: 'threshold', label: threshold, unit: 'days', default: 14, min: 1, max: 365 }],
    says: { zh: '{name} 的证书还有 {value}过期', en: 'The certificate of {name} expires in {value}' },
  },
  'model-end': {
    label: { zh: '模型即将停用', en: 'A model ends' },
    help: {
      zh: '最近 30 天有调用的模型，在某个渠道按供应商公布的日期停用。到达每个天数时各发送一次。',
      en: 'Models with calls in the last 30 days that end at a channel, on the day that its vendor has announced. Sent once at each number of days.',
    },
    subject: 'model',
    fires: 'below',
    unit: 'days',
    params: [daysLeft('threshold', 60), daysLeft('second', 14), daysLeft('third', 3)],
    steps: ['second', 'third'],
    isSentOnce: true,
    says: { zh: '{name} 将在 {value}后停用', en: '{name} ends in {value}' },
  },
  'other-model': {
    label: { zh: '由其他模型回答', en: 'Another model answers' },
    help: {
      zh: '上游回答中的模型与发送的不同。只是带日期、前缀或 latest 的写法不算。按请求的模型计费。',
      en: 'An upstream names another model in its replies than it was sent; dated, prefixed and latest forms of a name are the same model. The requested model is charged.',
    },
    subject: 'channel',
    fires: 'above',
    unit: 'calls',
    params: [{ name: 'threshold', label: threshold, unit: 'calls', default: 0, min: 0, max: 1_000_000 }, windowOf(1440)],
    isSentOnce: true,
    says: { zh: '{name}：{value}', en: '{name}: {value}' },
  },
} as const satisfies Record<string, AlertRuleText>

export type AlertRuleId = keyof typeof alertRules
// The keys of that object.
export const alertRuleIds = Object.keys(alertRules) as [AlertRuleId, ...AlertRuleId[]]

export function alertRuleText(id: AlertRuleId): AlertRuleText {
  return alertRules[id]
}

/** The parameters of a rule by name, with the defaults of those that are absent. */
export function alertParams(id: AlertRuleId, given: Readonly<Record<string, number>> = {}): Record<string, number> {
  return Object.fromEntries(
    alertRuleText(id).params.map(({ name, default: fallback, min, max }) => [
      name,
      Math.min(max, Math.max(min, given[name] ?? fallback)),
    ]),
  )
}

export const repeatSecondsDefault = 4 * 3600

const params = z.record(z.string().max(30), z.number().min(0).max(1e12))
/** Ids or names of subjects; empty for all. */
const scope = z.array(z.string().trim().min(1).max(200)).max(200)

export const alertRuleInput = z.object({
  enabled: z.boolean(),
  params,
  scope,
  destinations: z.array(z.int().positive()).max(100),
  /** Seconds after which a firing alert is sent again; 0 sends it once. */
  repeat_seconds: z
    .int()
    .min(0)
    .max(30 * 86_400),
  notify_recovery: z.boolean(),
})
export type AlertRuleInput = z.output<typeof alertRuleInput>

/** The form of a rule; its parameters are the fields `params.` and their names. */
export function alertRuleFields(rule: AlertRuleId): Fields {
  const { help, params, subject } = alertRuleText(rule)
  const paramFields = params.map(({ name, label, unit, min, max }): [string, Field] => [
    `params.${name}`,
    { widget: 'number', label, unit: alertUnitLabels[unit], min, max },
  ])
  return {
    enabled: { widget: 'switch', label: { zh: '启用规则', en: 'Enable rule' }, help },
    ...Object.fromEntries(paramFields),
    ...(subject === 'site' ? {} : { scope: scopeField }),
    destinations: {
      widget: 'choices',
      label: { zh: '通知目标', en: 'Destinations' },
      help: { zh: '留空则只记录历史。', en: 'Leave blank to only record alerts in the history.' },
    },
    repeat_seconds: { widget: 'select', label: { zh: '重复提醒', en: 'Remind again' } },
    notify_recovery: { widget: 'switch', label: { zh: '恢复时通知', en: 'Notify when resolved' } },
  } satisfies FieldsOf<AlertRuleInput>
}

const scopeField: Field = {
  widget: 'tags',
  label: { zh: '范围', en: 'Scope' },
  help: {
    zh: '渠道或用户的 ID、名称，模型或任务的名称；留空为全部。',
    en: 'IDs or names of channels or users, or names of models or jobs. Leave blank for all.',
  },
}

/** Something that a rule has found: it fires until `resolved_at`. */
export const alert = z.object({
  id: z.int(),
  rule: z.enum(alertRuleIds),
  subject: z.string(),
  name: z.string(),
  /** The measured value in the unit of the rule; updated while the alert fires. */
  value: z.number(),
  threshold: z.number(),
  /** More about it, in both languages if it exists in both; '' without. */
  note: z.string(),
  fired_at: z.int(),
  /** 0 while it fires. */
  resolved_at: z.int(),
  /** When the last message about it was sent; 0 when none was sent, for example because it is silenced. */
  notified_at: z.int(),
  messages: z.int(),
})
export type Alert = z.output<typeof alert>

export const alertRule = alertRuleInput.extend({ rule: z.enum(alertRuleIds), firing: z.array(alert) })
export type AlertRule = z.output<typeof alertRule>

export const alertPreview = z.object({
  /** The number of times that it would have fired. */
  count: z.int(),
  /** The latest of these alerts, newest first. */
  firings: z.array(z.object({ subject: z.string(), name: z.string(), from: z.int(), to: z.int(), value: z.number() })),
  /** Unix seconds from which on there is data; 0 when there is none. */
  since: z.int(),
})
export type AlertPreview = z.output<typeof alertPreview>

export const alertSilenceInput = z.object({
  /** '' for every rule. */
  rule: z.union([z.literal(''), z.enum(alertRuleIds)]).default(''),
  /** '' for every subject. */
  subject: z.string().trim().max(200).default(''),
  until: z.int().min(0).max(1e11),
  comment: z.string().trim().max(200).default(''),
})

export const everyAlertRule: Text = { zh: '全部规则', en: 'All rules' }

export const alertSilenceFields = {
  rule: {
    widget: 'select',
    label: { zh: '规则', en: 'Rule' },
    choices: [{ value: '', label: everyAlertRule }, ...alertRuleIds.map((value) => ({ value, label: alertRules[value].label }))],
  },
  subject: { widget: 'own' },
  until: { widget: 'time', label: { zh: '直到', en: 'Until' }, required: { zh: '请选择结束时间', en: 'Choose an end time' } },
  comment: { widget: 'text', label: { zh: '备注', en: 'Comment' }, max: 200 },
} satisfies FieldsOf<z.output<typeof alertSilenceInput>>

export const alertSilence = alertSilenceInput.extend({ id: z.int(), created_by: z.string(), created_at: z.int() })
export type AlertSilence = z.output<typeof alertSilence>
