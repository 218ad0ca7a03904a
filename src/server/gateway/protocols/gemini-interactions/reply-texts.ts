import { type Path, type ReplyTexts, type SeenEvents, slotsAt, type TextSlot } from '../text-slots.ts'
import { arrayAt, countAt, isObject, type JsonObject, objectAt, textAt } from '../wire-format.ts'
import { writeInteractionUsage } from './usage.ts'

const wholeText = () => undefined

/** Texts of interactions: sent as pieces of steps, and repeated in full in the last event of some hosts. */
export const interactionTexts: ReplyTexts = {
  inEvent(data) {
    const place = String(countAt(data, 'index'))
    switch (data.event_type) {
      case 'step.delta': {
        const delta = objectAt(data, 'delta') ?? {}
        if (delta.type === 'text') return slotsAt(delta, ['delta'], ['text'], () => `${place}/text`)
        return slotsAt(delta.content, ['delta', 'content'], ['text'], () => `${place}/thought`)
      }
      case 'step.start':
        return stepSlots(data.step, ['step'])
      default:
        return interactionSlots(objectAt(data, 'interaction') ?? {}, ['interaction'])
    }
  },
  inReply: (reply) => interactionSlots(reply, []),
  closedBy: (data) => (data.event_type === 'step.delta' && isText(data) ? [] : ['']),
  unfinished: (data) => data,
  stoppedReply: (reply) => ({ ...reply, status: 'incomplete' }),
  stoppedEvents: (seen) => [
    { event_type: 'interaction.completed', interaction: interactionSoFar(seen), event_id: nextId(textAt(seen.last, 'event_id')) },
  ],
}

function interactionSoFar({ first, texts, usage }: SeenEvents): JsonObject {
  const steps = [...texts].flatMap(([textId, text]) =>
    textId.endsWith('/text') ? [{ type: 'model_output', content: [{ type: 'text', text }] }] : [],
  )
  return { ...objectAt(first, 'interaction'), status: 'incomplete', steps, usage: writeInteractionUsage(usage) }
}

/** The vendor's ids are no numbers. */
function nextId(id: string): string {
  return /^\d{1,9}$/.test(id) ? String(Number(id) + 1) : `${id}_end`
}

function isText(data: JsonObject): boolean {
  const { type } = objectAt(data, 'delta') ?? {}
  return type === 'text' || type === 'thought_summary'
}

function interactionSlots(interaction: JsonObject, path: Path): TextSlot[] {
  const steps = arrayAt(interaction, 'steps').flatMap((step, index) => stepSlots(step, [...path, 'steps', index]))
  return [...steps, ...slotsAt(interaction, path, ['output_text'], wholeText)]
}

function stepSlots(step: unknown, path: Path): TextSlot[] {
  if (!isObject(step)) return []
  return ['summary', 'content'].flatMap((list) =>
    arrayAt(step, list).flatMap((part, index) => slotsAt(part, [...path, list, index], ['text'], wholeText)),
  )
}
