import { fail } from '../../../base/lib/failure.ts'
import { shortHash } from '../call-ids.ts'
import type { Codec } from '../codec.ts'
import type { Dialogue } from '../dialogue.ts'
import { jsonInstruction, mentionsJson } from '../json-answer.ts'
import { type Field, fieldNameFor, hasCacheMarks, hasPlacelessMarks, loseAllBut } from '../lost-fields.ts'
import { type EffortWord, effortOf, nearestEffort } from '../openai-chat/models.ts'
import { fitsStrict } from '../openai-chat/strict-schema.ts'
import { isForeignTier } from '../tiers.ts'
import { arrayAt, definedMembers, type JsonObject } from '../wire-format.ts'
import { writeInput } from './input-write.ts'
import { outputTokensMin } from './models.ts'
import { includedLogprobs } from './request-read.ts'
import { writeTools } from './tools-write.ts'
import { beginWriting, type Writing } from './writing.ts'

/**
 * A Responses request from the neutral form. Nothing is stored upstream, so reasoning is requested and sent back in encrypted form.
 * Members that the model would refuse are left out and reported. Throws `untranslatable` if that would change the meaning. Source:
 * protocols notes 1.3, 2.2 and 3.1 to 3.9.
 */
export const writeRequest: Codec['writeRequest'] = (dialogue, context) => {
  const writing = beginWriting(dialogue, context)
  const { members, extra } = shareExtra(dialogue)
  loseAllBut({ ...dialogue, extra }, context, carried)
  if (losesCacheMarks(writing)) writing.loseField('cache')
  const effort = effortFor(writing)
  const logprobs = logprobsFor(writing)
  const tools = writeTools(writing)
  const json = dialogue.output?.kind === 'json' && !mentionsJson({ ...dialogue, system: [] })
  const { instructions, input } = writeInput(writing, {
    keepsCustom: tools.keepsCustom,
    instructions: json ? [jsonInstruction({ kind: 'json' })] : [],
  })

  const body = definedMembers({
    model: context.model,
    instructions,
    input,
    ...tools.members,
    ...writeSampling(writing, effort),
    max_output_tokens: outputLimit(dialogue),
    reasoning: nonEmpty({
      effort,
      summary: effort !== 'none' && asksForSummary(dialogue) ? 'auto' : undefined,
      context: members['reasoning.context'],
      mode: members['reasoning.mode'],
    }),
    ...(effort === undefined && dialogue.reasoning?.mode === 'off' ? switchedOff(writing) : {}),
    text: nonEmpty({ format: writeFormat(dialogue), verbosity: members.verbosity }),
    include: includes(writing, [...(logprobs ? [includedLogprobs] : []), ...arrayAt(members, 'include')]),
    top_logprobs: logprobs && logprobs.top > 0 ? logprobs.top : undefined,
    store: false,
    stream: dialogue.stream || undefined,
    user: shortUser(dialogue.user),
    prompt_cache_key: dialogue.cacheKey,
    ...platformMembers(writing, members),
  })
  return {
    body: withoutRefused(body, writing),
    ...(writing.names.toCaller.size > 0 ? { toolNames: writing.names.toCaller } : {}),
    ...(tools.customTools.size > 0 ? { customTools: tools.customTools } : {}),
  }
}

/** Fields of the format: if a model or host lacks one, its writer reports the loss. */
const carried: readonly Field[] = [
  'temperature',
  'topP',
  'outputTokensMax',
  'reasoning',
  'output',
  'logprobs',
  'search',
  'tools',
  'toolChoice',
  'parallelTools',
  'user',
  'cacheKey',
  'cache',
  'detail',
  'strictTools',
]

/** Top-level members that OpenAI's formats share. */
const shared = [
  'max_tool_calls',
  'metadata',
  'moderation',
  'prompt_cache_options',
  'prompt_cache_retention',
  'safety_identifier',
  'truncation',
]
/** Members that are written at another path, under Chat's name if it has one. */
const placed = ['include', 'reasoning.context', 'reasoning.mode', 'service_tier', 'verbosity']
const known = new Set([...shared, ...placed])

function shareExtra({ from, extra }: Dialogue): { members: Dialogue['extra']; extra: Dialogue['extra'] } {
  const isShared = (member: string) => from.startsWith('openai.') && known.has(member)
  const entries = Object.entries(extra)
  return {
    members: Object.fromEntries(entries.filter(([member]) => isShared(member))),
    extra: Object.fromEntries(entries.filter(([member]) => !isShared(member))),
  }
}

/** Instructions, tools, earlier answers and empty results cannot have a breakpoint, nor can any part for models without breakpoints. */
function losesCacheMarks({ dialogue, rules }: Writing): boolean {
  return rules.takesCacheBreakpoints ? hasPlacelessMarks(dialogue) : hasCacheMarks(dialogue)
}

function platformMembers({ rules, lose }: Writing, members: Dialogue['extra']): JsonObject {
  const tier = members.service_tier
  const isScarce = tier === 'flex' || tier === 'priority'
  const isRefused = isForeignTier(tier) || (isScarce && rules.serviceTiers !== undefined && !rules.serviceTiers.includes(tier))
  if (isRefused) lose('service_tier')
  const plain = Object.fromEntries(Object.entries(members).filter(([member]) => shared.includes(member)))
  return { ...plain, service_tier: isRefused ? undefined : tier }
}

/** The efforts of unknown hosts. */
const usualEfforts: readonly EffortWord[] = ['low', 'medium', 'high']

/** Undefined when the model decides, or does not support the effort. */
function effortFor({ dialogue: { reasoning, search }, quirks, rules, loseField }: Writing): EffortWord | undefined {
  const wanted = reasoning && effortOf(reasoning)
  if (wanted === undefined) return undefined
  const taken = quirks.thinkingSwitch === 'none' ? [] : (rules.efforts ?? usualEfforts)
  if (taken.length === 0 || (wanted === 'none' && !rules.efforts)) {
    if (wanted !== 'none') loseField('reasoning')
    return undefined
  }
  const effort = nearestEffort(wanted, taken)
  // The vendor refuses a web search with the lowest effort.
  return search && effort === 'minimal' ? 'low' : effort
}

/** Volcengine has its own switch in addition to the effort. */
function switchedOff({ quirks }: Writing): JsonObject {
  return quirks.thinkingSwitch === 'thinking-type' ? { thinking: { type: 'disabled' } } : {}
}

function asksForSummary({ reasoning }: Dialogue): boolean {
  return reasoning?.mode !== 'off' && (reasoning?.show === 'summary' || reasoning?.show === 'full')
}

function writeSampling({ dialogue: { sampling }, rules, loseField }: Writing, effort: EffortWord | undefined): JsonObject {
  const refused = [...(rules.refuses ?? []), ...(effort === 'none' ? [] : (rules.refusesReasoning ?? []))]
  const takes = (member: string, field: Field, value: number | undefined) => {
    const isRefused = value !== undefined && refused.includes(member)
    if (isRefused) loseField(field)
    return isRefused ? undefined : value
  }
  return {
    temperature: takes('temperature', 'temperature', sampling.temperature),
    top_p: takes('top_p', 'topP', sampling.topP),
  }
}

/** The vendor refuses a limit below 16. Edge case 199. */
function outputLimit({ outputTokensMax, from }: Dialogue): number | undefined {
  if (outputTokensMax !== 0) return outputTokensMax === undefined ? undefined : Math.max(outputTokensMin, outputTokensMax)
  const reason = { zh: '该协议必须产生输出', en: 'this protocol cannot ask for no output' }
  return fail('untranslatable', { field: fieldNameFor(from, 'outputTokensMax'), reason })
}

function writeFormat({ output, from }: Dialogue): JsonObject | undefined {
  if (!output) return undefined
  if (output.kind === 'json') return { type: 'json_object' }
  const { name, description, schema, strict } = output
  const isOwn = from.startsWith('openai.')
  const isStrict = isOwn ? strict : (strict ?? true) && fitsStrict(schema)
  return definedMembers({
    type: 'json_schema',
    name: (name ?? '').replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, 64) || 'response',
    description,
    schema,
    strict: isStrict,
  })
}

/** Requests encrypted reasoning, unless the model is known not to reason: it would refuse the request. */
function includes({ rules }: Writing, more: readonly unknown[]): readonly unknown[] | undefined {
  const isPlain = rules.isOpenAi === true && rules.efforts?.length === 0
  const names = [...(isPlain ? [] : ['reasoning.encrypted_content']), ...more]
  return names.length > 0 ? names : undefined
}

/** Undefined when they are not requested, or refused by the model. */
function logprobsFor({ dialogue: { logprobs }, rules, loseField }: Writing): Dialogue['logprobs'] {
  if (!logprobs || !rules.refuses?.includes('logprobs')) return logprobs
  loseField('logprobs')
  return undefined
}

function shortUser(user: string | undefined): string | undefined {
  return user === undefined || user.length <= 64 ? user : shortHash(user, 40)
}

/** Removes members that the host and the model refuse, and reports them. */
function withoutRefused(body: JsonObject, { quirks, rules, lose }: Writing): JsonObject {
  const refused = new Set([...(quirks.refuses ?? []), ...(rules.refuses ?? [])])
  for (const member of Object.keys(body)) if (refused.has(member)) lose(member)
  return Object.fromEntries(Object.entries(body).filter(([member]) => !refused.has(member)))
}

function nonEmpty(members: JsonObject): JsonObject | undefined {
  const kept = definedMembers(members)
  return Object.keys(kept).length > 0 ? kept : undefined
}
