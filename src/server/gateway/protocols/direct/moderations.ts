import { noUsage } from '../../../../contract/usage.ts'
import { requirePresent } from '../read-request.ts'
import { arrayAt, textAt, type WireFormat } from '../wire-format.ts'
import { promptTexts } from './completions.ts'
import { directFacts } from './direct-facts.ts'

/** OpenAI Moderations: vendors do not charge for it, and neither does the gateway. Source: SDK 7.55 types, 2026-11. */
export const openAiModerations: WireFormat = {
  format: 'openai.moderations',
  dialect: 'openai',
  isFree: true,

  readRequest(body) {
    requirePresent(body, 'input')
    return directFacts(textAt(body, 'model') || defaultModel, { uncounted: noUsage })
  },

  promptText: (body) => promptTexts(body.input),
  answerIn: 'results',
  isEmpty: (reply) => arrayAt(reply, 'results').length === 0,
  readUsage: () => noUsage,
  replyText: () => '',
  stream: null,
}

const defaultModel = 'omni-moderation-latest'
