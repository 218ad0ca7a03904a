import { defineTexts } from '../../lib/i18n.ts'

/** Loaded with the form, not with the list. */
export const limitTexts = defineTexts({
  zh: {
    toggle: '限制速率',
    toggleHelp: '超出限制的请求会被拒绝。站点和分组的限制同样有效。',
    seconds: '统计周期（秒）',
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
    toggle: 'Limit the rate',
    toggleHelp: 'Requests beyond it are refused. The limits of the site and of the group hold all the same.',
    seconds: 'Period in seconds',
    requests: 'Requests per period',
    tokens: 'Tokens per period',
    concurrency: 'Requests at once',
    none: '0 means no limit',
    invalid: 'It must be an integer from {min} to {max}',
    empty: 'Fill in at least one limit',
    strict: 'Strict translation',
    strictHelp: 'Refuses a request that the protocol of a channel cannot carry whole, instead of leaving fields out.',
    hostedTools: 'Refuse hosted tools that a model lacks',
    hostedToolsHelp:
      'Refuses a request with hosted tools, such as web search, that the model lacks, instead of leaving them out.',
  },
})
