import type { ChannelSetting } from '../../contract/entities/channel.ts'
import type { Format } from '../protocols/format.ts'
import type { JsonObject } from '../protocols/wire-format.ts'
import { changedMembers, overrideBody, type RuleContext } from './override.ts'
import { promptOf, withSystemPrompt } from './system-prompt.ts'

/**
 * The top-level members that a channel's settings change in a body of its own format, with undefined for one that goes: its
 * instructions first, then its rules. Pure.
 */
export function ownMembers(
  setting: ChannelSetting,
  format: Format,
  body: JsonObject,
  context: RuleContext,
): Record<string, unknown> {
  if (!hasOwnWords(setting)) return {}
  const prompted = withSystemPrompt(format, body, promptOf(setting))
  return changedMembers(body, overrideBody(prompted, setting.param_override, context))
}

/** Whether a channel's settings change bodies at all. */
export function hasOwnWords({ system_prompt, param_override }: ChannelSetting): boolean {
  return system_prompt !== undefined || param_override !== undefined
}
