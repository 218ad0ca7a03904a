import type { RequestContext, WrittenRequest } from '../codec.ts'
import type { Dialogue } from '../dialogue.ts'
import { withJsonInstruction } from '../json-answer.ts'
import { fitted, loseAllBut } from '../lost-fields.ts'
import { onlyText, type PlainMessage, plainMessages, requireMessage, startingWithUser } from '../plain-messages.ts'
import { refuseForcedTools } from '../transcript.ts'
import { definedMembers } from '../wire-format.ts'

/**
 * A conversation as a prompt of two alternating authors, the user first and last, with the instructions as its context. Throws
 * `untranslatable` for media and for forced tools.
 */
export function writeRequest(dialogue: Dialogue, context: RequestContext): WrittenRequest {
  refuseForcedTools(dialogue)
  loseAllBut(dialogue, context, ['temperature', 'topP', 'topK'])
  const plain = plainMessages(withJsonInstruction(dialogue), context, { system: 'head', tools: false, lastTurn: 'refused' })
  requireMessage(dialogue, plain)
  const [first, ...rest] = plain
  const system = first?.role === 'system' ? first.text : undefined
  const messages = startingWithUser(system === undefined ? plain : rest)
  const { temperature, topP, topK } = dialogue.sampling

  return {
    body: {
      prompt: {
        ...(system === undefined ? {} : { context: system }),
        messages: messages.map((message) => ({
          author: message.role === 'assistant' ? authors.model : authors.user,
          content: textOf(dialogue, message),
        })),
      },
      candidateCount: 1,
      ...definedMembers({
        temperature: fitted(dialogue, context, ['temperature', temperature], (value) => Math.min(value, temperatureMax)),
        topP,
        topK,
      }),
    },
    isWhole: true,
  }
}

const authors = { user: '0', model: '1' } as const
const temperatureMax = 1

function textOf(dialogue: Dialogue, message: PlainMessage): string {
  return message.role === 'user' ? onlyText(dialogue, message.parts) : message.text
}
