import type { Codec } from '../codec.ts'
import { defineFormat } from '../define-format.ts'
import { decisionsBy } from '../direct/decision-conversions.ts'
import { limitAt } from '../output-limit.ts'
import { isInstruction, systemPromptIn } from '../system-prompt.ts'
import { arrayAt, isObject } from '../wire-format.ts'
import { openAiCompact } from './compact.ts'
import { failedStream } from './failed-stream.ts'
import { referencesIn } from './history.ts'
import { responsesTools } from './hosted-tools.ts'
import { outputTokensMin } from './models.ts'
import { pastReasoning } from './past-reasoning.ts'
import { readEvents, readReply } from './reply-read.ts'
import { responsesTexts } from './reply-texts.ts'
import { writeEvents, writeReply } from './reply-write.ts'
import { readRequest } from './request-read.ts'
import { writeRequest } from './request-write.ts'
import { openAiResponses } from './responses.ts'
import { storedResponses } from './stored.ts'
import { openAiInputTokens, responsesCount, responsesCountUpstream } from './token-count.ts'
import { flatBytes, toolLists } from './tool-lists.ts'

const codec: Codec = { inlines: [], writeRequest, readReply, readEvents }

const instructions = systemPromptIn('instructions', (text) => ({ type: 'input_text', text }))

/**
 * OpenAI Responses. Translated for its callers, and for models that are only available in it. Source: protocols notes 1.3 and 3.
 */
export const openAiResponsesFormat = defineFormat({
  name: 'openai.responses',
  wire: openAiResponses,
  inbound: { readRequest, writeReply, writeEvents },
  codec,
  conversions: [decisionsBy('openai.responses', codec)],
  outputLimit: limitAt(['max_output_tokens'], outputTokensMin),
  systemPrompt: {
    ...instructions,
    hasInstructions: (body) => instructions.hasInstructions(body) || arrayAt(body, 'input').some(isInstruction),
  },
  hostedTools: responsesTools,
  pastThoughts: pastReasoning,
  bound: {
    adding: ['conversation'],
    unbounded: {
      prompt: (body) => isObject(body.prompt),
      item_reference: (body) => referencesIn(arrayAt(body, 'input')),
    },
    hasTools: (body) => toolLists(body).some(({ tools }) => tools.length > 0),
    addedBytes: flatBytes,
  },
  stored: storedResponses,
  storesAnswer: ({ store }) => store !== false,
  runsInBackground: true,
  smallRequest: (model, max_output_tokens) => ({ model, input: 'hi', max_output_tokens }),
  optionalEndpoint: { name: 'responses' },
  texts: responsesTexts,
  mediaAsText: ['audio'],
  showsReasoningAsAsked: true,
  countsToolCalls: true,
  hasTurnState: true,
  failedStream,
})

export const openAiCompactFormat = defineFormat({
  name: 'openai.compact',
  wire: openAiCompact,
  pastThoughts: pastReasoning,
  stored: storedResponses,
  optionalEndpoint: { name: 'responses', isPart: true },
  countsToolCalls: true,
})

export const openAiInputTokensFormat = defineFormat({
  name: 'openai.input_tokens',
  wire: openAiInputTokens,
  stored: storedResponses,
  optionalEndpoint: { name: 'responses', isPart: true },
  count: responsesCount,
  upstreamCounts: [responsesCountUpstream],
})
