import type { RequestContext, WrittenRequest } from '../codec.ts'
import type { Dialogue, MediaPart, TextPart, ToolCallPart } from '../dialogue.ts'
import { callText, demandedTool, type FunctionTool, type FunctionTools, functionTools, undoing } from '../function-tools.ts'
import { withJsonInstruction } from '../json-answer.ts'
import { type Field, fitted, lose, loseAllBut } from '../lost-fields.ts'
import { writeDataUrl } from '../media.ts'
import {
  apartFromTools,
  mediaOf,
  type PlainMessage,
  plainMessages,
  refuseMedia,
  requireMessage,
  startingWithUser,
  userText,
} from '../plain-messages.ts'
import { definedMembers, type JsonObject } from '../wire-format.ts'

/**
 * A conversation in Tencent's form: instructions only at the head, then user and model in turn, with tool results in place of user
 * messages. There is no output limit. Throws `untranslatable` for media other than images.
 */
export function writeRequest(dialogue: Dialogue, context: RequestContext): WrittenRequest {
  loseAllBut(dialogue, context, carried)
  const tools = functionTools(dialogue, context)
  const messages = plainMessages(withJsonInstruction(dialogue), context, { system: 'head', tools: true, lastTurn: 'refused' })
  requireMessage(dialogue, messages)

  return {
    body: {
      Model: context.model,
      Messages: startingWithUser(apartFromTools(messages)).map((message) => writeMessage(dialogue, tools, message)),
      Stream: dialogue.stream,
      ...samplingOf(dialogue, context),
      ...toolsOf(dialogue, context, tools),
      ...(dialogue.reasoning && dialogue.reasoning.mode !== 'auto' ? { EnableThinking: dialogue.reasoning.mode !== 'off' } : {}),
    },
    ...undoing(tools),
  }
}

const carried: readonly Field[] = ['temperature', 'topP', 'seed', 'stop', 'reasoning', 'tools', 'toolChoice']

function writeMessage(dialogue: Dialogue, tools: FunctionTools, message: PlainMessage): JsonObject {
  switch (message.role) {
    case 'system':
      return { Role: 'system', Content: message.text }
    case 'user':
      return { Role: 'user', ...contentOf(dialogue, message.parts) }
    case 'tool':
      return { Role: 'tool', ToolCallId: message.callId, Content: message.text || '(empty)' }
    case 'assistant':
      return {
        Role: 'assistant',
        Content: message.text,
        ...(message.calls.length > 0 ? { ToolCalls: message.calls.map((call) => writeCall(tools, call)) } : {}),
      }
  }
}

function contentOf(dialogue: Dialogue, parts: readonly (TextPart | MediaPart)[]): JsonObject {
  if (mediaOf(parts).length === 0) return { Content: userText(parts) }
  return {
    Contents: parts.map((part) => {
      if (part.kind === 'text' || part.source.kind === 'text') return { Type: 'text', Text: userText([part]) }
      if (part.media !== 'image' || part.source.kind === 'file') return refuseMedia(dialogue, part)
      return { Type: 'image_url', ImageUrl: { Url: writeDataUrl(part.source) } }
    }),
  }
}

function writeCall(tools: FunctionTools, call: ToolCallPart): JsonObject {
  return { Id: call.callId, Type: 'function', Function: { Name: tools.names.toUpstream(call.name), Arguments: callText(call) } }
}

function toolsOf(dialogue: Dialogue, context: RequestContext, tools: FunctionTools): JsonObject {
  if (tools.offered.length === 0) return {}
  const demanded = demandedTool(dialogue, context, tools)
  return {
    Tools: tools.offered.map(writeTool),
    ...(demanded ? { ToolChoice: 'custom', CustomTool: writeTool(demanded) } : {}),
  }
}

/** Tencent requires the schema as a JSON string. */
function writeTool({ name, description, schema }: FunctionTool): JsonObject {
  return { Type: 'function', Function: { Name: name, Parameters: JSON.stringify(schema), Description: description ?? '' } }
}

function samplingOf(dialogue: Dialogue, context: RequestContext): JsonObject {
  const { sampling, stop } = dialogue
  const isSeedTaken = sampling.seed !== undefined && sampling.seed >= 1 && sampling.seed <= seedMax
  if (sampling.seed !== undefined && !isSeedTaken) lose(dialogue, context, 'seed')
  const members = {
    Temperature: fitted(dialogue, context, ['temperature', sampling.temperature], (value) => Math.min(value, 2)),
    TopP: sampling.topP,
    Seed: isSeedTaken ? sampling.seed : undefined,
    Stop: stop.length > 0 ? stop : undefined,
  }
  return definedMembers(members)
}

const seedMax = 10_000
