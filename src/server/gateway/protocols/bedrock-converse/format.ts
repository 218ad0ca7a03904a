import { defineFormat } from '../define-format.ts'
import { aboveBudget, limitAt } from '../output-limit.ts'
import { countedOutputTokens, tokensAt } from '../token-counts.ts'
import { objectAt } from '../wire-format.ts'
import { readReply, readStreamEvents } from './reply-read.ts'
import { writeRequest } from './request-write.ts'

/**
 * Converse of Amazon Bedrock, for upstreams only. It accepts media only as bytes; the model and the choice of streaming are in the
 * URL, and a stream consists of messages of an event stream. Source: types of `@aws-sdk/client-bedrock-runtime` 3.1162 and
 * protocols notes 2.7, read 2026-11.
 */
export const bedrockConverseFormat = defineFormat({
  name: 'bedrock.converse',
  codec: { inlines: ['image', 'document', 'video'], writeRequest, readReply, readEvents: readStreamEvents },
  outputLimit: {
    ...limitAt(['inferenceConfig', 'maxTokens']),
    least: (body) => aboveBudget(objectAt(objectAt(body, 'additionalModelRequestFields') ?? {}, 'thinking')),
  },
  hasThinkingBudgets: true,
})

/** Counts the tokens of a request of Converse, or of one in the form of Messages. */
export const bedrockCountTokensFormat = defineFormat({
  name: 'bedrock.count_tokens',
  upstreamCounts: [
    {
      of: 'anthropic.messages',
      writeRequest(request) {
        const limit = request.max_tokens ?? countedOutputTokens
        const body = { ...request, max_tokens: limit, model: undefined, stream: undefined }
        return { input: { invokeModel: { body: Buffer.from(JSON.stringify(body)).toString('base64') } } }
      },
      readReply: (reply) => tokensAt(reply, 'inputTokens'),
    },
    {
      of: 'bedrock.converse',
      writeRequest: ({ messages, system, toolConfig }) => ({ input: { converse: { messages, system, toolConfig } } }),
      readReply: (reply) => tokensAt(reply, 'inputTokens'),
    },
  ],
})
