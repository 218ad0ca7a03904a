import type { Text } from './text.ts'

/** The unit of a numeric option. */
export interface Unit extends Text {
  /** What the unit measures, for display in larger units: one of it is `size` seconds, bytes, units of quota or dollars. */
  readonly of?: 'time' | 'bytes' | 'quota' | 'usd'
  readonly size?: number
}

export const units = {
  quota: { zh: '额度', en: 'quota {count|unit|units}', of: 'quota', size: 1 },
  usd: { zh: '美元', en: 'USD', of: 'usd' },
  tokens: { zh: 'Token', en: '{count|token|tokens}' },
  requests: { zh: '次', en: '{count|request|requests}' },
  retries: { zh: '次', en: '{count|retry|retries}' },
  seconds: { zh: '秒', en: '{count|second|seconds}', of: 'time', size: 1 },
  minutes: { zh: '分钟', en: 'min', of: 'time', size: 60 },
  hours: { zh: '小时', en: '{count|hour|hours}', of: 'time', size: 3600 },
  days: { zh: '天', en: '{count|day|days}', of: 'time', size: 86_400 },
  bytes: { zh: '字节', en: '{count|byte|bytes}', of: 'bytes', size: 1 },
  kilobytes: { zh: 'KB', en: 'KB', of: 'bytes', size: 1024 },
  megabytes: { zh: 'MB', en: 'MB', of: 'bytes', size: 1024 ** 2 },
} as const satisfies Record<string, Unit>
