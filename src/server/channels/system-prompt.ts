import type { ChannelSetting } from '../../contract/entities/channel.ts'
import type { Dialogue } from '../protocols/dialogue.ts'
import type { Format } from '../protocols/format.ts'
import { arrayAt, isObject, type JsonObject, objectAt, textAt } from '../protocols/wire-format.ts'

/** Instructions that a channel adds to every request: before the caller's own, or only if the caller sends none. */
export interface SystemPrompt {
  readonly text: string
  /** `prepend` when absent. */
  readonly mode?: 'prepend' | 'fill' | undefined
}

/**
 * The body of a request with the channel's instructions where its format has them. The body itself when the format has none, when
 * the prompt is empty, or when `mode` is `fill` and the caller sends instructions. Pure.
 */
export function withSystemPrompt(format: Format, body: JsonObject, { text, mode = 'prepend' }: SystemPrompt): JsonObject {
  const writer = text.trim() === '' ? undefined : writers[format]
  if (!writer || (mode === 'fill' && writer.hasInstructions(body))) return body
  return writer.prepend(body, text)
}

/** Like `withSystemPrompt`, for a conversation in its neutral form. */
export function dialogueWithPrompt(dialogue: Dialogue, { text, mode = 'prepend' }: SystemPrompt): Dialogue {
  const hasInstructions = dialogue.system.length > 0 || dialogue.turns.some(({ role }) => role === 'system')
  if (text.trim() === '' || (mode === 'fill' && hasInstructions)) return dialogue
  return { ...dialogue, system: [{ kind: 'text', text }, ...dialogue.system] }
}

/** The system prompt settings of a channel. */
export function promptOf({ system_prompt = '', system_prompt_mode }: ChannelSetting): SystemPrompt {
  return { text: system_prompt, mode: system_prompt_mode }
}

interface Writer {
  hasInstructions(body: JsonObject): boolean
  prepend(body: JsonObject, text: string): JsonObject
}

const chat: Writer = {
  hasInstructions: (body) => arrayAt(body, 'messages').some(isInstruction),
  prepend(body, text) {
    const [first, ...others] = arrayAt(body, 'messages')
    const messages = isInstruction(first)
      ? [{ ...first, content: joined(text, first.content, (part) => ({ type: 'text', text: part })) }, ...others]
      : [{ role: 'system', content: text }, ...arrayAt(body, 'messages')]
    return { ...body, messages }
  },
}

const messages: Writer = {
  hasInstructions: ({ system }) => isGiven(system),
  prepend: (body, text) => ({ ...body, system: joined(text, body.system, (part) => ({ type: 'text', text: part })) }),
}

const responses: Writer = {
  hasInstructions: (body) => isGiven(body.instructions) || arrayAt(body, 'input').some(isInstruction),
  prepend: (body, text) => ({
    ...body,
    instructions: joined(text, body.instructions, (part) => ({ type: 'input_text', text: part })),
  }),
}

const gemini: Writer = {
  hasInstructions: (body) => arrayAt(objectAt(body, geminiMember(body)) ?? {}, 'parts').length > 0,
  prepend(body, text) {
    const member = geminiMember(body)
    const given = objectAt(body, member) ?? {}
    return { ...body, [member]: { ...given, parts: [{ text }, ...arrayAt(given, 'parts')] } }
  },
}

const writers: Readonly<Partial<Record<Format, Writer>>> = {
  'openai.chat': chat,
  'openai.responses': responses,
  'anthropic.messages': messages,
  'anthropic.count_tokens': messages,
  'gemini.generate': gemini,
}

/** The vendor accepts both spellings. */
function geminiMember(body: JsonObject): string {
  return 'system_instruction' in body ? 'system_instruction' : 'systemInstruction'
}

function isInstruction(message: unknown): message is JsonObject {
  return isObject(message) && ['system', 'developer'].includes(textAt(message, 'role'))
}

function isGiven(instructions: unknown): boolean {
  return Array.isArray(instructions) ? instructions.length > 0 : typeof instructions === 'string' && instructions.trim() !== ''
}

/** Keeps the form that the caller has chosen, a text or a list of parts. */
function joined(text: string, given: unknown, partOf: (text: string) => JsonObject): unknown {
  if (Array.isArray(given)) return [partOf(text), ...given]
  return isGiven(given) ? `${text}\n\n${given}` : text
}
