import { strategies } from '../entities/channel-choice.ts'
import { units } from '../units.ts'
import { option, section } from './define.ts'
import { integer, lines, map, number, toggle } from './shapes.ts'

export const automation = section(
  { name: 'automation', tab: 'operation', label: { zh: '监控设置', en: 'Monitoring settings' }, writer: 'admin' },
  {
    GroupRouting: option({
      default: {},
      schema: map((z) => z.enum(strategies)),
      widget: 'text-map',
      choices: [
        { value: 'weighted', label: { zh: '按权重', en: 'By weight' } },
        { value: 'least-busy', label: { zh: '最空闲', en: 'Least busy' } },
        { value: 'lowest-latency', label: { zh: '最快', en: 'Lowest latency' } },
        { value: 'cheapest', label: { zh: '最便宜', en: 'Cheapest' } },
      ],
      label: { zh: '分组路由策略', en: 'Routing strategy by group' },
      help: {
        zh: '分组名到策略的映射：同一优先级的多个渠道如何选择；未列出的分组按权重。',
        en: 'Maps groups to strategies for choosing among channels of the same priority. Groups that are not listed use “By weight”.',
      },
    }),
    ChannelDisableThreshold: option({
      ...number(5, { min: 0, max: 86_400, unit: units.seconds }),
      label: { zh: '最长响应时间', en: 'Maximum response time' },
      help: {
        zh: '测试全部渠道时，响应慢于此值的渠道会被自动禁用；0 表示不限制。',
        en: 'When all channels are tested, slower ones are disabled automatically. 0 means no limit.',
      },
    }),
    ChannelTestMinutes: option({
      ...integer(0, { min: 0, max: 43_200, unit: units.minutes }),
      label: { zh: '定期测试渠道的间隔', en: 'Channel test interval' },
      help: { zh: '0 表示不定期测试。', en: '0 means that channels are tested only manually.' },
    }),
    ChannelBalanceMinutes: option({
      ...integer(0, { min: 0, max: 43_200, unit: units.minutes }),
      label: { zh: '定期更新余额的间隔', en: 'Balance update interval' },
      help: { zh: '0 表示不定期更新。', en: '0 means that balances are updated only manually.' },
    }),
    ChannelModelsMinutes: option({
      ...integer(1440, { min: 0, max: 43_200, unit: units.minutes }),
      label: { zh: '检查上游模型变化的间隔', en: 'Upstream model check interval' },
      help: {
        zh: '记录上游新增与下架的模型，由管理员决定是否采用，并读取模型的停用日期；0 表示不检查。',
        en: 'Records which models upstreams add and remove, so that an admin can apply the changes, and when models end. 0 means never.',
      },
    }),
    ModelReplacements: option({
      default: {},
      schema: map((z) =>
        z
          .string()
          .trim()
          .max(255)
          .regex(/^[^\s]+( \d{4}-\d\d-\d\d)?$/),
      ),
      widget: 'text-map',
      label: { zh: '停用模型的替代', en: 'Replacements of ended models' },
      help: {
        zh: '模型名到替代模型的映射：从停用日期（UTC）起，对该模型的调用由替代模型处理并按其价格计费，日志同时记录两个名称。停用日期未知时，可在名称后加空格和日期，如 gpt-6.1-sol 2026-12-11。',
        en: 'Maps models to others. From the day of its end (UTC), calls of a model are routed and charged as its replacement, and the log names both. A day after a space is used instead of the known end: gpt-6.1-sol 2026-12-11.',
      },
    }),
    AutomaticDisableChannelEnabled: option({
      ...toggle(false),
      label: { zh: '失败时自动禁用渠道', en: 'Automatically disable channels on failure' },
      help: {
        zh: '密钥失效、余额不足或命中关键词的渠道会被禁用。',
        en: 'Disables channels whose key is revoked, whose balance is used up, or whose error contains a keyword.',
      },
    }),
    AutomaticEnableChannelEnabled: option({
      ...toggle(false),
      label: { zh: '成功时自动启用渠道', en: 'Automatically enable channels on success' },
      help: {
        zh: '被自动禁用的渠道测试通过后重新启用。',
        en: 'Re-enables automatically disabled channels when a test succeeds.',
      },
    }),
    AutomaticDisableKeywords: option({
      ...lines([
        'Your credit balance is too low',
        'This organization has been disabled.',
        'You exceeded your current quota',
        'Permission denied',
        'The security token included in the request is invalid',
        'Operation not allowed',
        'Your account is not authorized',
      ]),
      label: { zh: '自动禁用关键词', en: 'Automatic disabling keywords' },
      help: {
        zh: '一行一个，不区分大小写；上游错误含有其中之一时禁用渠道。',
        en: 'One per line, case-insensitive. A channel is disabled if its error contains any of them.',
      },
    }),
  },
)
