import { option, section } from './define.ts'
import { map, message, ratios } from './shapes.ts'

export const groups = section(
  { name: 'groups', tab: 'operation', label: { zh: '分组设置', en: 'Group settings' }, writer: 'admin' },
  {
    GroupRatio: option({
      default: { default: 1, vip: 1, svip: 1 },
      schema: (z) =>
        ratios(z).refine(
          (entries) => Object.hasOwn(entries, 'default'),
          message('须保留分组 default', 'must keep the group default'),
        ),
      widget: 'ratio-map',
      label: { zh: '分组倍率', en: 'Group ratio' },
      help: {
        zh: '分组名到倍率的映射；费用乘以该倍率。',
        en: 'Maps groups to price ratios. Charges are multiplied by the ratio.',
      },
    }),
    UserUsableGroups: option({
      default: { default: '默认分组', vip: 'vip分组' },
      schema: map((z) => z.string().max(200)),
      widget: 'text-map',
      label: { zh: '用户可选分组', en: 'User-selectable groups' },
      help: {
        zh: '用户创建令牌时可选择的分组及其描述。',
        en: 'Groups that any user can choose for a token, with their descriptions.',
      },
    }),
  },
)
