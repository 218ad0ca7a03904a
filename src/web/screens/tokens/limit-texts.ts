import { defineTexts } from '../../lib/i18n.ts'

/** Loaded with the form, not with the list. */
export const limitTexts = defineTexts({
  toggle: ['限制速率', 'Rate limit'],
  toggleHelp: [
    '超出限制的请求会被拒绝。站点和分组的限制同样有效。',
    'Requests over the limit are refused. Site and group limits also apply.',
  ],
  window: ['统计周期', 'Period'],
  windowHelp: ['1 秒到 31 天', '1 second to 31 days'],
  requests: ['每周期最多请求次数', 'Requests per period'],
  tokens: ['每周期最多 Token 数', 'Tokens per period'],
  concurrency: ['同时进行的请求数', 'Concurrent requests'],
  none: ['0 为不限制', '0 means no limit'],
  invalid: ['须为 {min} 到 {max} 的整数', 'Must be an integer from {min} to {max}'],
  empty: ['请至少填写一项限制', 'Set at least one limit'],
})
