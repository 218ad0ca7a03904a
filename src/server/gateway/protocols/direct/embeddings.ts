import type { Usage } from '../../../../contract/usage.ts'
import { fail } from '../../../base/lib/failure.ts'
import { readChatUsage } from '../openai-chat/chat.ts'
import { readModel, requirePresent } from '../read-request.ts'
import { arrayAt, type JsonObject, objectAt, type WireFormat } from '../wire-format.ts'
import { promptTexts } from './completions.ts'
import { repairEmbeddings } from './repair-embeddings.ts'

/** OpenAI Embeddings: there is no output, so only the input is charged. Source: SDK 7.55 types, 2026-11. */
export const openAiEmbeddings: WireFormat = {
  format: 'openai.embeddings',
  dialect: 'openai',

  readRequest(body) {
    requirePresent(body, 'input')
    if (Array.isArray(body.input) && body.input.length === 0)
      fail('field_invalid', { field: 'input', reason: 'must not be empty' })
    return {
      model: readModel(body),
      stream: false,
      outputTokensMax: 0,
      mediaParts: 0,
      reasoningEffort: undefined,
      wantsUsage: false,
      streamOptions: undefined,
    }
  },

  promptText: (body) => promptTexts(body.input),
  answerIn: 'data',
  isEmpty: (reply) => arrayAt(reply, 'data').length === 0,
  mendReply: repairEmbeddings,
  readUsage: (reply) => readInputUsage(objectAt(reply, 'usage')),
  replyText: () => '',
  stream: null,
}

/** Some vendors only report a total, or count images only in it. All of it is input. */
function readInputUsage(usage: JsonObject | undefined): Usage | undefined {
  if (!usage) return undefined
  const { prompt_tokens: prompt, total_tokens: total } = usage
  const isMore = typeof prompt === 'number' && typeof total === 'number' && total > prompt
  return readChatUsage({ ...usage, prompt_tokens: isMore ? total : (prompt ?? total) })
}
