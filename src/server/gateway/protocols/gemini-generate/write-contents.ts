import { fail } from '../../../base/lib/failure.ts'
import type { RequestContext } from '../codec.ts'
import type { Dialogue, Part, ToolResultPart, Turn } from '../dialogue.ts'
import { fieldNameFor, lose } from '../lost-fields.ts'
import { unknownSignature } from '../model-families.ts'
import { endingAnswerably, mergeTurns, repairToolResults } from '../turns.ts'
import { isObject, type JsonObject } from '../wire-format.ts'
import type { GeminiModel } from './models.ts'
import { callArgs, wellFormed, writeMedia } from './write-parts.ts'

interface Facts {
  readonly model: GeminiModel
  toUpstream(name: string): string
}

/**
 * The turns as contents that alternate, begin and end with the user, with function responses first. Throws `untranslatable` when
 * nothing remains, or the answer is prefilled. Source: protocols notes 3.1 to 3.4.
 */
export function writeContents(dialogue: Dialogue, context: RequestContext, facts: Facts): JsonObject[] {
  const merged = mergeTurns(repairToolResults(dialogue.turns.map(plainTurn).filter(({ parts }) => parts.length > 0)))
  const turns = endingAnswerably(dialogue, context, { turns: merged, takes: 'refused' })
  if (turns.length === 0) refuse(dialogue, { zh: '没有任何内容', en: 'nothing is said in them' })

  const contents = turns.map(({ role, parts }) =>
    role === 'assistant'
      ? { role: 'model', parts: modelParts(parts, dialogue, context, facts) }
      : { role: 'user', parts: userParts(parts, dialogue, context, facts) },
  )
  // A turn is dropped if all of its parts were of another family.
  const filled = contents.filter(({ parts }) => parts.length > 0)
  return filled[0]?.role === 'model' ? [{ role: 'user', parts: [{ text: '.' }] }, ...filled] : filled
}

/** Instructions in the middle become marked user text. Empty texts and thinking of other families are removed. */
function plainTurn(turn: Turn): Turn {
  const parts = turn.parts.filter(isSaid)
  if (turn.role !== 'system') return { ...turn, parts }
  const text = parts.flatMap((part) => (part.kind === 'text' ? [part.text] : [])).join('\n\n')
  return { role: 'user', parts: text === '' ? [] : [{ kind: 'text', text: `<system-reminder>\n${text}\n</system-reminder>` }] }
}

function isSaid(part: Part): boolean {
  if (part.kind === 'reasoning') return part.opaque?.family === 'google'
  return part.kind !== 'text' || part.text !== '' || part.opaque?.family === 'google'
}

/**
 * Gemini signs calls and text, and requires no thoughts in the history: the signature of a thought, as other formats have it, belongs
 * to the part after it.
 */
function modelParts(
  parts: readonly Part[],
  { from }: Dialogue,
  context: RequestContext,
  { model, toUpstream }: Facts,
): JsonObject[] {
  const written: JsonObject[] = []
  let waiting: string | undefined
  const firstCall = parts.find(({ kind }) => kind === 'tool-call')
  for (const part of parts) {
    const own = 'opaque' in part && part.opaque?.family === 'google' ? part.opaque.value : undefined
    if (part.kind === 'reasoning') waiting = own
    const needed = part === firstCall && model.needsSignatures ? unknownSignature : undefined
    const signature = model.isOld ? undefined : (own ?? waiting ?? needed)
    const plain = modelPart(part, toUpstream)
    if (part.kind === 'media') context.lose(`${fieldNameFor(from, 'turns')}.${part.media}`)
    if (!plain) continue
    written.push({ ...plain, ...(signature === undefined ? {} : { thoughtSignature: signature }) })
    waiting = undefined
  }
  return written
}

function modelPart(part: Part, toUpstream: Facts['toUpstream']): JsonObject | undefined {
  switch (part.kind) {
    case 'text':
    case 'refusal':
      return { text: part.text.toWellFormed() }
    case 'tool-call':
      return { functionCall: { id: part.callId, name: toUpstream(part.name), args: callArgs(part) } }
    default:
      return undefined
  }
}

function userParts(parts: readonly Part[], dialogue: Dialogue, context: RequestContext, facts: Facts): JsonObject[] {
  const results = parts.filter((part) => part.kind === 'tool-result')
  const written = results.map((result) => writeResult(result, dialogue, context, facts))
  const carried = parts.flatMap((part) => {
    if (part.kind === 'text') return part.text === '' ? [] : [{ text: part.text.toWellFormed() }]
    return part.kind === 'media' ? [writeMedia(part, dialogue, context, facts.model)] : []
  })
  return [...written.map(({ response }) => response), ...written.flatMap(({ behind }) => behind), ...carried]
}

/** The result of a function, with its media inside, or after all results for models that accept none there. */
function writeResult(result: ToolResultPart, dialogue: Dialogue, context: RequestContext, { model, toUpstream }: Facts) {
  const texts = result.parts.flatMap((part) => {
    if (part.kind === 'text') return [part.text]
    return part.source.kind === 'text' ? [part.source.text] : []
  })
  const media = result.parts
    .filter((part) => part.kind === 'media')
    .filter(({ source }) => source.kind !== 'text')
    .map((part) => writeMedia(part, dialogue, context, model))
  const isInside = model.richParts && media.every((part) => 'inlineData' in part)
  if (isInside && media.some((part) => 'mediaResolution' in part)) lose(dialogue, context, 'detail')
  const response = {
    functionResponse: {
      id: result.callId,
      name: toUpstream(result.name ?? ''),
      response: writeOutcome(texts.join('\n').toWellFormed(), result.isError),
      ...(isInside && media.length > 0 ? { parts: media.map(({ inlineData }) => ({ inlineData })) } : {}),
    },
  }
  return { response, behind: isInside ? [] : media }
}

/** An object is written unchanged; Gemini would resolve a `$ref` in it as one of its own references. */
function writeOutcome(text: string, isError: boolean): JsonObject {
  if (isError) return { error: text }
  if (!text.trimStart().startsWith('{')) return { result: text }
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) && !hasReference(value) ? (wellFormed(value) as JsonObject) : { result: text }
  } catch {
    return { result: text }
  }
}

function hasReference(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(hasReference)
  return isObject(value) && Object.entries(value).some(([key, member]) => key === '$ref' || hasReference(member))
}

function refuse({ from }: Dialogue, reason: { zh: string; en: string }): never {
  return fail('untranslatable', { field: fieldNameFor(from, 'turns'), reason })
}
