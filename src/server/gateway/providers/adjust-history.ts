import { callIdFor } from '../protocols/call-ids.ts'
import type { Quirks } from '../protocols/codec.ts'
import { arrayAt, isObject, type JsonObject, objectAt, textAt } from '../protocols/wire-format.ts'

/**
 * What the family of the model requires of a Chat request, in its own format or translated: reasoning of earlier turns, ids and
 * signatures of calls, and no thinking outside of streams. The members to set or (undefined) to remove; idempotent.
 */
export function adjustHistory(body: JsonObject, quirks: Quirks): Record<string, unknown> {
  const before = hasRules(quirks) ? arrayAt(body, 'messages') : []
  const rule = reasoningRule(body, quirks)
  const after = before.map((message) => (isObject(message) ? adjustMessage(message, quirks, rule) : message))
  const mustNotThink = quirks.thinksOnlyInStreams && body.stream !== true && body.enable_thinking === undefined
  return {
    ...(after.every((message, at) => message === before[at]) ? {} : { messages: after }),
    ...(mustNotThink ? { enable_thinking: false } : {}),
  }
}

/** Most models have none of these rules, and their histories are long. */
function hasRules({ replayReasoning, callIds, lostSignature, thinkingSwitch }: Quirks): boolean {
  return [replayReasoning, callIds, lostSignature].some((rule) => rule !== undefined) || thinkingSwitch === 'reasoning-object'
}

function adjustMessage(message: JsonObject, { callIds, lostSignature }: Quirks, rule: ReasoningRule): JsonObject {
  let adjusted = message
  if (message.role === 'assistant') adjusted = withSignature(rule(adjusted), lostSignature)
  return callIds ? withCallIds(adjusted, callIds) : adjusted
}

type ReasoningRule = (message: JsonObject) => JsonObject

const carriers = ['reasoning_content', 'reasoning', 'reasoning_details', 'thinking_blocks']

/**
 * The reasoning that the model requires in the history: either none at all, or a placeholder for each turn whose reasoning the
 * caller did not send. Hosts with `reasoning` have it there, or as a list with signatures.
 */
function reasoningRule(body: JsonObject, { replayReasoning, emptyReasoning, thinkingSwitch }: Quirks): ReasoningRule {
  if (replayReasoning === 'never') return withoutReasoning
  const hasTools = arrayAt(body, 'tools').length > 0
  const isWanted = (message: JsonObject) =>
    arrayAt(message, 'tool_calls').length > 0 || (replayReasoning === 'always' && hasTools)
  if (thinkingSwitch === 'reasoning-object') {
    return (message) => renamedReasoning(message, emptyReasoning !== undefined && hasTools && isWanted(message))
  }
  if (replayReasoning === undefined || emptyReasoning === undefined) return (message) => message
  return (message) => {
    const told = textAt(message, 'reasoning_content') || textAt(message, 'reasoning')
    const exists = told !== '' && message.reasoning_content === told
    if (!isWanted(message) || exists || (told === '' && message.reasoning_content === emptyReasoning)) return message
    return { ...message, reasoning_content: told === '' ? emptyReasoning : told }
  }
}

/** Reasoning that the caller sent in the member of another host. An empty text is none at these hosts. */
function renamedReasoning(message: JsonObject, needsSome: boolean): JsonObject {
  const { reasoning_content: _, ...rest } = message
  const exists = textAt(message, 'reasoning') !== '' || arrayAt(message, 'reasoning_details').length > 0
  const told = textAt(message, 'reasoning_content') || (needsSome ? ' ' : '')
  return exists || told === '' ? message : { ...rest, reasoning: told }
}

function withoutReasoning(message: JsonObject): JsonObject {
  if (!carriers.some((member) => member in message)) return message
  return Object.fromEntries(Object.entries(message).filter(([member]) => !carriers.includes(member)))
}

/** Only the first call of a turn has a signature. */
function withSignature(message: JsonObject, placeholder: string | undefined): JsonObject {
  const [first, ...others] = arrayAt(message, 'tool_calls')
  if (placeholder === undefined || !isObject(first)) return message
  const extra = objectAt(first, 'extra_content')
  const google = objectAt(extra ?? {}, 'google')
  if (google && textAt(google, 'thought_signature') !== '') return message
  const signed = { ...first, extra_content: { ...extra, google: { ...google, thought_signature: placeholder } } }
  return { ...message, tool_calls: [signed, ...others] }
}

/** The same id becomes the same hash in the call and in its result. */
function withCallIds(message: JsonObject, rule: NonNullable<Quirks['callIds']>): JsonObject {
  const result = textAt(message, 'tool_call_id')
  const calls = arrayAt(message, 'tool_calls')
  const isFit = (id: string) => id === '' || callIdFor(id, rule) === id
  if (isFit(result) && calls.every((call) => !isObject(call) || isFit(textAt(call, 'id')))) return message
  return {
    ...message,
    ...(result === '' ? {} : { tool_call_id: callIdFor(result, rule) }),
    ...(calls.length === 0
      ? {}
      : { tool_calls: calls.map((call) => (isObject(call) ? { ...call, id: callIdFor(textAt(call, 'id'), rule) } : call)) }),
  }
}
