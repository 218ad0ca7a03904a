import type { Codec } from '../codec.ts'
import { defineFormat } from '../define-format.ts'
import { decisionsBy } from '../direct/decision-conversions.ts'
import { either } from '../gemini-generate/members.ts'
import { aboveBudget } from '../output-limit.ts'
import { isInstruction, withText } from '../system-prompt.ts'
import { arrayAt, countAt, isObject, objectAt } from '../wire-format.ts'
import { openAiChat } from './chat.ts'
import { chatTools } from './hosted-tools.ts'
import { outputLimitMember } from './models.ts'
import { readEvents, readReply } from './reply-read.ts'
import { chatTexts } from './reply-texts.ts'
import { writeEvents, writeReply } from './reply-write.ts'
import { readRequest } from './request-read.ts'
import { writeRequest } from './request-write.ts'

// This format has no URLs for audio and documents.
const codec: Codec = { inlines: ['audio', 'document'], writeRequest, readReply, readEvents }

/** OpenAI Chat Completions: for callers, OpenAI, Azure and all compatible hosts, with their quirks. */
export const openAiChatFormat = defineFormat({
  name: 'openai.chat',
  wire: openAiChat,
  inbound: { readRequest, writeReply, writeEvents },
  codec,
  conversions: [decisionsBy('openai.chat', codec)],
  outputLimit: {
    places(_body, { model, quirks }) {
      const member = outputLimitMember(model, quirks)
      return [[member], [member === 'max_tokens' ? 'max_completion_tokens' : 'max_tokens']]
    },
    // The members in which hosts of Claude accept a thinking budget on Chat.
    least: (body) => Math.max(aboveBudget(objectAt(body, 'thinking')), countAt(objectAt(body, 'reasoning'), 'max_tokens') + 1),
  },
  systemPrompt: {
    hasInstructions: (body) => arrayAt(body, 'messages').some(isInstruction),
    prepend(body, text) {
      const [first, ...others] = arrayAt(body, 'messages')
      const messages = isInstruction(first)
        ? [{ ...first, content: withText(first.content, text, (part) => ({ type: 'text', text: part })) }, ...others]
        : [{ role: 'system', content: text }, ...arrayAt(body, 'messages')]
      return { ...body, messages }
    },
  },
  hostedTools: chatTools,
  bound: {
    adding: [
      'web_search_options',
      // xAI
      'search_parameters',
      // Alibaba, with its options
      'enable_search',
      'search_options',
      // OpenRouter
      'plugins',
      // Azure OpenAI, in both spellings
      'data_sources',
      'dataSources',
      // Cohere
      'connectors',
      // Baidu, and hosts that search
      'web_search',
      // Baichuan
      'with_search_enhance',
      // Mistral adds its prompt for reasoning
      'prompt_mode',
    ],
    // Gemini's members on Chat.
    unbounded: { cachedContent: (body) => either(objectAt(objectAt(body, 'extra_body') ?? {}, 'google') ?? {}, 'cachedContent') },
    hasTools: (body) => arrayAt(body, 'tools').length > 0 || arrayAt(body, 'functions').length > 0,
    modalities: (body) => arrayAt(body, 'modalities'),
    wantsSpeech: (body) => isObject(body.audio),
    thinkingBudgets: (body) => [objectAt(body, 'thinking')?.budget_tokens, body.thinking_budget],
  },
  smallRequest: (model, outputTokensMax) => ({
    model,
    messages: [{ role: 'user', content: 'hi' }],
    [outputLimitMember(model, {})]: outputTokensMax,
  }),
  texts: chatTexts,
  isRewritable: true,
})
