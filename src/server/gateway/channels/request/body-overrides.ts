import type { ChannelSetting } from '../../../../contract/entities/channel.ts'
import type { Format } from '../../protocols/format.ts'
import { formats } from '../../protocols/index.ts'
import type { JsonObject } from '../../protocols/wire-format.ts'
import { changedMembers, overrideBody, type RuleContext } from './override.ts'
import { promptOf, withSystemPrompt } from './system-prompt.ts'

interface OverrideContext extends RuleContext {
  /** The version of the vendor's interface in the header of the request, if it has one. */
  readonly version?: string
}

/**
 * The top-level members that the settings of a channel override in a body of its own format, undefined for a removed one: first its
 * system prompt, then its rules. Pure.
 */
export function bodyOverrides(
  setting: ChannelSetting,
  format: Format,
  body: JsonObject,
  context: OverrideContext,
): Record<string, unknown> {
  if (!hasBodyOverrides(setting)) return {}
  const prompted = withSystemPrompt(format, body, promptOf(setting))
  return overridden(format, body, overrideBody(prompted, setting.param_override, context), context)
}

/** The members that the rules alone override, in a body that already has the system prompt. Pure. */
export function ruleOverrides(
  { param_override }: ChannelSetting,
  format: Format,
  body: JsonObject,
  context: OverrideContext,
): Record<string, unknown> {
  return param_override === undefined ? {} : overridden(format, body, overrideBody(body, param_override, context), context)
}

/** Whether the settings of a channel override members of the body at all. */
export function hasBodyOverrides({ system_prompt, param_override }: ChannelSetting): boolean {
  return system_prompt !== undefined || param_override !== undefined
}

/** The members that differ. None is set that the vendor refuses in this version of its interface: it would refuse every request. */
function overridden(
  format: Format,
  before: JsonObject,
  after: JsonObject,
  { model, version = '' }: OverrideContext,
): Record<string, unknown> {
  const changes = changedMembers(before, after)
  const refused = formats[format].versions?.refused(after, { model, version }) ?? []
  for (const member of refused) if (changes[member] !== undefined) delete changes[member]
  return changes
}
