import { type AppKind, appKindOf } from '../protocols/dify-chat/models.ts'
import { defineProvider, joinUrl, same } from './openai-compatible.ts'

/** Each key belongs to one application; the model name selects the kind of application. */
export const dify = defineProvider({
  id: 37,
  key: 'dify',
  label: same('Dify'),
  color: 'teal',
  docs: 'https://docs.dify.ai/api-reference',
  baseUrl: 'https://api.dify.ai',
  addsToPrompts: 'always',
  keyFormat: { zh: '应用的密钥（app-…）', en: 'Key of the application (app-…)' },
  speaks: { 'dify.chat': '/v1/chat-messages' },
  url: (channel, _format, model) => joinUrl(channel.baseUrl, paths[appKindOf(model)]),
  modelsPath: null,
})

const paths: Readonly<Record<AppKind, string>> = {
  chat: '/v1/chat-messages',
  agent: '/v1/chat-messages',
  completion: '/v1/completion-messages',
  workflow: '/v1/workflows/run',
}
