import { limitSecondsMax, limitsOfGroupMax, type RequestLimit, requestCountMax } from '../entities/request-limit.ts'
import { units } from '../units.ts'
import { type MakeSchema, option, section, type Zod } from './define.ts'
import { integer, line, map, message, toggle } from './shapes.ts'

const count = (z: Zod) => z.int().min(0).max(requestCountMax)
/** Requests of a period; 0 is no limit, and -1 is treated as 0. */
const countOrNone: MakeSchema<number> = (z) => z.preprocess((value) => (value === -1 ? 0 : value), count(z))
const limit: MakeSchema<RequestLimit> = (z) =>
  z.strictObject({
    seconds: z.int().min(1).max(limitSecondsMax).default(60),
    requests: count(z).default(0),
    tokens: count(z).default(0),
    concurrency: count(z).default(0),
  })

/** Groups to their limits; a single limit counts as a list of one. */
const limitsOfGroups: MakeSchema<Readonly<Record<string, readonly RequestLimit[]>>> = map((z) =>
  z.preprocess((value) => (Array.isArray(value) ? value : [value]), z.array(limit(z)).max(limitsOfGroupMax)),
)

/** By group, the limit of requests and the limit of successful requests. */
const countsOfGroups: MakeSchema<Readonly<Record<string, readonly [number, number]>>> = map((z) =>
  z.tuple([count(z), z.int().min(1).max(requestCountMax)]),
)

export const rateLimit = section(
  { name: 'rate-limit', tab: 'ratelimit', label: { zh: '模型请求速率限制', en: 'Model request rate limit' }, writer: 'admin' },
  {
    ModelRequestRateLimitEnabled: option({
      ...toggle(false),
      label: { zh: '启用用户模型请求速率限制', en: 'Enable the model request rate limit' },
      help: {
        zh: '限制每个用户在一个周期内的请求次数，可能影响高并发性能。',
        en: 'Limits the number of requests of each user within a period.',
      },
    }),
    ModelRequestRateLimitDurationMinutes: option({
      ...integer(1, { min: 0, max: 43_200, unit: units.minutes }),
      label: { zh: '限制周期', en: 'Limit period' },
      help: { zh: '限制所统计的时间长度。', en: 'Length of the period.' },
    }),
    ModelRequestRateLimitCount: option({
      ...integer(0, { min: 0, max: requestCountMax, unit: units.requests }),
      schema: countOrNone,
      label: { zh: '用户每周期最多请求次数', en: 'Requests per user and period' },
      help: { zh: '包括失败的请求，0 或 -1 代表不限制。', en: 'Includes failed requests. 0 or -1 means unlimited.' },
    }),
    ModelRequestRateLimitSuccessCount: option({
      ...integer(1000, { min: 1, max: requestCountMax, unit: units.requests }),
      label: { zh: '用户每周期最多请求完成次数', en: 'Completed requests per user and period' },
      help: { zh: '只统计成功的请求。', en: 'Counts successful requests only.' },
    }),
    ModelRequestRateLimitGroup: option({
      default: {},
      schema: countsOfGroups,
      widget: 'group-counts',
      label: { zh: '分组速率限制', en: 'Rate limits by group' },
      help: {
        zh: '这些分组的最多请求次数和最多请求完成次数，周期相同，优先于以上两项。',
        en: 'Requests and completed requests per user and period in these groups. Takes precedence over both numbers above.',
      },
    }),
    UserRequestLimits: option({
      default: {},
      schema: limitsOfGroups,
      widget: 'group-limits',
      label: { zh: '每个用户的限制', en: 'Limits per user' },
      help: {
        zh: '对分组中的每个用户分别计数。同一分组可有多行，须全部满足；“其余分组”的行用于没有单独设置的分组。',
        en: 'Counted separately for each user of the group. All rows of a group apply together. The rows of all other groups (*) apply to groups without rows.',
      },
    }),
    GroupRequestLimits: option({
      default: {},
      schema: limitsOfGroups,
      widget: 'group-limits',
      label: { zh: '每个分组的限制', en: 'Limits per group' },
      help: {
        zh: '对分组的所有请求合并计数，其余同上。',
        en: 'Counted for all requests in the group together. Otherwise as above.',
      },
    }),
  },
)

/** A zone of the IANA database, such as `Asia/Shanghai`. */
const timeZone: MakeSchema<string> = (z) =>
  z
    .string()
    .trim()
    .max(64)
    .refine(
      isTimeZone,
      message('须为 IANA 时区名，例如 Asia/Shanghai', 'must be a zone of the IANA database, such as Asia/Shanghai'),
    )

function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en-US', { timeZone: name })
    return name !== ''
  } catch {
    return false
  }
}

export const budgets = section(
  { name: 'budgets', tab: 'ratelimit', label: { zh: '预算', en: 'Budgets' }, writer: 'admin' },
  {
    SiteTimeZone: option({
      ...line('UTC', 64),
      schema: timeZone,
      label: { zh: '站点时区', en: "The site's time zone" },
      help: {
        zh: '按天、周、月计算的预算在该时区的零点更新。例：Asia/Shanghai。修改后，当前周期从零重新计算。',
        en: 'Budgets by day, week and month renew at midnight of this zone. Example: Asia/Shanghai. After a change the current windows count from zero.',
      },
    }),
  },
)
