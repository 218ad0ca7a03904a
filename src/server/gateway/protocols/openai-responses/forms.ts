import { arrayAt, isObject, type JsonObject, objectAt, textAt } from '../wire-format.ts'

/**
 * Converts a Responses reply between its two forms: one object, and the events of a stream, of which the terminal one contains the
 * complete response.
 */
export function replayResponse(reply: JsonObject): JsonObject[] {
  const { output, usage: _, ...head } = reply
  const begun = { ...head, status: 'in_progress', completed_at: null, incomplete_details: null, output: [], usage: null }
  const items = Array.isArray(output) ? output.filter(isObject) : []
  const events: JsonObject[] = [
    { type: 'response.created', response: begun },
    { type: 'response.in_progress', response: begun },
    ...items.flatMap(itemEvents),
    { type: terminalType(reply), response: reply },
  ]
  return events.map(({ type, ...rest }, index) => ({ type, sequence_number: index, ...rest }))
}

/** The terminal event of a response. There is none for a cancelled one, which gets `response.failed` with its own status. */
export function terminalType({ status }: JsonObject): string {
  if (status === 'failed' || status === 'cancelled') return 'response.failed'
  return status === 'incomplete' ? 'response.incomplete' : 'response.completed'
}

/** All events of one complete item. Clients read text, arguments and summaries only from the deltas. */
function itemEvents(item: JsonObject, outputIndex: number): JsonObject[] {
  const place = { item_id: item.id, output_index: outputIndex }
  const { begun, events } = inPieces(item, place)
  return [
    { type: 'response.output_item.added', output_index: outputIndex, item: begun },
    ...events,
    { type: 'response.output_item.done', output_index: outputIndex, item },
  ]
}

function inPieces(item: JsonObject, place: JsonObject): { begun: JsonObject; events: JsonObject[] } {
  const running = item.status === undefined ? item : { ...item, status: 'in_progress' }
  switch (item.type) {
    case 'message': {
      const parts = arrayAt(item, 'content').filter(isObject)
      const events = parts.flatMap((part, index) => partEvents(part, { ...place, content_index: index }))
      return { begun: { ...running, content: [] }, events }
    }
    case 'reasoning': {
      const { encrypted_content: _, ...open } = running
      const parts = arrayAt(item, 'summary').filter(isObject)
      const events = parts.flatMap((part, index) => summaryEvents(part, { ...place, summary_index: index }))
      return { begun: { ...open, summary: [] }, events }
    }
    case 'function_call': {
      const text = textAt(item, 'arguments')
      const kind = 'response.function_call_arguments'
      const events = [...deltaEvents(`${kind}.delta`, place, text), { type: `${kind}.done`, ...place, arguments: text }]
      return { begun: { ...running, arguments: '' }, events }
    }
    case 'custom_tool_call': {
      const text = textAt(item, 'input')
      const kind = 'response.custom_tool_call_input'
      const events = [...deltaEvents(`${kind}.delta`, place, text), { type: `${kind}.done`, ...place, input: text }]
      return { begun: { ...running, input: '' }, events }
    }
    default:
      return { begun: running, events: [] }
  }
}

function partEvents(part: JsonObject, place: JsonObject): JsonObject[] {
  const isRefusal = part.type === 'refusal'
  const text = textAt(part, isRefusal ? 'refusal' : 'text')
  const begun = isRefusal ? { ...part, refusal: '' } : { ...part, annotations: [], logprobs: [], text: '' }
  const kind = isRefusal ? 'response.refusal' : 'response.output_text'
  const logprobs = isRefusal ? {} : { logprobs: arrayAt(part, 'logprobs') }
  return [
    { type: 'response.content_part.added', ...place, part: begun },
    ...deltaEvents(`${kind}.delta`, { ...place, ...logprobs }, text),
    ...arrayAt(part, 'annotations').map((annotation, index) => ({
      type: 'response.output_text.annotation.added',
      ...place,
      annotation_index: index,
      annotation,
    })),
    { type: `${kind}.done`, ...place, ...logprobs, [isRefusal ? 'refusal' : 'text']: text },
    { type: 'response.content_part.done', ...place, part },
  ]
}

function summaryEvents(part: JsonObject, place: JsonObject): JsonObject[] {
  const text = textAt(part, 'text')
  return [
    { type: 'response.reasoning_summary_part.added', ...place, part: { ...part, text: '' } },
    ...deltaEvents('response.reasoning_summary_text.delta', place, text),
    { type: 'response.reasoning_summary_text.done', ...place, text },
    { type: 'response.reasoning_summary_part.done', ...place, part },
  ]
}

function deltaEvents(type: string, place: JsonObject, delta: string): JsonObject[] {
  return delta === '' ? [] : [{ type, ...place, delta }]
}

/**
 * The complete reply from its events: the response in the terminal event, or the finished items if a host leaves them out of that
 * event.
 */
export function gatherResponse(events: readonly JsonObject[]): JsonObject {
  let response: JsonObject = {}
  const items = new Map<unknown, JsonObject>()
  for (const event of events) {
    response = { ...response, ...objectAt(event, 'response') }
    const item = event.type === 'response.output_item.done' ? objectAt(event, 'item') : undefined
    if (item) items.set(event.output_index, item)
  }
  const output = arrayAt(response, 'output')
  return { ...response, output: output.length > 0 ? output : [...items.values()] }
}
