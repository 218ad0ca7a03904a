import { arrayAt, countAt, isObject, type JsonObject, objectAt, textAt } from '../wire-format.ts'

/**
 * Converts an interaction between its two forms: one object, and the events of a stream. Events number themselves by `event_id`. Source:
 * types of the official SDK 3.1.
 */
export function replayInteraction(reply: JsonObject): JsonObject[] {
  const { steps, usage: _, output_text: _text, ...head } = reply
  const events: JsonObject[] = [
    { event_type: 'interaction.created', interaction: { ...head, status: 'in_progress' } },
    ...arrayAt(reply, 'steps').filter(isObject).flatMap(stepEvents),
    { event_type: 'interaction.completed', interaction: { ...reply, ...(steps ? { steps } : {}) } },
  ]
  return events.map((event, number) => ({ ...event, event_id: String(number) }))
}

function stepEvents(step: JsonObject, index: number): JsonObject[] {
  const { begun, deltas } = inPieces(step)
  return [
    { event_type: 'step.start', index, step: begun },
    ...deltas.map((delta) => ({ event_type: 'step.delta', index, delta })),
    { event_type: 'step.stop', index },
  ]
}

/** A step as it begins, and the deltas that complete it. Steps of the vendor's own tools begin whole. */
function inPieces(step: JsonObject): { begun: JsonObject; deltas: JsonObject[] } {
  switch (step.type) {
    case 'model_output': {
      const { content, ...begun } = step
      return { begun, deltas: listed(content).flatMap(contentDeltas) }
    }
    case 'thought': {
      const { summary, signature, ...begun } = step
      const shown = listed(summary).map((content) => ({ type: 'thought_summary', content }))
      return { begun, deltas: [...shown, ...(signature === undefined ? [] : [{ type: 'thought_signature', signature }])] }
    }
    case 'function_call': {
      const text = JSON.stringify(step.arguments ?? {})
      return { begun: { ...step, arguments: {} }, deltas: [{ type: 'arguments_delta', arguments: text }] }
    }
    default:
      return { begun: step, deltas: [] }
  }
}

function contentDeltas(part: JsonObject): JsonObject[] {
  const { annotations, ...rest } = part
  const marks = listed(annotations)
  return marks.length > 0 && part.type === 'text' ? [rest, { type: 'text_annotation_delta', annotations: marks }] : [part]
}

function listed(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : []
}

/** A step in the making; the arguments of a call are JSON text until it is complete. */
interface Gathered {
  step: JsonObject
  argumentsText: string
}

/** The complete interaction: as its last event has it, with the steps of the other events where that has none. */
export function gatherInteraction(events: readonly JsonObject[]): JsonObject {
  let interaction: JsonObject = {}
  const gathered = new Map<number, Gathered>()
  for (const event of events) {
    interaction = { ...interaction, ...objectAt(event, 'interaction') }
    const index = countAt(event, 'index')
    const step = event.event_type === 'step.start' ? objectAt(event, 'step') : undefined
    if (step) gathered.set(index, { step, argumentsText: '' })
    const delta = event.event_type === 'step.delta' ? objectAt(event, 'delta') : undefined
    const into = gathered.get(index)
    if (delta && into) add(into, delta)
  }
  const steps = arrayAt(interaction, 'steps').length > 0 ? interaction.steps : [...gathered.values()].map(complete)
  return { ...interaction, steps }
}

function add(into: Gathered, delta: JsonObject): void {
  const { step } = into
  const content = listed(step.content)
  switch (delta.type) {
    case 'text':
      into.step = { ...step, content: joined(content, delta) }
      return
    case 'text_annotation_delta': {
      const last = content.at(-1) ?? { type: 'text', text: '' }
      const marked = { ...last, annotations: [...listed(last.annotations), ...listed(delta.annotations)] }
      into.step = { ...step, content: [...content.slice(0, -1), marked] }
      return
    }
    case 'image':
    case 'audio':
    case 'video':
    case 'document':
      into.step = { ...step, content: [...content, delta] }
      return
    case 'thought_summary':
      into.step = { ...step, summary: joined(listed(step.summary), objectAt(delta, 'content') ?? {}) }
      return
    case 'thought_signature':
      into.step = { ...step, signature: delta.signature }
      return
    case 'arguments_delta':
      into.argumentsText += textAt(delta, 'arguments')
      return
    default: {
      const { type: _, ...members } = delta
      into.step = { ...step, ...members }
    }
  }
}

/** Appends a part; the pieces of one text become one part again. */
function joined(parts: readonly JsonObject[], part: JsonObject): JsonObject[] {
  const last = parts.at(-1)
  const isText = part.type === 'text' && last?.type === 'text' && last.annotations === undefined
  return isText ? [...parts.slice(0, -1), { ...last, text: textAt(last, 'text') + textAt(part, 'text') }] : [...parts, part]
}

function complete({ step, argumentsText }: Gathered): JsonObject {
  if (argumentsText === '') return step
  try {
    return { ...step, arguments: JSON.parse(argumentsText) }
  } catch {
    // A call that was cut off at the output limit.
    return { ...step, arguments: { input: argumentsText } }
  }
}
