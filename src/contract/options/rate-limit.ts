import { option, section } from './define.ts'
import { integer, toggle, units } from './shapes.ts'

const countMax = 1_000_000_000

export const rateLimit = section(
  { name: 'rate-limit', tab: 'ratelimit', label: { zh: '模型请求速率限制', en: 'Model request rate limit' }, writer: 'admin' },
  {
    ModelRequestRateLimitEnabled: option({
      ...toggle(false),
      label: { zh: '启用用户模型请求速率限制', en: 'Enable the model request rate limit' },
      help: {
        zh: '限制每个用户在一个周期内的请求次数，可能影响高并发性能。',
        en: 'Limits the requests of each user within a period.',
      },
    }),
    ModelRequestRateLimitDurationMinutes: option({
      ...integer(1, { min: 0, max: 43_200, unit: units.minutes }),
      label: { zh: '限制周期', en: 'Limit period' },
      help: { zh: '限制所统计的时间长度。', en: 'Length of the period that the limits count.' },
    }),
    ModelRequestRateLimitCount: option({
      ...integer(0, { min: 0, max: countMax, unit: units.times }),
      label: { zh: '用户每周期最多请求次数', en: 'Requests of a user per period' },
      help: { zh: '包括失败的请求，0 代表不限制。', en: 'Counts failed requests too; 0 means unlimited.' },
    }),
    ModelRequestRateLimitSuccessCount: option({
      ...integer(1000, { min: 1, max: countMax, unit: units.times }),
      label: { zh: '用户每周期最多请求完成次数', en: 'Completed requests of a user per period' },
      help: { zh: '只统计成功的请求。', en: 'Counts successful requests only.' },
    }),
  },
)
