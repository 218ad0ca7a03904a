import { units } from '../units.ts'
import { option, section } from './define.ts'
import { integer, quota } from './shapes.ts'

export const quality = section(
  {
    name: 'quality',
    tab: 'operation',
    label: { zh: '质量检查设置', en: 'Quality checks' },
    help: {
      zh: '定时向渠道发送固定提示词并核对回答，上游费用由站点承担；没有质量检查时不产生任何调用。',
      en: 'Sends fixed prompts to channels on a schedule and checks the answers, at the cost of the site. Nothing is sent while there are no quality checks.',
    },
    writer: 'admin',
  },
  {
    QualityCheckDailyQuota: option({
      ...quota(500_000),
      label: { zh: '质量检查每日费用上限', en: 'Daily cost limit of quality checks' },
      help: {
        zh: '全站每天（UTC）合计；达到后当天不再调用，0 表示关闭质量检查。',
        en: 'Of all together, on each day of UTC. No further calls are made when it is reached. 0 switches quality checks off.',
      },
    }),
    QualityCheckRetentionDays: option({
      ...integer(30, { min: 1, max: 365, unit: units.days }),
      label: { zh: '质量检查结果保留天数', en: 'Retention of quality check results' },
      help: { zh: '更早的结果会自动删除。', en: 'Older results are deleted automatically.' },
    }),
  },
)
