import { shortHash } from '../call-ids.ts'
import type { RequestContext, WrittenRequest } from '../codec.ts'
import type { Dialogue } from '../dialogue.ts'
import { lose, refuseLogprobs } from '../lost-fields.ts'
import { isObject, type JsonObject } from '../wire-format.ts'
import { type Block, limitCacheMarks } from './cache-marks.ts'
import { rulesOf } from './models.ts'
import { upstreamModel, writeThinking } from './thinking.ts'
import { writeMessages } from './write-messages.ts'
import { writeOutput } from './write-output.ts'
import { writeSampling } from './write-sampling.ts'
import { writeSystem } from './write-system.ts'
import { forcesTool, writeTools } from './write-tools.ts'

/**
 * A Messages request that is valid for every model and in every version. Throws `untranslatable` where the answer would be wrong, and
 * reports lost members through `context.lose`. Source: protocols notes 1.12, 2.4 and 3.1 to 3.9.
 */
export function writeRequest(dialogue: Dialogue, context: RequestContext): WrittenRequest {
  refuseLogprobs(dialogue)
  if (dialogue.cacheKey) lose(dialogue, context, 'cacheKey')
  const model = upstreamModel(dialogue, context)
  const rules = rulesOf(model)
  const thinking = writeThinking(dialogue, context, rules, { forcesTool: forcesTool(dialogue) })
  const output = writeOutput(dialogue, context, rules, thinking)
  const { tools, toolChoice, toolNames, toUpstream, customTools } = writeTools(dialogue, context, { rules, thinking, output })
  const system = writeSystem(dialogue, output.instruction)
  const messages = writeMessages(dialogue, context, { rules, thinking, toUpstream })
  const config = { ...(thinking.effort ? { effort: thinking.effort } : {}), ...(output.format ? { format: output.format } : {}) }
  const stop = writeStop(dialogue, context)

  const body: Record<string, unknown> = {
    model,
    max_tokens: thinking.outputTokensMax,
    ...(system.length > 0 ? { system: joinedSystem(system) } : {}),
    messages,
    ...(tools.length > 0 ? { tools, ...(toolChoice ? { tool_choice: toolChoice } : {}) } : {}),
    ...(thinking.thinking ? { thinking: thinking.thinking } : {}),
    ...(Object.keys(config).length > 0 ? { output_config: config } : {}),
    ...writeSampling(dialogue, context, rules, thinking),
    ...(stop.length > 0 ? { stop_sequences: stop } : {}),
    ...(dialogue.user ? { metadata: { user_id: userId(dialogue.user) } } : {}),
    ...(dialogue.stream ? { stream: true } : {}),
    ...writeExtra(dialogue, context),
  }
  limitCacheMarks({ tools, system, messages, isAutomatic: isObject(body.cache_control) })
  leaveOutRefused(body, context)

  return {
    body,
    ...(toolNames.size > 0 ? { toolNames } : {}),
    ...(output.answerTool ? { answerTool: output.answerTool.name } : {}),
    ...(customTools.size > 0 ? { customTools } : {}),
  }
}

/** Instructions are one string, or blocks if there is a cache breakpoint. */
function joinedSystem(system: readonly Block[]): string | readonly Block[] {
  return system.some((block) => block.cache_control !== undefined) ? system : system.map((block) => block.text).join('\n\n')
}

/** The vendor refuses sequences of only white space. */
function writeStop(dialogue: Dialogue, context: RequestContext): string[] {
  const stop = dialogue.stop.filter((sequence) => sequence.trim() !== '')
  if (dialogue.stop.some((sequence) => sequence !== '' && sequence.trim() === '')) lose(dialogue, context, 'stop')
  return stop
}

/** The vendor accepts at most 256 characters. */
function userId(user: string): string {
  return user.length <= 256 ? user : shortHash(user, 40)
}

function writeExtra({ from, extra }: Dialogue, context: RequestContext): JsonObject {
  if (from === 'anthropic.messages') return extra
  for (const [member, value] of Object.entries(extra)) if (!isNeutral(member, value)) context.lose(member)
  return {}
}

/** Whether leaving a member out changes nothing. */
function isNeutral(member: string, value: unknown): boolean {
  if (value === undefined || value === null || value === false || value === '' || value === 0) return true
  if (typeof value === 'object') return Object.keys(value).length === 0
  return neutral.get(member)?.includes(value) ?? false
}

const neutral: ReadonlyMap<string, readonly unknown[]> = new Map([
  ['service_tier', ['auto', 'default']],
  ['verbosity', ['medium']],
  ['truncation', ['disabled']],
])

/** Removes and reports members that this upstream refuses according to its provider. */
function leaveOutRefused(body: Record<string, unknown>, { quirks, lose }: RequestContext): void {
  for (const member of quirks.refuses ?? []) {
    if (body[member] === undefined) continue
    delete body[member]
    lose(member)
  }
}
