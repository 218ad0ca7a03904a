import { fail } from '../../../base/lib/failure.ts'
import type { Inbound } from '../codec.ts'
import type { Dialogue, OutputForm, Sampling, Search } from '../dialogue.ts'
import type { Format } from '../format.ts'
import { outputTokensLimit, readCount, readFlag, readModel, requireArray } from '../read-request.ts'
import { repairToolResults } from '../turns.ts'
import { arrayAt, definedMembers, isObject, type JsonObject, objectAt, textAt } from '../wire-format.ts'
import { readMessages } from './read-messages.ts'
import { readReasoning, reasoningMembers } from './read-reasoning.ts'
import { readToolChoice, readTools } from './read-tools.ts'
import { unreadIn } from './unread.ts'

/**
 * A Chat request in the neutral form. Members without a neutral form are kept in `extra`. Throws `field_invalid` for invalid members,
 * and `untranslatable` for features that no reply in another format could hold: several choices, speech. Source:
 * protocols notes 1.1 and 3.1 to 3.9.
 */
export const readRequest: Inbound['readRequest'] = (body) => {
  refuseUntranslatable(body)
  const usesFunctions = arrayAt(body, 'tools').length === 0 && arrayAt(body, 'functions').length > 0
  const { system, turns, ...begun } = readMessages(requireArray(body, 'messages'))
  const { tools, vendorOnly } = readTools(body)

  return {
    ...readCommonMembers(body, 'openai.chat', knownMembers),
    system,
    // The older form has no ids: a result is matched to a call by its name.
    turns: hasFunctionMessages(body) ? repairToolResults(turns) : turns,
    ...begun,
    tools,
    toolChoice: tools.length === 0 ? undefined : readToolChoice(body),
    // An answer in the older form can contain only one call.
    parallelTools: usesFunctions ? false : readOptionalFlag(body, 'parallel_tool_calls'),
    reasoning: readReasoning(body),
    output: readOutput(objectAt(body, 'response_format')),
    ...readLogprobsAsked(body),
    search: readSearch(body.web_search_options),
    ...(vendorOnly ? { vendorOnly } : {}),
    ...unreadIn(body),
    usesFunctions,
  }
}

type CommonMembers = Omit<
  Dialogue,
  'system' | 'turns' | 'tools' | 'toolChoice' | 'parallelTools' | 'reasoning' | 'output' | 'search' | 'usesFunctions'
>

/** Members that Chat shares with the legacy Completions. Of the rest, everything that is set and not `known` goes to `extra`. */
export function readCommonMembers(body: JsonObject, from: Format, known: ReadonlySet<string>): CommonMembers {
  const bounds = { min: 0, max: outputTokensLimit }
  const stream = readFlag(body, 'stream')
  const user = textAt(body, 'user')
  const safetyIdentifier = textAt(body, 'safety_identifier')
  const skipped = user === '' && safetyIdentifier !== '' ? 'safety_identifier' : ''
  const extra = Object.entries(body).filter(([key, value]) => value !== null && !known.has(key) && key !== skipped)

  return {
    from,
    model: readModel(body),
    sampling: readSampling(body),
    outputTokensMax: readCount(body, 'max_completion_tokens', bounds) ?? readCount(body, 'max_tokens', bounds),
    stop: readStop(body.stop),
    stream,
    wantsUsage: stream && objectAt(body, 'stream_options')?.include_usage === true,
    user: user || safetyIdentifier || undefined,
    cacheKey: textAt(body, 'prompt_cache_key') || undefined,
    extra: Object.fromEntries(extra),
  }
}

/** Members that `readCommonMembers` reads itself. */
export const commonMembers: readonly string[] = [
  'model',
  'stream',
  'stream_options',
  'max_tokens',
  'max_completion_tokens',
  'temperature',
  'top_p',
  'top_k',
  'presence_penalty',
  'frequency_penalty',
  'seed',
  'stop',
  'n',
  'user',
  'prompt_cache_key',
]

const knownMembers: ReadonlySet<string> = new Set([
  ...commonMembers,
  ...reasoningMembers,
  'messages',
  'tools',
  'tool_choice',
  'functions',
  'function_call',
  'parallel_tool_calls',
  'response_format',
  'web_search_options',
  'logprobs',
  'top_logprobs',
])

/** Throws `untranslatable` when more than one choice is requested. */
export function refuseManyChoices(body: JsonObject): void {
  const choices = readCount(body, 'n', { min: 1, max: 128 })
  if (choices !== undefined && choices > 1)
    fail('untranslatable', { field: 'n', reason: { zh: '只能给出一个回答', en: 'only one choice can be given' } })
}

function refuseUntranslatable(body: JsonObject): void {
  refuseManyChoices(body)
  const speaks = isObject(body.audio) || arrayAt(body, 'modalities').includes('audio')
  if (speaks) fail('untranslatable', { field: 'modalities', reason: { zh: '没有语音输出', en: 'there is no spoken answer' } })
}

function readLogprobsAsked(body: JsonObject): Pick<Dialogue, 'logprobs'> {
  const top = readCount(body, 'top_logprobs', { min: 0, max: 20 }) ?? 0
  return readFlag(body, 'logprobs') || top > 0 ? { logprobs: { top } } : {}
}

function readSampling(body: JsonObject): Sampling {
  const read: Record<keyof Sampling, number | undefined> = {
    temperature: readNumber(body, 'temperature'),
    topP: readNumber(body, 'top_p'),
    topK: readNumber(body, 'top_k'),
    presencePenalty: readNumber(body, 'presence_penalty'),
    frequencyPenalty: readNumber(body, 'frequency_penalty'),
    seed: readNumber(body, 'seed'),
  }
  return definedMembers(read)
}

function readNumber(body: JsonObject, field: string): number | undefined {
  const value = body[field]
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'number') fail('field_invalid', { field, reason: { zh: '必须是数字', en: 'must be a number' } })
  return value
}

function readOptionalFlag(body: JsonObject, field: string): boolean | undefined {
  return body[field] === undefined || body[field] === null ? undefined : readFlag(body, field)
}

/** An empty stop sequence has no effect. */
function readStop(value: unknown): string[] {
  const stops = value === undefined || value === null ? [] : Array.isArray(value) ? value : [value]
  if (!stops.every((stop) => typeof stop === 'string'))
    fail('field_invalid', { field: 'stop', reason: { zh: '必须是文本或文本列表', en: 'must be a text or a list of texts' } })
  return stops.filter((stop) => stop !== '')
}

function readOutput(format: JsonObject | undefined): OutputForm | undefined {
  if (!format || format.type === 'text') return undefined
  if (format.type === 'json_object') return { kind: 'json' }
  if (format.type !== 'json_schema')
    fail('untranslatable', { field: 'response_format.type', reason: { zh: '未知的类型', en: 'this type is not known' } })

  const declared = objectAt(format, 'json_schema')
  const schema = declared && objectAt(declared, 'schema')
  if (!declared || !schema)
    fail('field_invalid', { field: 'response_format.json_schema', reason: { zh: '缺少 schema', en: 'lacks its schema' } })
  return {
    kind: 'schema',
    name: textAt(declared, 'name') || undefined,
    description: textAt(declared, 'description') || undefined,
    schema,
    strict: typeof declared.strict === 'boolean' ? declared.strict : undefined,
  }
}

function readSearch(options: unknown): Search | undefined {
  if (!isObject(options)) return undefined
  const size = options.search_context_size
  const location = objectAt(options, 'user_location')
  return {
    contextSize: size === 'low' || size === 'medium' || size === 'high' ? size : undefined,
    location: location && (objectAt(location, 'approximate') ?? location),
  }
}

function hasFunctionMessages(body: JsonObject): boolean {
  return arrayAt(body, 'messages').some(
    (message) => isObject(message) && (message.role === 'function' || isObject(message.function_call)),
  )
}
