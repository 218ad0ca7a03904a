import { cutInputObject, inputObject } from '../tool-input.ts'
import { answerAt, answerText, arrayAt, definedMembers, isObject, type JsonObject, objectAt, textAt } from '../wire-format.ts'

/** Converts a Messages reply between its two forms: one object, and the events of a stream without the terminal event. */
export function replayMessage(reply: JsonObject): JsonObject[] {
  const {
    content: _,
    stop_reason,
    stop_sequence,
    stop_details,
    usage,
    context_management,
    input_transformations,
    ...head
  } = reply
  const start = {
    ...head,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    ...(stop_details === undefined ? {} : { stop_details: null }),
    usage: usage ?? { input_tokens: 0, output_tokens: 0 },
  }
  const blocks = arrayAt(reply, 'content').map((block) => (isObject(block) ? block : { type: 'text', text: answerText(block) }))
  return [
    { type: 'message_start', message: start },
    ...blocks.flatMap(blockEvents),
    {
      type: 'message_delta',
      delta: {
        stop_reason: stop_reason ?? 'end_turn',
        stop_sequence: stop_sequence ?? null,
        ...(stop_details === undefined ? {} : { stop_details }),
      },
      usage: usage ?? { output_tokens: 0 },
      ...definedMembers({ context_management, input_transformations }),
    },
  ]
}

function blockEvents(block: JsonObject, index: number): JsonObject[] {
  const { start, deltas } = openBlock(block)
  return [
    { type: 'content_block_start', index, content_block: start },
    ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ]
}

/** Clients read these blocks only from deltas; other blocks are sent complete in their start event. */
function openBlock(block: JsonObject): { start: JsonObject; deltas: JsonObject[] } {
  switch (block.type) {
    case 'text':
      return { start: { ...block, text: '' }, deltas: [{ type: 'text_delta', text: answerAt(block, 'text') }] }
    case 'tool_use':
    case 'server_tool_use':
      return {
        start: { ...block, input: {} },
        deltas: [{ type: 'input_json_delta', partial_json: JSON.stringify(block.input ?? {}) }],
      }
    case 'thinking':
      return {
        start: { ...block, thinking: '', signature: '' },
        deltas: [
          { type: 'thinking_delta', thinking: textAt(block, 'thinking') },
          { type: 'signature_delta', signature: textAt(block, 'signature') },
        ],
      }
    default:
      return { start: block, deltas: [] }
  }
}

/** The id of the message that a `message_start` begins. */
export function idOf(start: JsonObject): string {
  return textAt(objectAt(start, 'message') ?? {}, 'id')
}

/** Whether a further `message_start` only repeats the beginning of the message with this id, as some hosts do. */
export function isSameMessage(id: string | undefined, start: JsonObject): boolean {
  return id !== '' && idOf(start) === id
}

/** The error for a stream in which a second message begins: parts of both would be merged. */
export const secondMessage = {
  type: 'error',
  error: { type: 'api_error', message: 'the upstream began a second message in one reply' },
} as const

/** Assembles one message from the events of a stream, or returns an error. */
export function gatherMessage(events: readonly JsonObject[]): JsonObject {
  let message: JsonObject = {}
  let id: string | undefined
  const blocks = new Map<unknown, Record<string, unknown>>()

  for (const event of events) {
    if (event.type === 'message_start') {
      if (id !== undefined && isSameMessage(id, event)) continue
      if (id !== undefined) return secondMessage
      id = idOf(event)
      message = objectAt(event, 'message') ?? {}
    }
    if (event.type === 'content_block_start') blocks.set(event.index, { ...objectAt(event, 'content_block') })
    if (event.type === 'content_block_delta') addDelta(blocks.get(event.index) ?? {}, objectAt(event, 'delta') ?? {})
    if (event.type === 'message_delta') {
      const { type: _, delta, usage, ...beside } = event
      message = {
        ...message,
        ...told(beside),
        ...(isObject(delta) ? delta : {}),
        usage: { ...objectAt(message, 'usage'), ...told(isObject(usage) ? usage : {}) },
      }
    }
  }
  const isCut = message.stop_reason === 'max_tokens' || message.stop_reason === 'model_context_window_exceeded'
  return { ...message, content: [...blocks.values()].map((block) => closedBlock(block, isCut)) }
}

/** Members without null, which would hide what was reported before. */
function told(members: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(members).filter(([key, value]) => value !== null && key !== '__proto__'))
}

function addDelta(block: Record<string, unknown>, delta: JsonObject): void {
  // The delta has the final values of the block; null is a failed compaction.
  if (delta.type === 'compaction_delta') {
    const { type: _, ...members } = delta
    Object.assign(block, members)
    return
  }
  for (const key of ['text', 'thinking', 'signature', 'partial_json']) {
    if (typeof delta[key] === 'string') block[key] = textAt(block, key) + delta[key]
  }
  if (delta.citation) block.citations = [...arrayAt(block, 'citations'), delta.citation]
}

/** An input that was truncated at the limit is read as far as it goes. */
function closedBlock({ partial_json, ...block }: JsonObject, isCut: boolean): JsonObject {
  if (typeof partial_json !== 'string' || partial_json === '') return block
  return { ...block, input: isCut ? cutInputObject(partial_json) : inputObject(partial_json) }
}
