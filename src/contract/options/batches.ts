import { option, section } from './define.ts'
import { integer, ratios, toggle } from './shapes.ts'

export const batches = section(
  { name: 'batches', tab: 'models', label: { zh: '批处理', en: 'Batches' }, writer: 'admin' },
  {
    'batches.enabled': option({
      ...toggle(true),
      label: { zh: '提供批处理接口', en: 'Offer batches' },
      help: {
        zh: '用户可通过 OpenAI、Anthropic 与 Gemini 的批处理接口提交大量请求。提交前预扣全部请求的最高费用，结束后按结果结算。',
        en: 'Users may order many requests at once by the batch APIs of OpenAI, Anthropic and Gemini. The greatest cost of all requests is held before, and the results are charged at the end.',
      },
    }),
    'batches.factors': option({
      default: { openai: 0.5, anthropic: 0.5, gemini: 0.5 },
      schema: ratios,
      widget: 'ratio-map',
      label: { zh: '批处理价格倍率', en: 'Price factors of batches' },
      help: {
        zh: '按模型名或渠道类型（如 openai、anthropic、gemini）设置；模型优先，未列出的为 1。',
        en: 'By model, or by type of channel such as openai or anthropic. A model comes first; what is not listed has a factor of 1.',
      },
    }),
    'batches.requests_max': option({
      ...integer(50_000, { min: 1, max: 100_000 }),
      label: { zh: '一个批处理的请求数上限', en: 'Maximum number of requests of a batch' },
      help: { zh: '上游的上限仍然有效。', en: 'Limits of vendors apply too.' },
    }),
    'batches.days_kept': option({
      ...integer(60, { min: 1, max: 3650 }),
      label: { zh: '批处理明细保留天数', en: 'Days for which ended batches are kept' },
      help: {
        zh: '之后删除批处理及其逐行明细；日志不受影响。',
        en: 'Afterwards a batch and its lines are deleted; the log stays.',
      },
    }),
  },
)
