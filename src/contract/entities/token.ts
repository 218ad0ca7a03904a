import { z } from 'zod'
import type { FieldsOf } from '../fields.ts'
import { nameText } from '../name-text.ts'
import type { Text } from '../text.ts'
import { limitSecondsMax, requestCountMax } from './request-limit.ts'

export const tokenStatus = { enabled: 1, disabled: 2, expired: 3, exhausted: 4 } as const

export const tokenStatusLabels: Readonly<Record<number, { label: Text; color: string }>> = {
  1: { label: { zh: '已启用', en: 'Enabled' }, color: 'green' },
  2: { label: { zh: '已禁用', en: 'Disabled' }, color: 'red' },
  3: { label: { zh: '已过期', en: 'Expired' }, color: 'yellow' },
  4: { label: { zh: '已耗尽', en: 'Exhausted' }, color: 'gray' },
}

export const tokenPresets = { quota: 500_000, usd: [1, 10, 50, 100, 500, 1000], counts: [10, 20, 30, 100] } as const
export const neverExpires = -1
export const tokenNameLengthMax = 30

/** A token as its owner sees it. `key` comes without the `sk-` prefix. */
export const token = z.object({
  id: z.int(),
  user_id: z.int(),
  key: z.string(),
  status: z.int(),
  name: z.string(),
  created_time: z.int(),
  accessed_time: z.int(),
  expired_time: z.int(),
  remain_quota: z.int(),
  unlimited_quota: z.boolean(),
  used_quota: z.int(),
  model_limits_enabled: z.boolean(),
  model_limits: z.string(),
  allow_ips: z.string(),
  group: z.string(),
  /** Limits of requests, tokens and concurrent requests in a window of `limit_seconds`; 0 is no limit. */
  limit_seconds: z.int(),
  limit_requests: z.int(),
  limit_tokens: z.int(),
  limit_concurrency: z.int(),
  /** Requests are refused where the protocol of the channel cannot carry all of them. */
  strict_translation: z.boolean(),
  /** Requests are refused where the model lacks a hosted tool, instead of leaving it out. */
  refuse_hosted_tools: z.boolean(),
  /** Its streams can be continued after a cut. */
  resumable: z.boolean(),
  /** Of a token that an organisation pays for: the member and team that it belongs to, where it has one. */
  member_id: z.int().optional(),
  team_id: z.int().optional(),
  /** Deleted ones are not shown. */
  DeletedAt: z.null(),
})
export type Token = z.output<typeof token>

/** A token of another user as an admin sees it: without the key and the addresses that may use it. */
export const listedToken = token.omit({ key: true, allow_ips: true })
export type ListedToken = z.output<typeof listedToken>

/** Sort keys of token lists; tokens that never expire come last. */
export const tokenSorts = ['id', 'name', 'used_quota', 'remain_quota', 'accessed_time', 'expired_time'] as const
export type TokenSort = (typeof tokenSorts)[number]

const quota = z.int().min(0).max(1e15)
/** Consoles that do not know the field omit it; an absent value leaves the limit unchanged. */
const limit = z.int().min(0).max(requestCountMax).optional()
const text = (lengthMax: number) =>
  z
    .string()
    .max(lengthMax)
    .transform((value) => value.replaceAll('\0', ''))

/** The members that the owner may set. Name, addresses, models and group are checked by `people/tokens/tokens.ts`, which has better errors. */
export const tokenInput = z.object({
  name: text(1000)
    .optional()
    .transform((name = '') => nameText(name)),
  expired_time: z
    .int()
    .min(neverExpires)
    .max(1e11)
    .default(neverExpires)
    .transform((time) => (time === 0 ? neverExpires : time)),
  remain_quota: quota.default(0),
  unlimited_quota: z.boolean().default(false),
  model_limits_enabled: z.boolean().default(false),
  model_limits: text(100_000).default(''),
  allow_ips: text(20_000)
    .nullish()
    .transform((list) => list ?? ''),
  group: text(64).default(''),
  limit_seconds: z.int().min(1).max(limitSecondsMax).optional(),
  limit_requests: limit,
  limit_tokens: limit,
  limit_concurrency: limit,
  strict_translation: z.boolean().optional(),
  refuse_hosted_tools: z.boolean().optional(),
  resumable: z.boolean().optional(),
})
export type TokenInput = z.output<typeof tokenInput>

export const tokenFields = {
  name: {
    widget: 'text',
    label: { zh: '名称', en: 'Name' },
    placeholder: { zh: '请输入名称', en: 'Enter a name' },
    required: true,
  },
  member_id: {
    widget: 'select',
    label: { zh: '成员', en: 'Member' },
    help: { zh: '只有该成员能看到密钥。', en: 'Only this member sees the key.' },
  },
  team_id: {
    widget: 'select',
    label: { zh: '团队', en: 'Team' },
    help: { zh: '费用计入该团队及其上级团队。', en: 'Charges count for this team and the teams above it.' },
  },
  remain_quota: { widget: 'own' },
  expired_time: { widget: 'own' },
  group: { widget: 'own' },
  count: {
    widget: 'amount',
    label: { zh: '新建数量', en: 'Quantity' },
    help: {
      zh: '多于一个时，从第二个起在名称后加六位随机后缀。',
      en: 'If you create more than one, a random six-character suffix is added to every name after the first.',
    },
    onlyNew: true,
  },
  model_limits_enabled: {
    widget: 'switch',
    label: { zh: '启用模型限制', en: 'Restrict models' },
    help: { zh: '非必要，不建议启用。', en: 'Not recommended unless needed.' },
  },
  model_limits: {
    widget: 'choices',
    label: { zh: '可用的模型', en: 'Allowed models' },
    placeholder: { zh: '选择模型', en: 'Select models' },
    required: true,
    when: { model_limits_enabled: [true] },
  },
  allow_ips: {
    widget: 'lines',
    label: { zh: 'IP 白名单', en: 'IP allow list' },
    help: {
      zh: '一行一个 IP 或网段，留空不限制。请勿过度信任此功能。',
      en: 'One IP address or CIDR range per line. Leave blank to allow all. Do not rely on this as your only protection.',
    },
    placeholder: { zh: '203.0.113.7\n10.0.0.0/8', en: '203.0.113.7\n10.0.0.0/8' },
    rows: [2, 8],
  },
  limit_seconds: { widget: 'own' },
  strict_translation: {
    widget: 'switch',
    label: { zh: '严格转换', en: 'Strict translation' },
    help: {
      zh: '若渠道的协议无法完整表达请求，则拒绝请求，而不是丢弃其中的字段。',
      en: 'Refuses requests that a channel’s protocol does not fully support, instead of dropping fields.',
    },
  },
  refuse_hosted_tools: {
    widget: 'switch',
    label: { zh: '模型没有厂商工具时拒绝请求', en: 'Reject unsupported hosted tools' },
    help: {
      zh: '拒绝带有模型没有的厂商工具（如网页搜索）的请求，而不是去掉这些工具。',
      en: 'Rejects requests with hosted tools, such as web search, that the model does not support, instead of dropping those tools.',
    },
  },
  resumable: {
    widget: 'switch',
    label: { zh: '断线续传', en: 'Resumable streams' },
    help: {
      zh: '断线后继续读取流式应答，供客户端从 Last-Event-ID 继续；关闭连接不会立即停止应答。',
      en: 'After a cut, a streamed answer goes on for a while, and clients can continue it from Last-Event-ID. Closing the connection does not stop it at once.',
    },
  },
} satisfies FieldsOf<TokenInput & { count: number; member_id: number; team_id: number }>
