import { defineTexts } from '../../lib/i18n.ts'

/** Loaded with the form, not with the list. */
export const limitTexts = defineTexts({
  zh: {
    toggle: '限制速率',
    toggleHelp: '超出限制的请求会被拒绝。站点和分组的限制同样有效。',
    window: '统计周期',
    windowHelp: '1 秒到 31 天',
    requests: '每周期最多请求次数',
    tokens: '每周期最多 Token 数',
    concurrency: '同时进行的请求数',
    none: '0 为不限制',
    invalid: '须为 {min} 到 {max} 的整数',
    empty: '请至少填写一项限制',
    strict: '严格转换',
    strictHelp: '若渠道的协议无法完整表达请求，则拒绝请求，而不是丢弃其中的字段。',
    hostedTools: '模型没有厂商工具时拒绝请求',
    hostedToolsHelp: '拒绝带有模型没有的厂商工具（如网页搜索）的请求，而不是去掉这些工具。',
  },
  en: {
    toggle: 'Rate limit',
    toggleHelp: 'Requests over the limit are refused. Site and group limits also apply.',
    window: 'Period',
    windowHelp: '1 second to 31 days',
    requests: 'Requests per period',
    tokens: 'Tokens per period',
    concurrency: 'Concurrent requests',
    none: '0 means no limit',
    invalid: 'Must be an integer from {min} to {max}',
    empty: 'Set at least one limit',
    strict: 'Strict translation',
    strictHelp: 'Refuses requests that a channel’s protocol does not fully support, instead of dropping fields.',
    hostedTools: 'Reject unsupported hosted tools',
    hostedToolsHelp:
      'Rejects requests with hosted tools, such as web search, that the model does not support, instead of dropping those tools.',
  },
})
