import type { Text } from '../../../../contract/text.ts'
import type { Inbound } from '../codec.ts'
import type { Dialogue, Effort, OutputForm, Reasoning, Sampling } from '../dialogue.ts'
import { outputTokensLimit, readCount, readFlag, readModel } from '../read-request.ts'
import { arrayAt, isObject, type JsonObject, objectAt, textAt } from '../wire-format.ts'
import { readInput } from './input-read.ts'
import { refuse, refuseInvalid, unknownValue } from './refusals.ts'
import { flatNames } from './tool-lists.ts'
import { readToolChoice, readTools } from './tools-read.ts'
import { unreadIn } from './unread.ts'

/**
 * A Responses request in the neutral form. Features that rely on the vendor to store, run or compact something are refused, because
 * dropping them would lose the conversation; `store` is ignored, since nothing is stored. Throws `field_invalid` for invalid
 * members, `untranslatable` for members that exist in no other format. Source: protocols notes 1.3 and 3.15.
 */
export const readRequest: Inbound['readRequest'] = (body) => {
  refuseKeptElsewhere(body)
  const names = flatNames(body)
  const unread = unreadIn(body)
  const { tools, ...others } = readTools(body, names)
  const maximum = readCount(body, 'max_output_tokens', { min: 0, max: outputTokensLimit })

  return {
    from: 'openai.responses',
    model: readModel(body),
    ...readInput(body, names, unread),
    tools,
    toolChoice: tools.length === 0 ? undefined : readToolChoice(body.tool_choice, tools),
    parallelTools: typeof body.parallel_tool_calls === 'boolean' ? body.parallel_tool_calls : undefined,
    sampling: readSampling(body),
    outputTokensMax: maximum === 0 ? undefined : maximum,
    stop: [],
    reasoning: readReasoning(body.reasoning),
    output: readOutput(objectAt(objectAt(body, 'text') ?? {}, 'format')),
    ...readLogprobsAsked(body),
    ...others,
    stream: readFlag(body, 'stream'),
    wantsUsage: true,
    usesFunctions: false,
    user: textAt(body, 'user') || textAt(body, 'safety_identifier') || undefined,
    cacheKey: textAt(body, 'prompt_cache_key') || undefined,
    extra: readExtra(body),
    ...unread.names,
  }
}

const notKept: Text = {
  zh: '该模型的渠道不保存回复，请发送完整的 input',
  en: 'replies are not kept for this model; send the whole input',
}
const onlyThere: Text = { zh: '只有原厂商提供', en: 'only its vendor has it' }

function refuseKeptElsewhere(body: JsonObject): void {
  if (isSet(body.previous_response_id)) refuse('previous_response_id', notKept)
  if (isSet(body.conversation)) refuse('conversation', notKept)
  if (isSet(body.prompt)) refuse('prompt', onlyThere)
  if (readFlag(body, 'background')) refuse('background', notKept)
  if (arrayAt(body, 'context_management').length > 0) refuse('context_management', onlyThere)
}

function readLogprobsAsked(body: JsonObject): Pick<Dialogue, 'logprobs'> {
  const top = readCount(body, 'top_logprobs', { min: 0, max: 20 }) ?? 0
  return top > 0 || arrayAt(body, 'include').includes(includedLogprobs) ? { logprobs: { top } } : {}
}

function readSampling(body: JsonObject): Sampling {
  const read = {
    temperature: readNumber(body, 'temperature'),
    topP: readNumber(body, 'top_p'),
    presencePenalty: readNumber(body, 'presence_penalty'),
    frequencyPenalty: readNumber(body, 'frequency_penalty'),
  }
  return Object.fromEntries(Object.entries(read).filter(([, value]) => value !== undefined))
}

function readNumber(body: JsonObject, field: string): number | undefined {
  const value = body[field]
  if (value === undefined || value === null) return undefined
  return typeof value === 'number' ? value : refuseInvalid(field, { zh: '必须是数字', en: 'must be a number' })
}

const efforts: ReadonlySet<unknown> = new Set<Effort>(['minimal', 'low', 'medium', 'high', 'xhigh', 'max'])

function readReasoning(value: unknown): Reasoning | undefined {
  if (!isObject(value)) return undefined
  const { effort } = value
  const show = isSet(value.summary ?? value.generate_summary) ? 'summary' : undefined
  if (effort === undefined || effort === null || effort === 'default') return show ? { mode: 'auto', show } : undefined
  if (effort === 'none') return { mode: 'off', show }
  return isEffort(effort) ? { mode: { effort }, show } : refuseInvalid('reasoning.effort', unknownValue)
}

function isEffort(value: unknown): value is Effort {
  return efforts.has(value)
}

function readOutput(format: JsonObject | undefined): OutputForm | undefined {
  if (!format || format.type === 'text') return undefined
  if (format.type === 'json_object') return { kind: 'json' }
  if (format.type !== 'json_schema') return refuse('text.format.type', unknownValue)
  const schema = objectAt(format, 'schema')
  if (!schema) return refuseInvalid('text.format.schema', { zh: '缺少该字段', en: 'is required' })
  return {
    kind: 'schema',
    name: textAt(format, 'name') || undefined,
    description: textAt(format, 'description') || undefined,
    schema,
    strict: typeof format.strict === 'boolean' ? format.strict : undefined,
  }
}

/** Members of OpenAI's formats, under Chat's name if Chat has them too. Defaults are left out. */
function readExtra(body: JsonObject): Dialogue['extra'] {
  const reasoning = objectAt(body, 'reasoning')
  const include = arrayAt(body, 'include').filter((name) => name !== 'reasoning.encrypted_content' && name !== includedLogprobs)
  const all: JsonObject = {
    ...Object.fromEntries(Object.entries(body).filter(([key]) => !readMembers.has(key))),
    safety_identifier: textAt(body, 'user') === '' ? undefined : body.safety_identifier,
    verbosity: objectAt(body, 'text')?.verbosity,
    'reasoning.context': reasoning?.context,
    'reasoning.mode': reasoning?.mode === 'standard' ? undefined : reasoning?.mode,
    include: include.length > 0 ? include : undefined,
    truncation: body.truncation === 'disabled' ? undefined : body.truncation,
    service_tier: body.service_tier === 'auto' || body.service_tier === 'default' ? undefined : body.service_tier,
    metadata: Object.keys(objectAt(body, 'metadata') ?? {}).length > 0 ? body.metadata : undefined,
  }
  return Object.fromEntries(Object.entries(all).filter(([, value]) => isSet(value)))
}

/** The entry of `include` that requests log probabilities. */
export const includedLogprobs = 'message.output_text.logprobs'

const readMembers: ReadonlySet<string> = new Set([
  'model',
  'input',
  'instructions',
  'previous_response_id',
  'conversation',
  'prompt',
  'store',
  'background',
  'context_management',
  'stream',
  'stream_options',
  'max_output_tokens',
  'parallel_tool_calls',
  'reasoning',
  'text',
  'temperature',
  'top_p',
  'presence_penalty',
  'frequency_penalty',
  'top_logprobs',
  'tools',
  'tool_choice',
  'prompt_cache_key',
  'user',
])

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null && value !== ''
}
