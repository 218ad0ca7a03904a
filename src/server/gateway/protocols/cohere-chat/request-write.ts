import type { RequestContext, WrittenRequest } from '../codec.ts'
import type { Dialogue, MediaPart, TextPart } from '../dialogue.ts'
import { type FunctionTools, functionTools, undoing, writeCall, writeFunction } from '../function-tools.ts'
import { describedSchema, withJsonInstruction } from '../json-answer.ts'
import { type Field, fitted, lose, loseAllBut } from '../lost-fields.ts'
import { writeDataUrl } from '../media.ts'
import { mediaOf, type PlainMessage, plainMessages, refuseMedia, replaysReasoning, userText } from '../plain-messages.ts'
import { budgetOf } from '../reasoning-level.ts'
import { definedMembers, type JsonObject } from '../wire-format.ts'
import { canThink, takesToolChoice, thinkingBudgetMax } from './models.ts'

/** A conversation in Cohere's form. Throws `untranslatable` for media other than images and plain text. */
export function writeRequest(dialogue: Dialogue, context: RequestContext): WrittenRequest {
  loseAllBut(dialogue, context, carried)
  const tools = functionTools(dialogue, context)
  const { output } = dialogue
  // Cohere rejects a JSON format together with tools.
  const isTold = output !== undefined && tools.offered.length > 0
  if (isTold) lose(dialogue, context, 'output')
  const messages = plainMessages(isTold ? withJsonInstruction(dialogue) : dialogue, context, {
    system: 'anywhere',
    tools: true,
    lastTurn: 'refused',
  })

  return {
    body: {
      model: context.model,
      messages: messages.map((message) => writeMessage(dialogue, context, tools, message)),
      stream: dialogue.stream,
      ...toolsOf(dialogue, context, tools),
      ...samplingOf(dialogue, context),
      ...(output && !isTold ? { response_format: formatOf(output) } : {}),
      ...thinkingOf(dialogue, context),
    },
    ...undoing(tools),
  }
}

const carried: readonly Field[] = [
  'temperature',
  'topP',
  'topK',
  'presencePenalty',
  'frequencyPenalty',
  'seed',
  'stop',
  'outputTokensMax',
  'reasoning',
  'output',
  'tools',
  'strictTools',
  'toolChoice',
]

function writeMessage(dialogue: Dialogue, { quirks }: RequestContext, tools: FunctionTools, message: PlainMessage): JsonObject {
  switch (message.role) {
    case 'system':
      return { role: 'system', content: message.text }
    case 'user':
      return { role: 'user', content: contentOf(dialogue, message.parts) }
    case 'tool':
      return { role: 'tool', tool_call_id: message.callId, content: message.text }
    case 'assistant': {
      const { text, reasoning, calls } = message
      if (calls.length === 0) return { role: 'assistant', content: text }
      return {
        role: 'assistant',
        ...(text === '' ? {} : { content: text }),
        ...(reasoning !== '' && replaysReasoning(quirks, calls) ? { tool_plan: reasoning } : {}),
        tool_calls: calls.map((call) => writeCall(tools, call)),
      }
    }
  }
}

function contentOf(dialogue: Dialogue, parts: readonly (TextPart | MediaPart)[]): string | JsonObject[] {
  if (mediaOf(parts).length === 0) return userText(parts)
  return parts.map((part) => {
    if (part.kind === 'text' || part.source.kind === 'text') return { type: 'text', text: userText([part]) }
    if (part.media !== 'image' || part.source.kind === 'file') return refuseMedia(dialogue, part)
    const detail = part.detail === 'original' ? 'high' : part.detail
    return { type: 'image_url', image_url: { url: writeDataUrl(part.source), ...(detail ? { detail } : {}) } }
  })
}

function toolsOf(dialogue: Dialogue, context: RequestContext, { offered, choice }: FunctionTools): JsonObject {
  if (offered.length === 0) return {}
  const isForced = choice === 'required'
  if (isForced && !takesToolChoice(context.model)) lose(dialogue, context, 'toolChoice')
  const isStrict = offered.every(({ strict }) => strict)
  // Cohere has only one `strict_tools` switch for all tools.
  if (!isStrict && offered.some(({ strict }) => strict)) lose(dialogue, context, 'strictTools')
  return {
    tools: offered.map(writeFunction),
    ...(isForced && takesToolChoice(context.model) ? { tool_choice: 'REQUIRED' } : {}),
    ...(isStrict ? { strict_tools: true } : {}),
  }
}

/** Clamps values to Cohere's ranges; a negative penalty is lost. */
function samplingOf(dialogue: Dialogue, context: RequestContext): JsonObject {
  const { sampling, stop, outputTokensMax } = dialogue
  if (stop.length > stopsMax) lose(dialogue, context, 'stop')
  const penalty = (field: 'presencePenalty' | 'frequencyPenalty') => {
    const value = sampling[field]
    if (value !== undefined && value < 0) lose(dialogue, context, field)
    return value === undefined || value < 0 ? undefined : fitted(dialogue, context, [field, value], (asked) => Math.min(asked, 1))
  }
  const members = {
    max_tokens: outputTokensMax,
    stop_sequences: stop.length > 0 ? stop.slice(0, stopsMax) : undefined,
    temperature: sampling.temperature,
    p: fitted(dialogue, context, ['topP', sampling.topP], (value) => Math.min(Math.max(value, 0.01), 0.99)),
    k: fitted(dialogue, context, ['topK', sampling.topK], (value) => Math.min(value, 500)),
    seed: sampling.seed,
    presence_penalty: penalty('presencePenalty'),
    frequency_penalty: penalty('frequencyPenalty'),
  }
  return definedMembers(members)
}

const stopsMax = 5

function formatOf(output: NonNullable<Dialogue['output']>): JsonObject {
  return { type: 'json_object', ...(output.kind === 'schema' ? { json_schema: describedSchema(output) } : {}) }
}

function thinkingOf(dialogue: Dialogue, context: RequestContext): JsonObject {
  const mode = dialogue.reasoning?.mode
  if (mode === undefined || mode === 'auto') return {}
  if (!canThink(context.model)) {
    if (mode !== 'off') lose(dialogue, context, 'reasoning')
    return {}
  }
  if (mode === 'off') return { thinking: { type: 'disabled' } }
  return { thinking: { type: 'enabled', token_budget: Math.min(budgetOf(mode), thinkingBudgetMax) } }
}
