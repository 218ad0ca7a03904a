import { units } from '../units.ts'
import { option, section } from './define.ts'
import { integer, toggle } from './shapes.ts'

export const responses = section(
  { name: 'responses', tab: 'models', label: { zh: 'Responses设置', en: 'Responses settings' }, writer: 'admin' },
  {
    'responses.keep_enabled': option({
      ...toggle(true),
      label: { zh: '为不支持 Responses 的渠道保存回复', en: 'Store responses for channels without Responses support' },
      help: {
        zh: '加密保存请求与回复内容，使 previous_response_id、后台运行和按编号读取可用。关闭后这类请求会被拒绝，已保存的内容不再可读，并在一小时内清除。',
        en: 'Stores prompts and responses encrypted, so that previous_response_id, background mode and retrieval by ID work. When off, such requests are refused; stored responses can no longer be read and are deleted within an hour.',
      },
    }),
    'responses.keep_days': option({
      ...integer(30, { min: 1, max: 365, unit: units.days }),
      label: { zh: '回复保留天数', en: 'Response retention' },
      help: {
        zh: '继续一个会话会重新计算其保留时间。',
        en: 'Continuing a conversation restarts its retention period.',
      },
    }),
    'responses.keep_megabytes': option({
      ...integer(64, { min: 1, max: 10_000, unit: units.megabytes }),
      label: { zh: '每个用户保存的回复上限', en: 'Maximum stored responses per user' },
      help: { zh: '超出时先清除最早的回复。', en: 'When exceeded, the oldest responses are deleted first.' },
    }),
  },
)
