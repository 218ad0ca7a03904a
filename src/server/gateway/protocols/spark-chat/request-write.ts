import type { RequestContext, WrittenRequest } from '../codec.ts'
import type { Dialogue } from '../dialogue.ts'
import { type FunctionTools, functionTools, undoing } from '../function-tools.ts'
import { withJsonInstruction } from '../json-answer.ts'
import { type Field, fitted, lose, loseAllBut } from '../lost-fields.ts'
import { onlyText, type PlainMessage, plainMessages, requireMessage, startingWithUser } from '../plain-messages.ts'
import { refuseForcedTools } from '../transcript.ts'
import { definedMembers, type JsonObject } from '../wire-format.ts'
import { type SparkVersion, sparkVersionOf } from './models.ts'

/**
 * A conversation as the one message that is sent to Spark. It has no tool messages: past calls become text. Throws `untranslatable`
 * for media and, with versions without functions, for forced tools.
 */
export function writeRequest(dialogue: Dialogue, context: RequestContext): WrittenRequest {
  const version = sparkVersionOf(context.model)
  if (!version.functions) refuseForcedTools(dialogue)
  loseAllBut(dialogue, context, version.functions ? [...carried, 'tools', 'toolChoice'] : carried)
  const tools = functionTools(dialogue, context)
  const { offered, choice } = version.functions ? tools : { offered: [], choice: undefined }
  if (choice === 'required') lose(dialogue, context, 'toolChoice')
  const messages = plainMessages(withJsonInstruction(dialogue), context, {
    system: version.system ? 'head' : 'never',
    tools: false,
    lastTurn: 'refused',
  })
  requireMessage(dialogue, messages)

  return {
    body: {
      header: dialogue.user ? { uid: dialogue.user.slice(0, uidLengthMax) } : {},
      parameter: { chat: { domain: version.domain, ...samplingOf(dialogue, context, version) } },
      payload: {
        message: { text: startingWithUser(messages).map((message) => writeMessage(dialogue, message)) },
        ...(offered.length > 0 ? { functions: { text: offered.map(writeFunction) } } : {}),
      },
    },
    ...undoing(tools),
  }
}

const carried: readonly Field[] = ['temperature', 'topK', 'outputTokensMax', 'user']

const uidLengthMax = 32

function writeMessage(dialogue: Dialogue, message: PlainMessage): JsonObject {
  if (message.role !== 'user') return { role: message.role, content: message.text }
  return { role: 'user', content: onlyText(dialogue, message.parts) }
}

function writeFunction({ name, description, schema }: FunctionTools['offered'][number]): JsonObject {
  return { name, description: description ?? name, parameters: schema }
}

/** Clamps values to Spark's ranges. */
function samplingOf(dialogue: Dialogue, context: RequestContext, { outputTokensMax: limit }: SparkVersion): JsonObject {
  const { sampling, outputTokensMax } = dialogue
  if (outputTokensMax !== undefined && outputTokensMax > limit) lose(dialogue, context, 'outputTokensMax')
  const members = {
    temperature: fitted(dialogue, context, ['temperature', sampling.temperature], (value) => Math.min(Math.max(value, 0.01), 1)),
    top_k: fitted(dialogue, context, ['topK', sampling.topK], (value) => Math.min(Math.max(Math.round(value), 1), 6)),
    max_tokens: outputTokensMax === undefined ? undefined : Math.min(outputTokensMax, limit),
  }
  return definedMembers(members)
}
