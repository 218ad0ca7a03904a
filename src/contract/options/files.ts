import { units } from '../units.ts'
import { option, section } from './define.ts'
import { integer, toggle } from './shapes.ts'

export const files = section(
  { name: 'files', tab: 'models', label: { zh: '文件', en: 'Files' }, writer: 'admin' },
  {
    'files.enabled': option({
      ...toggle(true),
      label: { zh: '提供文件接口', en: 'Offer files' },
      help: {
        zh: '用户可通过 OpenAI、Anthropic 与 Gemini 的文件接口把文件保存在上游。文件只属于上传者，使用文件的请求会发往保存它的渠道。',
        en: 'Users may store files at vendors by the file APIs of OpenAI, Anthropic and Gemini. A file belongs to the user who uploaded it, and requests that use it go to the channel that has it.',
      },
    }),
    'files.megabytes_max': option({
      ...integer(10_240, { min: 1, max: 10_000_000, unit: units.megabytes }),
      label: { zh: '每个用户的文件总大小上限', en: 'Maximum size of a user’s files together' },
      help: { zh: '超出时拒绝新的上传。', en: 'New uploads beyond it are refused.' },
    }),
    'files.count_max': option({
      ...integer(1000, { min: 1, max: 1_000_000 }),
      label: { zh: '每个用户的文件数量上限', en: 'Maximum number of a user’s files' },
      help: { zh: '超出时拒绝新的上传。', en: 'New uploads beyond it are refused.' },
    }),
  },
)
