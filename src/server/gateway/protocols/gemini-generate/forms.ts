import { arrayAt, isObject, type JsonObject, objectAt, textAt } from '../wire-format.ts'
import { PartialArgs } from './partial-args.ts'

/** One reply from the chunks of a stream: each is a complete reply, whose parts continue the earlier ones. */
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
    content: { parts: withWholeCalls(parts), role: 'model' },
    ...candidate,
    index,
  }))
  // The reply to a blocked prompt has no candidates at all.
  return gathered.length === 0 && objectAt(whole, 'promptFeedback') ? whole : { candidates: gathered, ...whole }
}

/** Appends parts; the pieces of one text become one part again. */
export function joinParts(parts: JsonObject[], more: readonly JsonObject[]): void {
  for (const part of more) {
    const last = parts.at(-1)
    if (last && isPlainText(last) && typeof part.text === 'string' && isSameVoice(last, part)) {
      parts[parts.length - 1] = { ...last, ...part, text: `${last.text}${part.text}` }
    } else parts.push(part)
  }
}

/** Joins calls whose arguments are sent in pieces into one part each, as in a non-streamed reply. */
function withWholeCalls(parts: readonly JsonObject[]): JsonObject[] {
  const whole: JsonObject[] = []
  let open: { readonly part: JsonObject; readonly args: PartialArgs } | undefined
  const close = () => {
    if (!open) return
    const { partialArgs: _, willContinue: __, ...call } = objectAt(open.part, 'functionCall') ?? {}
    whole.push({ ...open.part, functionCall: { ...call, args: JSON.parse(open.args.json) } })
    open = undefined
  }
  for (const part of parts) {
    const call = objectAt(part, 'functionCall')
    const pieces = arrayAt(call ?? {}, 'partialArgs')
    if (!call || textAt(call, 'name') !== '') close()
    if (call && (open || pieces.length > 0 || call.willContinue === true)) {
      open ??= { part, args: new PartialArgs(objectAt(call, 'args')) }
      open.args.add(pieces)
      if (call.willContinue !== true) close()
    } else whole.push(part)
  }
  close()
  return whole
}

/** A part with a signature is complete. */
function isPlainText(part: JsonObject): boolean {
  return typeof part.text === 'string' && part.thoughtSignature === undefined
}

function isSameVoice(one: JsonObject, other: JsonObject): boolean {
  return (one.thought === true) === (other.thought === true)
}
