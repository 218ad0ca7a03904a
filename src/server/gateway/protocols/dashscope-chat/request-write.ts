import type { RequestContext, WrittenRequest } from '../codec.ts'
import type { Dialogue, MediaPart, TextPart } from '../dialogue.ts'
import { demandedTool, type FunctionTools, functionTools, undoing, writeCall } from '../function-tools.ts'
import { mentionsJson, withJsonInstruction } from '../json-answer.ts'
import { type Field, fitted, lose, loseAllBut } from '../lost-fields.ts'
import { writeDataUrl } from '../media.ts'
import { onlyText, type PlainMessage, plainMessages, refuseMedia, userText } from '../plain-messages.ts'
import { budgetOf } from '../reasoning-level.ts'
import { definedMembers, type JsonObject } from '../wire-format.ts'
import { isMultimodal } from './models.ts'

/** A conversation in DashScope's form. Throws `untranslatable` for documents, and for media with models that accept only text. */
export function writeRequest(dialogue: Dialogue, context: RequestContext): WrittenRequest {
  loseAllBut(dialogue, context, carried)
  const { output } = dialogue
  const tools = functionTools(dialogue, context)
  if (output?.kind === 'schema') lose(dialogue, context, 'output')
  const needsTelling = output !== undefined && (output.kind === 'schema' || !mentionsJson(dialogue))
  const messages = plainMessages(needsTelling ? withJsonInstruction(dialogue) : dialogue, context, {
    system: 'anywhere',
    tools: true,
    lastTurn: 'refused',
  })

  return {
    body: {
      model: context.model,
      input: { messages: messages.map((message) => writeMessage(dialogue, context, tools, message)) },
      parameters: {
        result_format: 'message',
        ...(dialogue.stream ? { incremental_output: true } : {}),
        ...samplingOf(dialogue, context),
        ...toolsOf(dialogue, context, tools),
        ...(output ? { response_format: { type: 'json_object' } } : {}),
        ...thinkingOf(dialogue, context),
      },
    },
    ...undoing(tools),
  }
}

const carried: readonly Field[] = [
  'temperature',
  'topP',
  'topK',
  'presencePenalty',
  'seed',
  'stop',
  'outputTokensMax',
  'reasoning',
  'output',
  'tools',
  'toolChoice',
  'parallelTools',
]

function writeMessage(dialogue: Dialogue, { model }: RequestContext, tools: FunctionTools, message: PlainMessage): JsonObject {
  const contentOf = (text: string) => (isMultimodal(model) ? [{ text }] : text)
  switch (message.role) {
    case 'system':
      return { role: 'system', content: contentOf(message.text) }
    case 'user':
      return {
        role: 'user',
        content: isMultimodal(model) ? message.parts.map((part) => writePart(dialogue, part)) : onlyText(dialogue, message.parts),
      }
    case 'tool':
      return {
        role: 'tool',
        tool_call_id: message.callId,
        name: tools.names.toUpstream(message.name),
        content: contentOf(message.text),
      }
    case 'assistant':
      return {
        role: 'assistant',
        content: contentOf(message.text),
        ...(message.calls.length > 0
          ? {
              tool_calls: message.calls.map((call, index) => ({ index, ...writeCall(tools, call) })),
            }
          : {}),
      }
  }
}

function writePart(dialogue: Dialogue, part: TextPart | MediaPart): JsonObject {
  if (part.kind === 'text' || part.source.kind === 'text') return { text: userText([part]) }
  if (part.media === 'document' || part.source.kind === 'file') return refuseMedia(dialogue, part)
  return { [part.media]: writeDataUrl(part.source) }
}

/** DashScope rejects 0 and 1 as `top_p`. */
function samplingOf(dialogue: Dialogue, context: RequestContext): JsonObject {
  const { sampling, stop, outputTokensMax } = dialogue
  const members = {
    max_tokens: outputTokensMax,
    temperature: fitted(dialogue, context, ['temperature', sampling.temperature], (value) => Math.min(value, 1.99)),
    top_p: fitted(dialogue, context, ['topP', sampling.topP], (value) => Math.min(Math.max(value, 0.001), 0.999)),
    top_k: sampling.topK,
    presence_penalty: sampling.presencePenalty,
    seed: sampling.seed,
    stop: stop.length > 0 ? stop : undefined,
  }
  return definedMembers(members)
}

function toolsOf(dialogue: Dialogue, context: RequestContext, tools: FunctionTools): JsonObject {
  if (tools.offered.length === 0) return {}
  const demanded = demandedTool(dialogue, context, tools)
  return {
    tools: tools.offered.map(({ name, description, schema }) => ({
      type: 'function',
      function: { name, description: description ?? '', parameters: schema },
    })),
    ...(demanded ? { tool_choice: { type: 'function', function: { name: demanded.name } } } : {}),
    ...(dialogue.parallelTools === undefined ? {} : { parallel_tool_calls: dialogue.parallelTools }),
  }
}

function thinkingOf(dialogue: Dialogue, context: RequestContext): JsonObject {
  const mode = dialogue.reasoning?.mode
  if (mode === undefined || mode === 'auto') return {}
  if (mode === 'off') return { enable_thinking: false }
  if (dialogue.stream) return { enable_thinking: true, thinking_budget: budgetOf(mode) }
  // Models only think in streams; otherwise DashScope would return 400.
  lose(dialogue, context, 'reasoning')
  return { enable_thinking: false }
}
