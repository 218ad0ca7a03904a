import type { WireFormat } from '../wire-format.ts'
import { openAiResponses } from './responses.ts'

/**
 * OpenAI's compaction: shortens a long conversation to a few items, the last of them encrypted. It is read and charged like an answer,
 * and only its vendor can continue from it. Source: types of the official SDK 7.51.
 */
export const openAiCompact: WireFormat = {
  ...openAiResponses,
  format: 'openai.compact',
  readRequest: (body) => openAiResponses.readRequest({ ...body, stream: undefined, background: undefined }),
  stream: null,
}
