import { groupsOf, type ReplyTexts, slotsAt, type TextSlot } from '../text-slots.ts'
import { arrayAt, isObject, type JsonObject, objectAt, textAt } from '../wire-format.ts'
import { writeGeminiUsage } from './usage.ts'

/** Texts of generateContent: those of each candidate's parts, with thoughts separate. */
export const geminiTexts: ReplyTexts = {
  inEvent: (data) => candidatesOf(data).flatMap(({ candidate, group, at }) => partSlots(candidate, at, group)),
  inReply: (reply) => candidatesOf(reply).flatMap(({ candidate, at }) => partSlots(candidate, at, undefined)),
  closedBy: (data) =>
    candidatesOf(data)
      .filter(({ candidate }) => textAt(candidate, 'finishReason') !== '' || partsOf(candidate).some((part) => !hasText(part)))
      .map(({ group }) => group),
  unfinished({ usageMetadata: _, ...data }) {
    const candidates = arrayAt(data, 'candidates').map((candidate) => {
      if (!isObject(candidate)) return candidate
      const { finishReason: _reason, finishMessage: _message, ...rest } = candidate
      return rest
    })
    return { ...data, candidates }
  },
  stoppedReply: (reply) => ({
    ...reply,
    candidates: arrayAt(reply, 'candidates').map((candidate) =>
      isObject(candidate) ? { ...candidate, finishReason: blocked } : candidate,
    ),
  }),
  stoppedEvents({ last: { candidates: _, ...head }, texts, usage }) {
    const candidates = groupsOf(texts).map((group) => ({
      index: Number(group),
      content: { role: 'model', parts: [{ text: '' }] },
      finishReason: blocked,
    }))
    return [{ ...head, candidates, usageMetadata: writeGeminiUsage(usage) }]
  },
}

/** The vendor's finish reason for a text with forbidden terms. */
const blocked = 'BLOCKLIST'

function candidatesOf(data: JsonObject): { candidate: JsonObject; group: string; at: number }[] {
  return arrayAt(data, 'candidates').flatMap((candidate, at) =>
    isObject(candidate) ? [{ candidate, group: String(typeof candidate.index === 'number' ? candidate.index : at), at }] : [],
  )
}

function partsOf(candidate: JsonObject): unknown[] {
  return [...arrayAt(objectAt(candidate, 'content') ?? {}, 'parts')]
}

function partSlots(candidate: JsonObject, at: number, group: string | undefined): TextSlot[] {
  return partsOf(candidate).flatMap((part, index) => {
    const kind = isObject(part) && part.thought === true ? 'thought' : 'text'
    const textId = group === undefined ? undefined : `${group}/${kind}`
    return slotsAt(part, ['candidates', at, 'content', 'parts', index], ['text'], () => textId)
  })
}

function hasText(part: unknown): boolean {
  return isObject(part) && typeof part.text === 'string'
}
