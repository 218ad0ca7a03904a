import type { Opaque, ReasoningPart } from '../dialogue.ts'
import { arrayAt, isObject, type JsonObject, objectAt, textAt } from '../wire-format.ts'

/**
 * Reasoning of an earlier turn that the caller sent back: from Anthropic's signed blocks if present, since they contain the same
 * text, else from any of the text members. Source: protocols notes 3.7.
 */
export function readPastReasoning(message: JsonObject): ReasoningPart[] {
  const blocks = arrayAt(message, 'thinking_blocks').filter(isObject).flatMap(readThinkingBlock)
  if (blocks.length > 0) return blocks
  const text =
    textAt(message, 'reasoning_content') || textAt(message, 'reasoning') || detailsText(arrayAt(message, 'reasoning_details'))
  const details = sealedDetails(arrayAt(message, 'reasoning_details'))
  return text === '' && !details ? [] : [{ kind: 'reasoning', text, ...(details ? { opaque: details } : {}) }]
}

/** The signature that Gemini adds to a call or a text. */
export function thoughtSignature(value: JsonObject): { opaque?: Opaque } {
  const signature = textAt(objectAt(objectAt(value, 'extra_content') ?? {}, 'google') ?? {}, 'thought_signature')
  return signature === '' ? {} : { opaque: { family: 'google', kind: 'signature', value: signature } }
}

/** A block of `thinking_blocks`: signed or encrypted thinking. */
export function readThinkingBlock(block: JsonObject): ReasoningPart[] {
  const [signature, data] = [textAt(block, 'signature'), textAt(block, 'data')]
  if (block.type === 'redacted_thinking' && data !== '')
    return [{ kind: 'reasoning', text: '', opaque: { family: 'anthropic', kind: 'redacted', value: data } }]
  if (block.type !== 'thinking') return []
  const opaque: Opaque = { family: 'anthropic', kind: 'signature', value: signature }
  return [{ kind: 'reasoning', text: textAt(block, 'thinking'), ...(signature === '' ? {} : { opaque }) }]
}

/** The text in OpenRouter's typed list. */
export function detailsText(details: readonly unknown[]): string {
  return details
    .filter(isObject)
    .map((detail) => textAt(detail, 'text') || textAt(detail, 'summary'))
    .join('')
}

const sealedMark = 'reasoning_details:'

/** OpenRouter's list as opaque state for hosts of the same kind, if it contains more than text. */
export function sealedDetails(details: readonly unknown[]): Opaque | undefined {
  const isSealed = details.some((detail) => isObject(detail) && (textAt(detail, 'signature') || textAt(detail, 'data')) !== '')
  return isSealed ? { family: 'openai', kind: 'signature', value: sealedMark + JSON.stringify(details) } : undefined
}

/** The list in such opaque state; undefined when the state is of another kind. */
export function openedDetails({ family, value }: Opaque): readonly unknown[] | undefined {
  if (family !== 'openai' || !value.startsWith(sealedMark)) return undefined
  try {
    const details: unknown = JSON.parse(value.slice(sealedMark.length))
    return Array.isArray(details) ? details : undefined
  } catch {
    return undefined
  }
}
