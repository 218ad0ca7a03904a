import type { RequestContext, WrittenRequest } from '../codec.ts'
import type { Dialogue, ToolCallPart } from '../dialogue.ts'
import { callText, demandedTool, type FunctionTools, functionTools, undoing } from '../function-tools.ts'
import { withJsonInstruction } from '../json-answer.ts'
import { type Field, fitted, lose, loseAllBut } from '../lost-fields.ts'
import {
  apartFromTools,
  onlyText,
  type PlainMessage,
  plainMessages,
  requireMessage,
  startingWithUser,
} from '../plain-messages.ts'
import { refuseForcedTools } from '../transcript.ts'
import { definedMembers, type JsonObject } from '../wire-format.ts'
import { outputTokensMaxOf, outputTokensMin, takesFunctions } from './models.ts'

/**
 * A conversation in Baidu's form: it begins and ends with the user, roles alternate, a tool result is in place of a user message.
 * Throws `untranslatable` for media and, with models without functions, for tools that must be called.
 */
export function writeRequest(dialogue: Dialogue, context: RequestContext): WrittenRequest {
  const hasFunctions = takesFunctions(context.model)
  if (!hasFunctions) refuseForcedTools(dialogue)
  loseAllBut(dialogue, context, hasFunctions ? [...carried, 'tools', 'toolChoice'] : carried)
  const tools = functionTools(dialogue, context)
  const { output } = dialogue
  const isTold = output !== undefined && (output.kind === 'schema' || !hasFunctions)
  if (isTold) lose(dialogue, context, 'output')
  const plain = plainMessages(isTold ? withJsonInstruction(dialogue) : dialogue, context, {
    system: 'head',
    tools: hasFunctions,
    lastTurn: 'refused',
  })
  requireMessage(dialogue, plain)
  const [first, ...rest] = plain
  const system = first?.role === 'system' ? first.text : undefined
  const messages = startingWithUser(system === undefined ? plain : rest)

  return {
    body: {
      ...(system === undefined ? {} : { system }),
      messages: apartFromTools(oneByOne(messages)).flatMap((message) => writeMessage(dialogue, tools, message)),
      stream: dialogue.stream,
      ...(hasFunctions ? functionsOf(dialogue, context, tools) : {}),
      ...samplingOf(dialogue, context),
      ...(output && hasFunctions ? { response_format: 'json_object' } : {}),
      ...(dialogue.user ? { user_id: dialogue.user } : {}),
    },
    ...undoing(tools),
  }
}

const carried: readonly Field[] = ['temperature', 'topP', 'stop', 'outputTokensMax', 'output', 'user']

/** Baidu supports one call per turn: several calls of one turn become separate turns, each followed by its result. */
function oneByOne(messages: readonly PlainMessage[]): PlainMessage[] {
  const ordered: PlainMessage[] = []
  for (const [at, message] of messages.entries()) {
    if (message.role === 'tool') continue
    if (message.role !== 'assistant' || message.calls.length === 0) {
      ordered.push(message)
      continue
    }
    const results = messages.slice(at + 1, at + 1 + message.calls.length)
    for (const [number, call] of message.calls.entries()) {
      ordered.push({ ...message, text: number === 0 ? message.text : '', calls: [call] })
      const result = results.find((candidate) => candidate.role === 'tool' && candidate.callId === call.callId)
      if (result) ordered.push(result)
    }
  }
  return ordered
}

function writeMessage(dialogue: Dialogue, tools: FunctionTools, message: PlainMessage): JsonObject[] {
  switch (message.role) {
    case 'system':
      return []
    case 'user':
      return [{ role: 'user', content: onlyText(dialogue, message.parts) }]
    case 'tool':
      return [{ role: 'function', name: tools.names.toUpstream(message.name), content: message.text || '(empty)' }]
    case 'assistant':
      return [
        {
          role: 'assistant',
          content: message.text,
          ...message.calls.reduce<JsonObject>((_, call) => ({ function_call: writeCall(tools, call) }), {}),
        },
      ]
  }
}

function writeCall(tools: FunctionTools, call: ToolCallPart): JsonObject {
  return { name: tools.names.toUpstream(call.name), arguments: callText(call) }
}

function functionsOf(dialogue: Dialogue, context: RequestContext, tools: FunctionTools): JsonObject {
  if (tools.offered.length === 0) return {}
  const demanded = demandedTool(dialogue, context, tools)
  return {
    functions: tools.offered.map(({ name, description, schema }) => ({
      name,
      description: description || name,
      parameters: schema,
    })),
    ...(demanded ? { tool_choice: { type: 'function', function: { name: demanded.name } } } : {}),
  }
}

/** Clamps values to Baidu's ranges. */
function samplingOf(dialogue: Dialogue, context: RequestContext): JsonObject {
  const { sampling, stop, outputTokensMax } = dialogue
  const fit = stop.filter((text) => text.length <= stopLengthMax).slice(0, stopsMax)
  if (fit.length < stop.length) lose(dialogue, context, 'stop')
  const limit = outputTokensMaxOf(context.model)
  if (outputTokensMax !== undefined && outputTokensMax > limit) lose(dialogue, context, 'outputTokensMax')
  const members = {
    temperature: fitted(dialogue, context, ['temperature', sampling.temperature], (value) => Math.min(Math.max(value, 0.01), 1)),
    top_p: sampling.topP,
    stop: fit.length > 0 ? fit : undefined,
    max_output_tokens: outputTokensMax === undefined ? undefined : Math.min(Math.max(outputTokensMax, outputTokensMin), limit),
  }
  return definedMembers(members)
}

const stopsMax = 4
const stopLengthMax = 20
