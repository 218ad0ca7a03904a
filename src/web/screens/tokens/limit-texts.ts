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
  strict: ['严格转换', 'Strict translation'],
  strictHelp: [
    '若渠道的协议无法完整表达请求，则拒绝请求，而不是丢弃其中的字段。',
    'Refuses requests that a channel’s protocol does not fully support, instead of dropping fields.',
  ],
  hostedTools: ['模型没有厂商工具时拒绝请求', 'Reject unsupported hosted tools'],
  hostedToolsHelp: [
    '拒绝带有模型没有的厂商工具（如网页搜索）的请求，而不是去掉这些工具。',
    'Rejects requests with hosted tools, such as web search, that the model does not support, instead of dropping those tools.',
  ],
})
