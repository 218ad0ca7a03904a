import { option, section, type Zod } from './define.ts'
import { map, mapWithDefault, message, number, toggle } from './shapes.ts'

const headerValues = (z: Zod) =>
  z
    .array(
      z
        .string()
        .max(1000)
        .refine((text) => /^[\x20-\x7e]*$/.test(text), message('含有无效字符', 'has characters that a header cannot hold')),
    )
    .max(100)
const headers = (z: Zod) =>
  map(headerValues)(z).refine(
    (entries) => Object.keys(entries).every((name) => /^[A-Za-z0-9-]+$/.test(name)),
    message('含有无效的请求头名称', 'has an invalid header name'),
  )

/** The default output limit of Claude models in tokens. */
export const claudeMaxTokensDefault = 8192

export const claude = section(
  { name: 'claude', tab: 'models', label: { zh: 'Claude设置', en: 'Claude settings' }, writer: 'admin' },
  {
    'claude.model_headers_settings': option({
      default: {},
      schema: map(headers),
      widget: 'header-lists',
      label: { zh: 'Claude请求头覆盖', en: 'Claude request headers' },
      help: {
        zh: '模型 → 请求头 → 值的列表；为该模型的请求附加这些请求头。',
        en: 'Maps models to headers with lists of values. The headers are added to requests for that model.',
      },
    }),
    'claude.default_max_tokens': option({
      default: { default: claudeMaxTokensDefault },
      schema: mapWithDefault((z) => z.int().min(1).max(10_000_000), claudeMaxTokensDefault),
      widget: 'ratio-map',
      label: { zh: '缺省 MaxTokens', en: 'Default max tokens' },
      help: {
        zh: '请求未给出 max_tokens 时使用的值，单位 Token；default 用于没有单独设置的 Claude 模型，均不超过该模型的最大输出。',
        en: 'Output limit in tokens for requests without one, by model. “default” applies to all other Claude models. It never exceeds the model’s own output limit.',
      },
    }),
    'claude.thinking_adapter_enabled': option({
      ...toggle(true),
      label: { zh: '启用Claude思考适配（-thinking后缀）', en: 'Enable the -thinking suffix' },
      help: {
        zh: '模型名以 -thinking 结尾时开启思考，BudgetTokens = MaxTokens × 百分比；已知不接受思考预算的模型自行决定思考多少。',
        en: 'A model name ending in -thinking enables thinking with budget tokens = max tokens × percentage. Models known to reject a budget decide for themselves.',
      },
    }),
    'claude.thinking_adapter_budget_tokens_percentage': option({
      ...number(0.8, { min: 0.1, max: 1 }),
      label: { zh: '思考适配 BudgetTokens 百分比', en: 'Thinking budget percentage' },
      help: { zh: '思考预算占 MaxTokens 的比例，0.1 到 1。', en: 'Share of max tokens that thinking can use, from 0.1 to 1.' },
    }),
  },
)
