import { arrayAt, isObject, type JsonObject, objectAt } from '../wire-format.ts'

/** One reply out of the chunks of a stream: each is a reply of its own, whose parts follow on those before. */
export function gatherGenerate(chunks: readonly JsonObject[]): JsonObject {
  const candidates = new Map<number, { candidate: JsonObject; parts: JsonObject[] }>()
  let whole: JsonObject = {}
  for (const { candidates: some, ...rest } of chunks) {
    whole = { ...whole, ...rest }
    for (const piece of Array.isArray(some) ? some.filter(isObject) : []) {
      const index = typeof piece.index === 'number' ? piece.index : 0
      const { content, ...more } = piece
      const before = candidates.get(index) ?? { candidate: {}, parts: [] }
      joinParts(before.parts, isObject(content) ? arrayAt(content, 'parts').filter(isObject) : [])
      candidates.set(index, { candidate: { ...before.candidate, ...more }, parts: before.parts })
    }
  }

  const ordered = [...candidates].sort(([a], [b]) => a - b)
  const gathered = ordered.map(([index, { candidate, parts }]) => ({
    content: { parts, role: 'model' },
    ...candidate,
    index,
  }))
  // A blocked prompt has no candidates at all.
  return gathered.length === 0 && objectAt(whole, 'promptFeedback') ? whole : { candidates: gathered, ...whole }
}

/** Adds parts behind others; pieces of one text become one part again. */
export function joinParts(parts: JsonObject[], more: readonly JsonObject[]): void {
  for (const part of more) {
    const last = parts.at(-1)
    if (last && isPlainText(last) && typeof part.text === 'string' && isSameVoice(last, part)) {
      parts[parts.length - 1] = { ...last, ...part, text: `${last.text}${part.text}` }
    } else parts.push(part)
  }
}

/** What carries a signature ends there. */
function isPlainText(part: JsonObject): boolean {
  return typeof part.text === 'string' && part.thoughtSignature === undefined
}

function isSameVoice(one: JsonObject, other: JsonObject): boolean {
  return (one.thought === true) === (other.thought === true)
}
