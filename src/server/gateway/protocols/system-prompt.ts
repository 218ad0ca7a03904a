import { isObject, type JsonObject, textAt } from './wire-format.ts'

/** Where a request of a format has its instructions. */
export interface SystemPromptMember {
  hasInstructions(body: JsonObject): boolean
  /** The body with this text before its own instructions. */
  prepend(body: JsonObject, text: string): JsonObject
}

/** Instructions as a top-level member: a text, or a list of parts. */
export function systemPromptIn(member: string, partOf: (text: string) => JsonObject): SystemPromptMember {
  return {
    hasInstructions: (body) => isGiven(body[member]),
    prepend: (body, text) => ({ ...body, [member]: withText(body[member], text, partOf) }),
  }
}

/** Whether a message of a conversation has instructions. */
export function isInstruction(message: unknown): message is JsonObject {
  return isObject(message) && ['system', 'developer'].includes(textAt(message, 'role'))
}

/** Instructions with a text before them, in the form that the caller has chosen: a text, or a list of parts. */
export function withText(given: unknown, text: string, partOf: (text: string) => JsonObject): unknown {
  if (Array.isArray(given)) return [partOf(text), ...given]
  return isGiven(given) ? `${text}\n\n${given}` : text
}

function isGiven(instructions: unknown): boolean {
  return Array.isArray(instructions) ? instructions.length > 0 : typeof instructions === 'string' && instructions.trim() !== ''
}
