import type { ChannelSetting } from '../../../../contract/entities/channel.ts'
import type { Dialogue } from '../../protocols/dialogue.ts'
import type { Format } from '../../protocols/format.ts'
import { formats } from '../../protocols/index.ts'
import type { JsonObject } from '../../protocols/wire-format.ts'

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
  const { systemPrompt } = formats[format]
  if (!systemPrompt || text.trim() === '' || (mode === 'fill' && systemPrompt.hasInstructions(body))) return body
  return systemPrompt.prepend(body, text)
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
