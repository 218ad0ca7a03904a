import { z } from 'zod'
import { choicesOf, type Field, type FieldsOf } from '../fields.ts'
import { nameText } from '../name-text.ts'
import type { Text } from '../text.ts'

/** Where alerts and events are sent. Each kind is declared here once: its name and the settings of its form. */

/** Secrets are never returned; when a destination is changed, an empty one keeps the stored one. */
export interface DestinationField extends Field {
  readonly is?: 'https' | 'mail'
}

interface DestinationKindText {
  readonly label: Text
  readonly fields: Readonly<Record<string, DestinationField>>
}

const botUrl: DestinationField = {
  widget: 'secret',
  is: 'https',
  required: true,
  label: { zh: 'Webhook 地址', en: 'Webhook URL' },
}
const signing: DestinationField = {
  widget: 'secret',
  label: { zh: '加签密钥', en: 'Signing secret' },
  help: { zh: '机器人安全设置为“签名校验”时填写。', en: 'Only if the bot uses signature verification.' },
}

export const destinationKinds = {
  mail: {
    label: { zh: '邮件', en: 'Email' },
    fields: {
      to: {
        widget: 'identifier',
        is: 'mail',
        required: true,
        label: { zh: '收件地址', en: 'Recipient' },
        help: { zh: '经由系统设置中的邮件服务器发送。', en: 'Sent through the SMTP server in the settings.' },
      },
    },
  },
  webhook: {
    label: { zh: 'Webhook', en: 'Webhook' },
    fields: {
      url: {
        widget: 'identifier',
        is: 'https',
        required: true,
        label: { zh: '地址', en: 'URL' },
        help: { zh: '公网上的 https 地址。', en: 'A public https address.' },
      },
      secret: {
        widget: 'secret',
        label: { zh: '签名密钥', en: 'Signing secret' },
        help: {
          zh: '用于 X-Sluice-Signature；留空则不签名。至少 16 个字符。',
          en: 'Used for the X-Sluice-Signature header. Leave blank to send unsigned. At least 16 characters.',
        },
      },
    },
  },
  slack: { label: { zh: 'Slack', en: 'Slack' }, fields: { url: botUrl } },
  telegram: {
    label: { zh: 'Telegram', en: 'Telegram' },
    fields: {
      token: { widget: 'secret', required: true, label: { zh: '机器人令牌', en: 'Bot token' } },
      chat: { widget: 'identifier', required: true, label: { zh: '会话 ID', en: 'Chat ID' } },
      api: {
        widget: 'identifier',
        is: 'https',
        label: { zh: 'API 地址', en: 'API address' },
        help: { zh: '留空则为 https://api.telegram.org。', en: 'Leave blank for https://api.telegram.org.' },
      },
    },
  },
  feishu: { label: { zh: '飞书', en: 'Feishu' }, fields: { url: botUrl, secret: signing } },
  dingtalk: { label: { zh: '钉钉', en: 'DingTalk' }, fields: { url: botUrl, secret: signing } },
} as const satisfies Record<string, DestinationKindText>

export type DestinationKind = keyof typeof destinationKinds

// The keys of that object.
const kinds = Object.keys(destinationKinds) as [DestinationKind, ...DestinationKind[]]

const kept = { required: undefined, placeholder: { zh: '留空则不变', en: 'Leave blank to keep the current secret' } }

/** The settings of a kind, of which a destination that has some may leave those blank. */
export function destinationSettings(kind: DestinationKind, has: readonly string[] = []) {
  const fields: Readonly<Record<string, DestinationField>> = destinationKinds[kind].fields
  const ofForm = (name: string, field: DestinationField): DestinationField => (has.includes(name) ? { ...field, ...kept } : field)
  return Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, ofForm(name, field)]))
}

/** Events that webhooks can subscribe to. */
export const eventTypes = {
  'call.failed': { zh: '调用失败（限量）', en: 'Call failed (rate-limited)' },
  'channel.disabled': { zh: '渠道被禁用', en: 'Channel disabled' },
  'channel.enabled': { zh: '渠道被启用', en: 'Channel enabled' },
  'channel.key_disabled': { zh: '渠道密钥被自动禁用', en: 'Channel key disabled automatically' },
  'channel.key_enabled': { zh: '渠道密钥被自动启用', en: 'Channel key enabled automatically' },
  'model.ending': { zh: '上游公布了模型停用日期', en: 'Upstream announced the end of a model' },
  'user.low_quota': { zh: '用户额度不足', en: 'User has low quota' },
  'budget.raise_requested': { zh: '成员申请提高预算', en: 'A member asked for a greater budget' },
  'budget.reached': { zh: '预算达到提醒比例', en: 'Budget reached a notification share' },
  'batch.completed': { zh: '批处理已结束', en: 'Batch has ended' },
  'order.paid': { zh: '订单已支付', en: 'Order paid' },
} as const satisfies Record<string, Text>
export type EventType = keyof typeof eventTypes

/** Those that webhooks of an organisation can subscribe to, about the organisation alone. */
const organisationEvents = ['budget.reached', 'budget.raise_requested', 'order.paid'] as const satisfies readonly EventType[]

export const destinationStatus = { enabled: 1, disabled: 2, autoDisabled: 3 } as const

export const destinationStatusLabels: Readonly<Record<number, { label: Text; color: string }>> = {
  1: { label: { zh: '已启用', en: 'Enabled' }, color: 'green' },
  2: { label: { zh: '已禁用', en: 'Disabled' }, color: 'gray' },
  3: { label: { zh: '自动禁用', en: 'Auto-disabled' }, color: 'red' },
}

const events = z.array(z.enum(Object.keys(eventTypes) as [EventType, ...EventType[]])).max(50) // the keys of that object

/** A destination as admins see it: secret settings are '', and `has` names those that are set. */
export const destination = z.object({
  id: z.int(),
  kind: z.enum(kinds),
  name: z.string(),
  language: z.enum(['zh', 'en']),
  status: z.int(),
  /** The events of webhooks; empty for alerts only. */
  events: z.array(z.string()),
  /** The host, address or chat that messages are sent to. */
  target: z.string(),
  settings: z.record(z.string(), z.string()),
  has: z.array(z.string()),
  /** Unix seconds since when every delivery has failed; 0 while they arrive. */
  failing_since: z.int(),
  last_error: z.string(),
  created_at: z.int(),
})
export type Destination = z.output<typeof destination>

const nameLengthMax = 60
const settings = z
  .record(z.string().max(20), z.string().max(2000))
  .refine((given) => Object.keys(given).length <= 10, 'at most 10 settings')

export const destinationInput = z.object({
  kind: z.enum(kinds),
  name: z.string().max(200).transform(nameText).pipe(z.string().min(1).max(nameLengthMax)),
  language: z.enum(['zh', 'en']).default('zh'),
  events: events.default([]),
  settings,
})
export type DestinationInput = z.output<typeof destinationInput>

/** The kind stays; absent members and empty secrets stay unchanged. */
export const destinationChange = destinationInput
  .omit({ kind: true })
  .partial()
  .extend({ language: z.enum(['zh', 'en']).optional(), events: events.optional(), enabled: z.boolean().optional() })
export type DestinationChange = z.output<typeof destinationChange>

export const destinationFields = {
  kind: {
    widget: 'select',
    label: { zh: '类型', en: 'Type' },
    choices: Object.entries(destinationKinds).map(([value, { label }]) => ({ value, label })),
    onlyNew: true,
  },
  name: {
    widget: 'text',
    label: { zh: '名称', en: 'Name' },
    required: { zh: '请填写名称', en: 'Enter a name' },
    max: nameLengthMax,
  },
  settings: { widget: 'own' },
  events: {
    widget: 'choices',
    label: { zh: '订阅事件', en: 'Events' },
    help: { zh: '留空则只接收告警。', en: 'Leave blank to receive alerts only.' },
    choices: Object.entries(eventTypes).map(([value, { zh, en }]) => ({
      value,
      label: { zh: `${zh} · ${value}`, en: `${en} · ${value}` },
    })),
    when: { kind: ['webhook'] },
  },
  language: {
    widget: 'select',
    label: { zh: '语言', en: 'Language' },
    choices: choicesOf({ zh: { zh: '中文', en: '中文' }, en: { zh: 'English', en: 'English' } }),
    when: { kind: kinds.filter((kind) => kind !== 'webhook') },
  },
} satisfies FieldsOf<DestinationInput>

export const deliveryStates = ['pending', 'sent', 'failed'] as const

export const deliveryStateLabels = {
  pending: { label: { zh: '等待发送', en: 'Pending' }, color: 'blue' },
  sent: { label: { zh: '已送达', en: 'Delivered' }, color: 'green' },
  failed: { label: { zh: '失败', en: 'Failed' }, color: 'red' },
} as const satisfies Record<(typeof deliveryStates)[number], { label: Text; color: string }>

/** One message to one destination. */
export const delivery = z.object({
  id: z.int(),
  /** Identifies the message: the same in each try and to each destination. */
  message_id: z.string(),
  type: z.string(),
  destination_id: z.int(),
  destination_name: z.string(),
  state: z.enum(deliveryStates),
  attempts: z.int(),
  /** Unix seconds of the next try; 0 when there is none. */
  next_at: z.int(),
  /** The status of the last answer; 0 when there was none. */
  status: z.int(),
  /** The first part of the last answer, or why there was none, without secrets. */
  answer: z.string(),
  created_at: z.int(),
  finished_at: z.int(),
})
export type Delivery = z.output<typeof delivery>

/** How a destination answered one attempt. */
export const deliveryAnswer = z.object({ delivered: z.boolean(), status: z.int(), answer: z.string() })
export type DeliveryAnswer = z.output<typeof deliveryAnswer>

/** A webhook of an organisation: a destination with the settings beside the other members. */
export const organisationWebhookInput = destinationInput.pick({ name: true }).extend({
  url: z.string().max(2000),
  /** Blank for none, and to keep the stored one. */
  secret: z.string().max(2000).default(''),
  events: z.array(z.enum(organisationEvents)).min(1).max(50),
})
export type OrganisationWebhookInput = z.output<typeof organisationWebhookInput>
export const organisationWebhookChange = organisationWebhookInput.partial().extend({
  secret: z.string().max(2000).optional(),
  enabled: z.boolean().optional(),
})
export type OrganisationWebhookChange = z.output<typeof organisationWebhookChange>

export const organisationWebhookFields = {
  name: destinationFields.name,
  url: {
    ...destinationKinds.webhook.fields.url,
    required: { zh: '请填写地址', en: 'Enter a URL' },
  },
  secret: destinationKinds.webhook.fields.secret,
  events: {
    widget: 'choices',
    label: destinationFields.events.label,
    required: { zh: '请选择事件', en: 'Select events' },
    choices: organisationEvents.map((value) => ({ value, label: eventTypes[value] })),
  },
} satisfies FieldsOf<OrganisationWebhookInput>
