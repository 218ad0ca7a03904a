import { unknownSignature } from '../model-families.ts'
import { type LeavingThoughts, type PastThoughts, refusedThoughts, splicedEntries } from '../past-thoughts.ts'
import { arrayAt, isObject, type JsonObject } from '../wire-format.ts'
import { eitherObject, eitherText } from './members.ts'
import { geminiModel } from './models.ts'

/**
 * Signatures of thoughts in the contents of earlier turns. Gemini requires no thoughts in the history, so that only the signatures
 * are left out; a call has the vendor's placeholder in their place where the model refuses one without. Source: protocols notes 3.7.
 */
export const pastSignatures: PastThoughts = {
  has: (body) => signedParts(body).length > 0,
  seals: (body) => signedParts(body).map(signatureOf),
  changes,
  without({ json, bytes }, model, asked) {
    const changed = changes(json, model, asked)
    if (!changed) return undefined
    const contents = { key: 'contents', before: arrayAt(json, 'contents'), after: changed.changes.contents }
    return { json: { ...json, ...changed.changes }, bytes: splicedEntries(bytes, contents), dropped: changed.dropped }
  },
}

function changes(body: JsonObject, model: string, asked: LeavingThoughts = {}) {
  const refused = refusedThoughts(signedParts(body), signatureOf, asked)
  if (refused.size === 0) return undefined
  const { needsSignatures } = geminiModel(model)
  const contents = arrayAt(body, 'contents').flatMap((content) => {
    const parts = partsOf(content)
    if (!isObject(content) || !parts.some((part) => refused.has(part))) return [content]
    const kept = parts.flatMap((part) => (refused.has(part) ? unsigned(part, needsSignatures) : [part]))
    return kept.length > 0 ? [{ ...content, parts: kept }] : []
  })
  return { changes: { contents }, dropped: ['contents.thoughtSignature'] }
}

/** A part without its signature; none where an empty text has only carried it. */
function unsigned({ thoughtSignature: _, thought_signature: __, ...part }: JsonObject, needsSignatures: boolean): JsonObject[] {
  if (needsSignatures && eitherObject(part, 'functionCall')) return [{ ...part, thoughtSignature: unknownSignature }]
  return Object.entries(part).every(([key, value]) => key === 'thought' || (key === 'text' && value === '')) ? [] : [part]
}

function signedParts(body: JsonObject): JsonObject[] {
  return arrayAt(body, 'contents')
    .flatMap(partsOf)
    .filter((part) => signatureOf(part) !== '' && signatureOf(part) !== unknownSignature)
}

function signatureOf(part: JsonObject): string {
  return eitherText(part, 'thoughtSignature')
}

function partsOf(content: unknown): JsonObject[] {
  return isObject(content) ? arrayAt(content, 'parts').filter(isObject) : []
}
