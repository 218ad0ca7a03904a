import { option, section } from './define.ts'
import { toggle } from './shapes.ts'

export const translation = section(
  { name: 'translation', tab: 'models', label: { zh: '协议转换', en: 'Translation' }, writer: 'admin' },
  {
    'translation.refuse_hosted_tools': option({
      ...toggle(false),
      label: { zh: '模型没有请求中的厂商工具时拒绝请求', en: 'Reject unsupported hosted tools' },
      help: {
        zh: '客户端常在每个请求中附带厂商自有的工具，如网页搜索。关闭时，只要还有其他工具，就去掉模型没有的工具，并在 x-sluice-dropped 和日志中注明。渠道和令牌也可单独开启。',
        en: 'Clients often send tools that only their vendor runs, such as web search, with every request. When off, tools that the model does not support are dropped as long as other tools remain, and are named in x-sluice-dropped and the log. Channels and tokens can enable this for themselves.',
      },
    }),
  },
)
