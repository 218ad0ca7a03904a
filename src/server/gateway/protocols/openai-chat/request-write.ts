import { fail } from '../../../base/lib/failure.ts'
import { shortHash } from '../call-ids.ts'
import type { Codec, RequestContext } from '../codec.ts'
import type { Dialogue } from '../dialogue.ts'
import { type Field, fieldNameFor, hasCacheMarks, hasPlacelessMarks, searchUnless } from '../lost-fields.ts'
import { isForeignTier } from '../tiers.ts'
import { definedMembers, type JsonObject } from '../wire-format.ts'
import { adjustForModel, outputLimitMember } from './models.ts'
import { writeMessages } from './write-messages.ts'
import { writeOutput } from './write-output.ts'
import { writeReasoning } from './write-reasoning.ts'
import { writeTools } from './write-tools.ts'
import { beginWriting, type Writing } from './writing.ts'

/**
 * A Chat request from the neutral form, for OpenAI, Azure and every compatible host. Members that the model or the host would refuse
 * are left out and reported. Throws `untranslatable` if that would change the meaning: a prefilled answer, a search that the model
 * does not support, media without a Chat part. Source: protocols notes 1.1, 2.2 and 3.1 to 3.9.
 */
export const writeRequest: Codec['writeRequest'] = (dialogue, context) => {
  const writing = beginWriting(dialogue, context)
  if (losesCacheMarks(writing)) writing.loseField('cache')
  const tools = writeTools(writing)
  const output = writeOutput(writing)
  const written = compact({
    model: context.model,
    messages: writeMessages(writing, output.instructions, tools.keepsCustom),
    ...tools.members,
    ...output.members,
    ...writeLogprobsAsked(writing),
    ...writeSampling(writing),
    ...writeReasoning(writing),
    ...writeSearch(writing, context),
    ...writeIdentity(writing),
    ...writeExtra(writing),
    stream: dialogue.stream || undefined,
    stream_options: dialogue.stream && dialogue.wantsUsage ? { include_usage: true } : undefined,
  })
  return {
    body: withoutRefused(written, writing),
    ...(writing.names.toCaller.size > 0 ? { toolNames: writing.names.toCaller } : {}),
    ...(tools.customTools.size > 0 ? { customTools: tools.customTools } : {}),
  }
}

function writeLogprobsAsked({ dialogue: { logprobs } }: Writing): JsonObject {
  if (!logprobs) return {}
  return { logprobs: true, top_logprobs: logprobs.top > 0 ? logprobs.top : undefined }
}

function writeSampling({ dialogue, model, quirks, isOwn, loseField }: Writing): JsonObject {
  const { sampling, stop, outputTokensMax, from } = dialogue
  if (sampling.topK !== undefined && !isOwn) loseField('topK')
  if (stop.length > stopsMax) loseField('stop')
  if (outputTokensMax === 0 && !isOwn) {
    const reason = { zh: '该协议必须产生输出', en: 'this protocol cannot ask for no output' }
    fail('untranslatable', { field: fieldNameFor(from, 'outputTokensMax'), reason })
  }

  const { temperature } = sampling
  const hottest = quirks.temperatureMax
  if (temperature !== undefined && hottest !== undefined && temperature > hottest) loseField('temperature')
  return {
    [outputLimitMember(model, quirks)]: outputTokensMax,
    temperature: temperature !== undefined && hottest !== undefined ? Math.min(temperature, hottest) : temperature,
    top_p: sampling.topP,
    top_k: isOwn ? sampling.topK : undefined,
    presence_penalty: sampling.presencePenalty,
    frequency_penalty: sampling.frequencyPenalty,
    seed: sampling.seed,
    stop: stop.length === 0 ? undefined : stop.slice(0, stopsMax),
  }
}

const stopsMax = 4

/** Only search models accept the member. Chat has no other form of a search, so that the loss is reported. */
function writeSearch({ dialogue, rules, isOwn }: Writing, context: RequestContext): JsonObject {
  const search = searchUnless(rules.searches || isOwn ? undefined : noSearch, dialogue, context)
  if (!search) return {}
  const { contextSize, location } = search
  const place = location && { type: 'approximate', approximate: location }
  return { web_search_options: compact({ search_context_size: contextSize, user_location: place }) }
}

const noSearch = { zh: '该模型没有网页搜索', en: 'the model has no web search' }

/** Earlier answers and empty results cannot have a breakpoint, nor can tools of OpenAI. */
function losesCacheMarks({ dialogue, cacheMember }: Writing): boolean {
  if (!cacheMember) return hasCacheMarks(dialogue)
  return hasPlacelessMarks({ ...dialogue, system: [], tools: cacheMember === 'cache_control' ? [] : dialogue.tools })
}

/** The end user, in at most 64 characters. OpenAI's cache works better for requests that share a key. */
function writeIdentity({ dialogue: { user, cacheKey }, rules, quirks, isOwn, lose }: Writing): JsonObject {
  const short = user === undefined || user.length <= userLengthMax ? user : shortHash(user, 40)
  if (rules.isOpenAi && !isOwn) return { user: short, prompt_cache_key: cacheKey ?? (user ? shortHash(user, 40) : undefined) }
  if (isOwn || quirks.takesCacheKey) return { user: short, prompt_cache_key: cacheKey }
  if (cacheKey !== undefined) lose('prompt_cache_key')
  return { user: short }
}

const userLengthMax = 64

/** Members that OpenAI's formats have in common. Other hosts return 422 for some of them. */
const platformMembers = new Set([
  'metadata',
  'moderation',
  'prompt_cache_options',
  'prompt_cache_retention',
  'safety_identifier',
  'service_tier',
  'store',
])

function writeExtra({ dialogue: { from, extra }, rules, lose }: Writing): JsonObject {
  if (from === 'openai.chat' || from === 'openai.completions') return extra
  const isShared = (member: string) =>
    from === 'openai.responses' &&
    rules.isOpenAi === true &&
    platformMembers.has(member) &&
    !(member === 'service_tier' && isForeignTier(extra[member]))
  for (const [member, value] of Object.entries(extra)) if (!isShared(member) && asksForSomething(value)) lose(member)
  return Object.fromEntries(Object.entries(extra).filter(([member]) => isShared(member)))
}

/** Removes members that the host and the model refuse, and reports them. */
function withoutRefused(body: JsonObject, { quirks, model, rules, dialogue, lose }: Writing): JsonObject {
  const refused = new Set(quirks.refuses)
  const kept = Object.fromEntries(Object.entries(body).filter(([member]) => !refused.has(member)))
  const adjusted = compact({ ...kept, ...adjustForModel(kept, model) })
  const isLost = (member: string) => {
    if (member === 'reasoning_effort' && adjusted[member] === 'none') return body[member] !== 'none'
    if (Object.hasOwn(adjusted, member) || member === 'stream_options') return false
    // These members were added by the gateway, or are written under another name.
    return !(member === 'max_tokens' && rules.outputLimit) && !(member === 'prompt_cache_key' && dialogue.cacheKey === undefined)
  }
  for (const member of Object.keys(body)) {
    if (isLost(member) && asksForSomething(body[member])) lose(callersWord(dialogue, member))
  }
  return adjusted
}

const fieldOf: ReadonlyMap<string, Field> = new Map<string, Field>([
  ['temperature', 'temperature'],
  ['top_p', 'topP'],
  ['top_k', 'topK'],
  ['presence_penalty', 'presencePenalty'],
  ['frequency_penalty', 'frequencyPenalty'],
  ['seed', 'seed'],
  ['stop', 'stop'],
  ['max_tokens', 'outputTokensMax'],
  ['max_completion_tokens', 'outputTokensMax'],
  ['reasoning_effort', 'reasoning'],
  ['reasoning', 'reasoning'],
  ['thinking', 'reasoning'],
  ['enable_thinking', 'reasoning'],
  ['response_format', 'output'],
  ['logprobs', 'logprobs'],
  ['top_logprobs', 'logprobs'],
  ['web_search_options', 'search'],
  ['tools', 'tools'],
  ['tool_choice', 'toolChoice'],
  ['parallel_tool_calls', 'parallelTools'],
  ['user', 'user'],
  ['prompt_cache_key', 'cacheKey'],
])

function callersWord({ from }: Dialogue, member: string): string {
  const field = fieldOf.get(member)
  return field ? fieldNameFor(from, field) : member
}

function asksForSomething(value: unknown): boolean {
  if (value === undefined || value === null || value === false || value === '') return false
  return typeof value !== 'object' || Object.keys(value).length > 0
}

function compact(members: JsonObject): JsonObject {
  return definedMembers(members)
}
