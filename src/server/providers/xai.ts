import { adjustForModel } from '../protocols/openai-chat/models.ts'
import { chatHost } from './adjust-chat.ts'
import { models } from './models.ts'
import { defineProvider, responsesPaths, same } from './openai-compatible.ts'

/** What single Grok models refuse stands in the table of models; its usage leaves reasoning out of the completion. */
export const xai = defineProvider({
  id: 48,
  key: 'xai',
  label: same('xAI'),
  color: 'blue',
  docs: 'https://docs.x.ai/docs/api-reference',
  baseUrl: 'https://api.x.ai',
  models: models.xai,
  speaks: {
    'openai.chat': responsesPaths['openai.chat'],
    'openai.completions': responsesPaths['openai.completions'],
    'openai.responses': responsesPaths['openai.responses'],
    'anthropic.messages': '/v1/messages',
  },
  ...chatHost({}, adjustForModel),
})
