import type { ChannelSetting } from '../../../contract/entities/channel.ts'
import type { Format } from '../protocols/format.ts'
import type { JsonObject } from '../protocols/wire-format.ts'
import { changedMembers, overrideBody, type RuleContext } from './override.ts'
import { promptOf, withSystemPrompt } from './system-prompt.ts'

/**
 * The top-level members that the settings of a channel override in a body of its own format, undefined for a removed one: first its
 * system prompt, then its rules. Pure.
 */
export function bodyOverrides(
  setting: ChannelSetting,
  format: Format,
  body: JsonObject,
  context: RuleContext,
): Record<string, unknown> {
  if (!hasBodyOverrides(setting)) return {}
  const prompted = withSystemPrompt(format, body, promptOf(setting))
  return changedMembers(body, overrideBody(prompted, setting.param_override, context))
}

/** Whether the settings of a channel override members of the body at all. */
export function hasBodyOverrides({ system_prompt, param_override }: ChannelSetting): boolean {
  return system_prompt !== undefined || param_override !== undefined
}
