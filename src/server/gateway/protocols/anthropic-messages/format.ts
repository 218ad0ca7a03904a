import type { Codec } from '../codec.ts'
import { defineFormat } from '../define-format.ts'
import { decisionsBy } from '../direct/decision-conversions.ts'
import { aboveBudget, limitAt } from '../output-limit.ts'
import { systemPromptIn } from '../system-prompt.ts'
import { isObject, objectAt } from '../wire-format.ts'
import { messagesTools } from './hosted-tools.ts'
import { anthropicMessages } from './messages.ts'
import { rulesOf } from './models.ts'
import { pastThinking } from './past-thinking.ts'
import { readEvents, readReply } from './reply-read.ts'
import { messagesTexts } from './reply-texts.ts'
import { writeEvents, writeReply } from './reply-write.ts'
import { readRequest } from './request-read.ts'
import { writeRequest } from './request-write.ts'
import { messagesLimit } from './thinking.ts'
import { anthropicCountTokens, messagesCount, messagesCountUpstream } from './token-count.ts'
import { definedTools } from './tools-in-effect.ts'
import { messagesVersions } from './versions.ts'

/** Images and documents may stay URLs, since the vendor fetches them itself. */
const codec: Codec = { inlines: [], writeRequest, readReply, readEvents }

const systemPrompt = systemPromptIn('system', (text) => ({ type: 'text', text }))

/** Anthropic Messages. */
export const anthropicMessagesFormat = defineFormat({
  name: 'anthropic.messages',
  wire: anthropicMessages,
  inbound: { readRequest, writeReply, writeEvents },
  codec,
  conversions: [decisionsBy('anthropic.messages', codec)],
  outputLimit: { ...limitAt(['max_tokens']), least: (body) => aboveBudget(objectAt(body, 'thinking')), takesZero: true },
  limitUnasked: (asked, model, settings) => messagesLimit([asked, model], settings, rulesOf(model)),
  hasThinkingBudgets: true,
  systemPrompt,
  hostedTools: messagesTools,
  pastThoughts: pastThinking,
  bound: {
    adding: ['mcp_servers'],
    hasTools: (body) => definedTools(body).length > 0,
    thinkingBudgets: (body) => [objectAt(body, 'thinking')?.budget_tokens],
  },
  storesAnswer: (body) => isObject(body.thread),
  smallRequest: (model, max_tokens) => ({ model, messages: [{ role: 'user', content: 'hi' }], max_tokens }),
  versions: messagesVersions,
  headersIn: 'claude.model_headers_settings',
  texts: messagesTexts,
  mediaAsText: ['image', 'audio'],
  countsToolCalls: true,
})

export const anthropicCountTokensFormat = defineFormat({
  name: 'anthropic.count_tokens',
  wire: anthropicCountTokens,
  systemPrompt,
  count: messagesCount,
  upstreamCounts: [messagesCountUpstream],
})
