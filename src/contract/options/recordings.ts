import { units } from '../units.ts'
import { option, section } from './define.ts'
import { integer } from './shapes.ts'

export const recordings = section(
  {
    name: 'recordings',
    tab: 'operation',
    label: { zh: '调用记录设置', en: 'Recordings of calls' },
    help: {
      zh: '仅当某个令牌、用户、渠道或部分调用被设为记录时，才会加密保存其请求与回复。',
      en: 'Requests and replies are stored, encrypted, only of tokens, users, channels or a share of calls that are set to be recorded.',
    },
    writer: 'root',
  },
  {
    RecordingRetentionDays: option({
      ...integer(7, { min: 1, max: 90, unit: units.days }),
      label: { zh: '保留天数', en: 'Retention' },
      help: { zh: '更早的记录会自动删除。', en: 'Older recordings are deleted automatically.' },
    }),
    RecordingBodyKilobytes: option({
      ...integer(256, { min: 1, max: 4096, unit: units.kilobytes }),
      label: { zh: '单个正文上限', en: 'Maximum size of a body' },
      help: { zh: '更长的正文只保存开头。', en: 'Of longer bodies only the beginning is stored.' },
    }),
    RecordingMegabytes: option({
      ...integer(500, { min: 1, max: 1_000_000, unit: units.megabytes }),
      label: { zh: '全站记录上限', en: 'Maximum storage of this site' },
      help: { zh: '超出时先删除最早的记录。', en: 'When exceeded, the oldest recordings are deleted first.' },
    }),
    RecordingsPerMinute: option({
      ...integer(600, { min: 1, max: 100_000, unit: { zh: '次/分钟', en: 'per minute' } }),
      label: { zh: '每分钟最多记录', en: 'Most recordings per minute' },
      help: { zh: '每个节点；超出的调用只计数，不记录。', en: 'Of each node. Calls beyond it are counted but not recorded.' },
    }),
  },
)
