import type { Quirks } from '../protocols/codec.ts'
import { jsonInstruction } from '../protocols/json-answer.ts'
import { arrayAt, isObject, type JsonObject, objectAt, textAt } from '../protocols/wire-format.ts'
import type { Provider } from './provider.ts'
import { adjustResponses } from './responses.ts'

type Changes = Record<string, unknown>

/**
 * The members of a provider for a Chat host with quirks, for translated requests and for those that pass through. `more` has changes
 * beyond the quirks; it gets the body after all others.
 */
export function chatHost(
  quirks: Quirks,
  more?: (body: JsonObject, model: string) => Changes,
): Pick<Provider, 'quirks'> & Required<Pick<Provider, 'adjustBody'>> {
  return {
    quirks,
    adjustBody(body, format, model) {
      if (format === 'openai.responses') return adjustResponses(body, model)
      if (format !== 'openai.chat') return {}
      const changes = adjustChat(body, model, quirks)
      return more ? { ...changes, ...more({ ...body, ...changes }, model) } : changes
    },
  }
}

/** The quirks of most hosts that implement Chat as it was before reasoning models, with the older members. */
export const plainHost: Quirks = { outputLimit: 'max_tokens', systemRole: 'system', takesStrictTools: false }

/**
 * Changes to a Chat request that passes through: the members to set or (undefined) to remove. Translated requests already fit and stay
 * unchanged. The quirks describe the host's refusals; `adjustHistory` adds what belongs to the model. Source: protocols notes 2.2.
 */
function adjustChat(body: JsonObject, model: string, quirks: Quirks): Changes {
  const output = adjustOutput(body, quirks)
  const messages = adjustMessages(body, quirks, output.instruction)
  return {
    ...adjustMembers(body, quirks),
    ...adjustTools(body, model, quirks),
    ...output.changes,
    ...(messages ? { messages } : {}),
  }
}

function adjustMembers(body: JsonObject, { refuses = [], outputLimit, temperatureMax }: Quirks): Changes {
  const changes: Changes = {}
  for (const member of refuses) if (body[member] !== undefined) changes[member] = undefined
  if (outputLimit === 'max_tokens' && body.max_completion_tokens !== undefined) {
    changes.max_completion_tokens = undefined
    changes.max_tokens = body.max_tokens ?? body.max_completion_tokens
  }
  if (temperatureMax !== undefined && typeof body.temperature === 'number' && body.temperature > temperatureMax) {
    changes.temperature = temperatureMax
  }
  return changes
}

function adjustTools(body: JsonObject, model: string, { requiredChoice, takesStrictTools }: Quirks): Changes {
  if (!Array.isArray(body.tools)) return {}
  // Many hosts refuse an empty list, and it has no effect at any.
  if (body.tools.length === 0) return { tools: undefined, ...(body.tool_choice === undefined ? {} : { tool_choice: undefined }) }

  const changes: Changes = {}
  if (body.tool_choice === 'required' && requiredChoice === 'any') changes.tool_choice = 'any'
  // Only Gemini has this choice, which clients of several vendors send.
  if (body.tool_choice === 'validated' && !/gemini/i.test(model)) changes.tool_choice = 'auto'
  const hasStrict = (tool: unknown) => isObject(tool) && objectAt(tool, 'function')?.strict !== undefined
  if (takesStrictTools === false && body.tools.some(hasStrict)) changes.tools = body.tools.map(withoutStrict)
  return changes
}

function withoutStrict(tool: unknown): unknown {
  if (!isObject(tool) || !isObject(tool.function)) return tool
  const { strict: _, ...declared } = tool.function
  return { ...tool, function: declared }
}

/**
 * Hosts without JSON schemas accept only JSON mode, and only if the conversation contains the word "JSON": an instruction is added
 * for the model.
 */
function adjustOutput(body: JsonObject, { jsonSchema }: Quirks): { changes: Changes; instruction?: string } {
  const format = objectAt(body, 'response_format')
  if (!format || jsonSchema === undefined || jsonSchema === 'native') return { changes: {} }

  const schema = objectAt(objectAt(format, 'json_schema') ?? {}, 'schema')
  const isSchema = textAt(format, 'type') === 'json_schema' && schema !== undefined
  if (!isSchema && textAt(format, 'type') !== 'json_object') return { changes: {} }
  const response_format = jsonSchema === 'none' ? undefined : { type: 'json_object' }
  const changes = isSchema || jsonSchema === 'none' ? { response_format } : {}
  if (isSchema) {
    return {
      changes,
      instruction: jsonInstruction({ kind: 'schema', name: undefined, description: undefined, schema, strict: undefined }),
    }
  }
  const isTold = jsonSchema === 'object' && /json/i.test(JSON.stringify(body.messages))
  return isTold ? { changes } : { changes, instruction: jsonInstruction({ kind: 'json' }) }
}

/** Undefined when no message changes, so that their bytes stay unchanged. */
function adjustMessages(body: JsonObject, quirks: Quirks, instruction?: string): unknown[] | undefined {
  const before = arrayAt(body, 'messages')
  const adjusted = before.map((message) => (isObject(message) ? withSystemRole(message, quirks) : message))
  const told = instruction === undefined ? adjusted : withInstruction(adjusted, instruction)
  const spaced = quirks.strictTurns ? apart(told) : told
  return spaced.length === before.length && spaced.every((message, at) => message === before[at]) ? undefined : spaced
}

function withSystemRole(message: JsonObject, { systemRole }: Quirks): JsonObject {
  return systemRole === 'system' && message.role === 'developer' ? { ...message, role: 'system' } : message
}

/** Appended to the existing instructions. */
function withInstruction(messages: readonly unknown[], content: string): unknown[] {
  const at = messages.findIndex((message) => !isObject(message) || (message.role !== 'system' && message.role !== 'developer'))
  return messages.toSpliced(at < 0 ? messages.length : at, 0, { role: 'system', content })
}

/** Inserts an assistant message between a tool result and a user message. */
function apart(messages: readonly unknown[]): unknown[] {
  return messages.flatMap((message, at) => {
    const before = messages[at - 1]
    const isClose = isObject(message) && message.role === 'user' && isObject(before) && before.role === 'tool'
    return isClose ? [{ role: 'assistant', content: '.' }, message] : [message]
  })
}
