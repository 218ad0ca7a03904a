import { type Path, type ReplyTexts, type SeenEvents, slotsAt, type TextSlot } from '../text-slots.ts'
import { arrayAt, countAt, isObject, type JsonObject, objectAt, textAt } from '../wire-format.ts'
import { writeResponsesUsage } from './usage.ts'

const textEvents = /^response\.(output_text|refusal|reasoning_text|reasoning_summary_text)\.(delta|done)$/
const partEvents = /^response\.(content_part|reasoning_summary_part)\.(added|done)$/
const wholeText = () => undefined

/** Texts of Responses: sent as pieces, and repeated in full when a text, a part, an item and the response are complete. */
export const responsesTexts: ReplyTexts = {
  inEvent(data) {
    const type = textAt(data, 'type')
    const [, kind = '', moment] = textEvents.exec(type) ?? []
    if (moment === 'delta') return slotsAt(data, [], ['delta'], () => `${groupOf(data)}/${kind}`)
    if (moment === 'done') return slotsAt(data, [], ['text', 'refusal'], wholeText)
    if (partEvents.test(type)) return slotsAt(data.part, ['part'], ['text', 'refusal'], wholeText)
    if (type === 'response.output_item.done') return itemSlots(data.item, ['item'])
    return outputSlots(objectAt(data, 'response') ?? {}, ['response'])
  },
  inReply: (reply) => outputSlots(reply, []),
  closedBy: ({ type }) => (typeof type === 'string' && textEvents.test(type) && type.endsWith('.delta') ? [] : ['']),
  unfinished: (data) => data,
  stoppedReply,
  stoppedEvents: (seen) => [
    { type: 'response.incomplete', sequence_number: countAt(seen.last, 'sequence_number') + 1, response: responseSoFar(seen) },
  ],
}

function groupOf(data: JsonObject): string {
  const part = data.content_index ?? data.summary_index
  return `${textAt(data, 'item_id') || countAt(data, 'output_index')}:${typeof part === 'number' ? part : 0}`
}

function outputSlots(response: JsonObject, path: Path): TextSlot[] {
  return arrayAt(response, 'output').flatMap((item, index) => itemSlots(item, [...path, 'output', index]))
}

function itemSlots(item: unknown, path: Path): TextSlot[] {
  if (!isObject(item)) return []
  return ['summary', 'content'].flatMap((list) =>
    arrayAt(item, list).flatMap((part, index) => slotsAt(part, [...path, list, index], ['text', 'refusal'], wholeText)),
  )
}

function stoppedReply(reply: JsonObject): JsonObject {
  return { ...reply, status: 'incomplete', incomplete_details: { reason: 'content_filter' } }
}

function responseSoFar({ first, texts, usage }: SeenEvents): JsonObject {
  const output = [...texts].flatMap(([textId, text]) => {
    const [place = '', kind] = textId.split('/')
    const content = [{ type: 'output_text', text, annotations: [], logprobs: [] }]
    const id = place.slice(0, place.lastIndexOf(':'))
    return kind === 'output_text' ? [{ type: 'message', id, status: 'incomplete', role: 'assistant', content }] : []
  })
  return stoppedReply({ ...objectAt(first, 'response'), output, usage: writeResponsesUsage(usage) })
}
