import { units } from '../units.ts'
import { option, section } from './define.ts'
import { integer, toggle } from './shapes.ts'

export const idempotency = section(
  { name: 'idempotency', tab: 'models', label: { zh: '幂等请求', en: 'Idempotent requests' }, writer: 'admin' },
  {
    'idempotency.enabled': option({
      ...toggle(true),
      label: { zh: '支持 Idempotency-Key', en: 'Support Idempotency-Key' },
      help: {
        zh: '同一用户、同一令牌以相同的 Idempotency-Key 重复请求时，返回第一次的回复，且只计费一次。回复加密保存；没有该请求头的请求不保存任何内容。关闭后忽略该请求头。',
        en: 'A request that repeats the Idempotency-Key of an earlier one by the same user and token gets the first response and is charged once. Responses are stored encrypted. Nothing is stored for requests without the header. When off, the header is ignored.',
      },
    }),
    'idempotency.hours': option({
      ...integer(24, { min: 1, max: 168, unit: units.hours }),
      label: { zh: '保存时长', en: 'Retention' },
    }),
    'idempotency.reply_kilobytes': option({
      ...integer(20_480, { min: 1, max: 65_536, unit: units.kilobytes }),
      label: { zh: '单个回复上限', en: 'Maximum response size' },
      help: {
        zh: '更大的回复照常返回，但不保存；以同一个键重试会得到 409。',
        en: 'Larger responses are delivered but not stored; a retry with the same key gets a 409 error.',
      },
    }),
    'idempotency.site_megabytes': option({
      ...integer(1024, { min: 1, max: 1_000_000, unit: units.megabytes }),
      label: { zh: '全站保存的回复上限', en: 'Maximum storage of this site' },
      help: { zh: '超出时先删除最早的回复。', en: 'When exceeded, the oldest responses are deleted first.' },
    }),
  },
)
