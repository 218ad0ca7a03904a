import type { WireFormat } from '../wire-format.ts'
import { openAiResponses } from './responses.ts'

/**
 * OpenAI's compaction: a long conversation goes in, fewer items come out, the last of them sealed. It is read and charged like an answer, and
 * only its vendor can go on from it. Source: types of the official SDK 7.51.
 */
export const openAiCompact: WireFormat = {
  ...openAiResponses,
  format: 'openai.compact',
  readRequest: (body) => openAiResponses.readRequest({ ...body, stream: undefined, background: undefined }),
  stream: null,
}
