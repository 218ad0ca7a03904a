import { z } from 'zod'

/**
 * The members of replies that pages and scripts of compatible consoles read, in the forms that they need: more members are allowed,
 * fewer break them. Written from the recorded calls, independent of the schemas of the contract.
 */
const text = z.string()
const int = z.int()
const flag = z.boolean()
const texts = z.array(text)
const nothing = z.null().optional()
const jsonText = text.refine((value) => value === '' || isJson(value), 'is no JSON text')
const textOrNull = text.nullable()

function isJson(value: string): boolean {
  try {
    JSON.parse(value)
    return true
  } catch {
    return false
  }
}

const pageOf = (item: z.ZodType) =>
  z.looseObject({ items: z.array(item).min(1), total: int.min(1), page: int.min(1), page_size: int.min(1) })

const status = z.looseObject({
  ...{ system_name: text, logo: text, footer_html: text, version: text, start_time: int, quota_per_unit: z.number().positive() },
  ...{ display_in_currency: flag, enable_drawing: flag, enable_task: flag, enable_data_export: flag },
  data_export_default_time: z.enum(['hour', 'day', 'week']),
  ...{ default_collapse_sidebar: flag, mj_notify_enabled: flag, chat_link: text, chat_link2: text, server_address: text },
  chats: z.array(z.record(text, text)),
  ...{ turnstile_check: flag, turnstile_site_key: text, github_oauth: flag, github_client_id: text, linuxdo_oauth: flag },
  ...{ linuxdo_client_id: text, telegram_oauth: flag, telegram_bot_name: text, wechat_login: flag, wechat_qrcode: text },
  ...{ email_verification: flag, top_up_link: text, min_topup: z.number(), enable_online_topup: flag, price: z.number() },
  ...{ self_use_mode_enabled: flag, demo_site_enabled: flag },
})

const signedIn = z.looseObject({ id: int, username: text, role: int, group: text, display_name: text, status: int })
const user = signedIn.extend({
  ...{ quota: int, used_quota: int, request_count: int, aff_quota: int, aff_history_quota: int, aff_count: int, inviter_id: int },
  // Compared with '': null would count as bound.
  ...{ email: text, wechat_id: text, github_id: text, telegram_id: text, linux_do_id: text },
  setting: jsonText,
  aff_code: text,
  ...{ password: z.literal(''), verification_code: z.literal(''), access_token: z.null() },
  // A missing key would count as deleted.
  DeletedAt: textOrNull,
})

const channel = z.looseObject({
  ...{ key: z.literal(''), created_time: int, test_time: int, balance_updated_time: int, auto_ban: int },
  ...{ id: int, name: text, type: int, status: int, response_time: int, used_quota: int, balance: z.number() },
  ...{ models: text, group: text, priority: int, weight: int, tag: textOrNull, other_info: jsonText },
})
const wholeChannel = channel.extend({
  ...{
    model_mapping: jsonText.nullable(),
    status_code_mapping: textOrNull,
    auto_ban: int,
    key: z.literal(''),
    setting: textOrNull,
  },
  ...{ base_url: textOrNull, other: text, openai_organization: textOrNull, test_model: textOrNull },
})

const token = z.looseObject({
  ...{ id: int, name: text, key: text.regex(/^[A-Za-z0-9]{48}$/), status: int, group: text, used_quota: int, remain_quota: int },
  ...{ created_time: int, expired_time: int, unlimited_quota: flag, model_limits_enabled: flag, model_limits: text },
  allow_ips: textOrNull,
  ...{ user_id: int, accessed_time: int, DeletedAt: z.null() },
})

const redemption = z.looseObject({
  ...{ id: int, name: text, key: text.regex(/^[0-9a-f]{32}$/), status: int, quota: int, created_time: int, used_user_id: int },
  ...{ user_id: int, redeemed_time: int, count: int, DeletedAt: z.null() },
})

const log = z.looseObject({
  ...{ id: int, created_at: int, type: int, channel: int, channel_name: text, user_id: int, username: text, token_name: text },
  ...{ group: text, model_name: text, use_time: int, is_stream: flag, prompt_tokens: int, completion_tokens: int, quota: int },
  ...{ other: jsonText, token_id: int },
  // The text must have both languages.
  content: text.includes(' / '),
})

const midjourney = z.looseObject({
  ...{ id: int, submit_time: int, finish_time: int, channel_id: int, action: text, mj_id: text, code: int, status: text },
  ...{ progress: text, image_url: text, prompt: text, prompt_en: text, fail_reason: text },
  ...{ user_id: int, description: text, state: text, start_time: int, quota: int, buttons: jsonText, properties: jsonText },
})
const task = z.looseObject({
  ...{ id: int, submit_time: int, finish_time: int, progress: text, channel_id: int, platform: text, action: text },
  ...{
    task_id: text,
    status: text,
    fail_reason: text,
    created_at: int,
    updated_at: int,
    user_id: int,
    quota: int,
    start_time: int,
  },
  properties: z.looseObject({ input: text }),
  data: z.unknown(),
})

const pricing = z.looseObject({
  ...{
    model_name: text,
    quota_type: z.union([z.literal(0), z.literal(1)]),
    model_ratio: z.number(),
    completion_ratio: z.number(),
  },
  ...{ model_price: z.number(), enable_groups: texts, owner_by: text },
})
const statistics = z.looseObject({ quota: int, rpm: int, tpm: int })
const usage = z.looseObject({
  ...{ id: int, user_id: int, username: text, model_name: text, created_at: int, token_used: int, count: int, quota: int },
})

export const forms = {
  ...{ text, texts, int, nothing, status, signedIn, user, channel, token, redemption, log, statistics },
  anything: z.unknown(),
  longText: text.min(1),
  wholeChannel,
  users: pageOf(user),
  channels: z.array(channel).min(1),
  tokens: z.array(token).min(1),
  redemptions: pageOf(redemption),
  keys: z.array(text.regex(/^[0-9a-f]{32}$/)).min(1),
  logs: pageOf(log),
  midjourneys: z.array(midjourney).min(1),
  tasks: z.array(task).min(1),
  usage: z.array(usage).min(1),
  pricing: z.array(pricing).min(1),
  models: z.array(z.looseObject({ id: text })).min(1),
  modelsByType: z.record(text, texts),
  groups: z.record(text, z.looseObject({ desc: text, ratio: z.number() })),
  options: z.array(z.object({ key: text, value: text })),
  managed: z.looseObject({ status: int, role: int }),
  rowStatus: z.looseObject({ status: int }),
  form: z.record(text, text),
} as const

export type FormName = keyof typeof forms
