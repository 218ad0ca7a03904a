import { units } from '../units.ts'
import { option, section } from './define.ts'
import { integer, lines, quota, toggle } from './shapes.ts'

export const statusPage = section(
  {
    name: 'status-page',
    tab: 'operation',
    label: { zh: '状态页设置', en: 'Status page' },
    help: {
      zh: '按分组显示各模型 90 天的可用情况和事件；管理员始终可在 /status 查看。',
      en: 'Shows 90 days of each model by group, and incidents. Admins can always see it at /status.',
    },
    writer: 'admin',
  },
  {
    StatusPagePublicEnabled: option({
      ...toggle(false),
      label: { zh: '公开状态页', en: 'Public status page' },
      help: {
        zh: '任何人都能打开 /status 并使用徽章；访客只看到公开价格列表中的模型，价格不公开时只看到事件。',
        en: 'Anyone can open /status and embed badges. Guests see the models of the public price list, or only incidents if prices are not public.',
      },
    }),
    StatusPageVendorsEnabled: option({
      ...toggle(false),
      label: { zh: '在状态页显示供应商', en: 'Show vendors on the status page' },
      help: {
        zh: '在每个模型旁显示其渠道的类型，如 OpenAI；渠道名称与地址从不显示。',
        en: 'Shows the channel types behind each model, such as OpenAI. Names and addresses of channels are never shown.',
      },
    }),
    StatusProbeMinutes: option({
      ...integer(0, { min: 0, max: 1440, unit: units.minutes }),
      label: { zh: '探测间隔', en: 'Probe interval' },
      help: {
        zh: '每隔这么久向没有流量的模型发送一个很小的请求；费用由站点承担，0 表示不探测。',
        en: 'How often models without traffic get one small request. The site bears the cost. 0 means never.',
      },
    }),
    StatusProbeModels: option({
      ...lines([]),
      label: { zh: '要探测的模型', en: 'Models to probe' },
      help: {
        zh: '每行一个名称，这些模型每次都会探测；留空则探测间隔内没有流量的所有模型。',
        en: 'One name per line. These are probed every time. If blank, all models without traffic since the last probe are.',
      },
    }),
    StatusProbeUnitsPerDay: option({
      ...quota(500_000),
      label: { zh: '每日探测费用上限', en: 'Daily limit of probe costs' },
      help: {
        zh: '按 UTC 日期计算；达到后当天不再探测。',
        en: 'Counted by day in UTC. When it is reached, there are no more probes on that day.',
      },
      writer: 'root',
    }),
  },
)
