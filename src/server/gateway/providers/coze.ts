import { defineProvider, same } from './openai-compatible.ts'

/** The model is the id of a bot; a model mapping can give it a name. Outside of China the address is `https://api.coze.com`. */
export const coze = defineProvider({
  id: 49,
  key: 'coze',
  label: same('Coze'),
  color: 'indigo',
  docs: 'https://www.coze.cn/open/docs/developer_guides/chat_v3',
  baseUrl: 'https://api.coze.cn',
  addsToPrompts: 'always',
  keyFormat: { zh: '个人访问令牌或服务身份令牌', en: 'Personal or service access token' },
  speaks: { 'coze.chat': '/v3/chat' },
  alwaysStreams: true,
  modelsPath: null,
})
