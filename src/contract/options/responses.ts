import { option, section } from './define.ts'
import { integer, toggle } from './shapes.ts'

export const responses = section(
  { name: 'responses', tab: 'models', label: { zh: 'Responses设置', en: 'Responses settings' }, writer: 'admin' },
  {
    'responses.keep_enabled': option({
      ...toggle(true),
      label: { zh: '为不支持 Responses 的渠道保存回复', en: 'Keep responses for channels that do not speak Responses' },
      help: {
        zh: '加密保存请求与回复内容，使 previous_response_id、后台运行和按编号读取可用。关闭后这类请求会被拒绝，已保存的内容不再可读，并在一小时内清除。',
        en: 'Keeps prompts and answers encrypted, so that previous_response_id, background and reading by id work. When off, such requests are refused, and what is kept can be read no more and is removed within the hour.',
      },
    }),
    'responses.keep_days': option({
      ...integer(30, { min: 1, max: 365, unit: { zh: '天', en: 'days' } }),
      label: { zh: '回复保留天数', en: 'Days that responses are kept' },
      help: {
        zh: '继续一个会话会重新计算其保留时间。',
        en: 'A conversation that is continued is kept this long from then on.',
      },
    }),
    'responses.keep_megabytes': option({
      ...integer(64, { min: 1, max: 10_000, unit: { zh: 'MB', en: 'MB' } }),
      label: { zh: '每个用户保存的回复上限', en: 'Kept responses of each user, at most' },
      help: { zh: '超出时先清除最早的回复。', en: 'Beyond it the oldest responses are removed first.' },
    }),
  },
)
