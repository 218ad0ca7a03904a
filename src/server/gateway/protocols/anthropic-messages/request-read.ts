import { fail } from '../../../base/lib/failure.ts'
import type { Inbound } from '../codec.ts'
import type { OutputForm, Reasoning, Sampling } from '../dialogue.ts'
import { outputTokensLimit, readCount, readFlag, readModel, requireArray } from '../read-request.ts'
import { arrayAt, countAt, isObject, type JsonObject, objectAt, textAt } from '../wire-format.ts'
import { readMessages, readSystem } from './read-messages.ts'
import { readToolChoice, readTools } from './read-tools.ts'
import { unreadIn } from './unread.ts'

/**
 * A Messages request in the neutral form, of any API version. Features of this vendor's servers that change the answer throw
 * `untranslatable`, invalid members `field_invalid`. Source: protocols notes 1.12 and 3.15.
 */
export const readRequest: Inbound['readRequest'] = (body) => {
  refuseServerState(body)
  const messages = requireArray(body, 'messages')
  const unread = unreadIn(body)
  const { head, ...said } = readMessages(messages, unread)
  const { tools, ...others } = readTools(body)

  return {
    from: 'anthropic.messages',
    model: readModel(body),
    system: [...readSystem(body.system), ...head],
    ...said,
    tools,
    ...readToolChoice(body, { hasTools: tools.length > 0 }),
    sampling: readSampling(body),
    outputTokensMax: readLimit(body),
    stop: readStop(body),
    reasoning: readReasoning(body),
    output: readOutput(body),
    ...others,
    stream: readFlag(body, 'stream'),
    wantsUsage: true,
    usesFunctions: false,
    user: textAt(objectAt(body, 'metadata') ?? {}, 'user_id') || undefined,
    cacheKey: undefined,
    extra: readExtra(body),
    ...unread.names,
  }
}

/** The members that are read; all other members that are set are kept in `extra` for the vendor's own family. */
const readMembers: ReadonlySet<string> = new Set([
  'model',
  'max_tokens',
  'messages',
  'system',
  'tools',
  'tool_choice',
  'temperature',
  'top_p',
  'top_k',
  'stop_sequences',
  'thinking',
  'output_config',
  'output_format',
  'metadata',
  'stream',
  // Members of requests to a cloud that are headers at the vendor itself.
  'anthropic_version',
  'anthropic_beta',
])

function readExtra(body: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(body).filter(([member, value]) => !readMembers.has(member) && value !== null && value !== undefined),
  )
}

/**
 * Refuses features that rely on state or services of the vendor. Context management only shortens the input, and is left to
 * `extra`.
 */
function refuseServerState(body: JsonObject): void {
  const region = textAt(body, 'inference_geo')
  const asked: Readonly<Record<string, boolean>> = {
    container: isObject(body.container) || textAt(body, 'container') !== '',
    mcp_servers: arrayAt(body, 'mcp_servers').length > 0,
    compaction: isObject(body.compaction),
    thread: isObject(body.thread),
    inference_geo: region !== '' && region !== 'global',
  }
  for (const [field, isAsked] of Object.entries(asked)) {
    if (isAsked)
      fail('untranslatable', { field, reason: { zh: '只有 Anthropic 的服务提供', en: 'only the servers of Anthropic have it' } })
  }
}

function readLimit(body: JsonObject): number {
  const limit = readCount(body, 'max_tokens', { min: 0, max: outputTokensLimit })
  if (limit === undefined) fail('field_invalid', { field: 'max_tokens', reason: { zh: '不能缺少', en: 'is required' } })
  if (limit === 0) {
    const reason = { zh: '0 表示只预热缓存，其他协议没有', en: '0 only warms the cache, which no other protocol can' }
    fail('untranslatable', { field: 'max_tokens', reason })
  }
  return limit
}

function readSampling(body: JsonObject): Sampling {
  const temperature = readNumber(body, 'temperature')
  const topP = readNumber(body, 'top_p')
  const topK = readNumber(body, 'top_k')
  return {
    ...(temperature === undefined ? {} : { temperature }),
    ...(topP === undefined ? {} : { topP }),
    ...(topK === undefined ? {} : { topK }),
  }
}

function readNumber(body: JsonObject, field: string): number | undefined {
  const value = body[field]
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'number') fail('field_invalid', { field, reason: { zh: '必须是数字', en: 'must be a number' } })
  return value
}

function readStop(body: JsonObject): string[] {
  const stops = arrayAt(body, 'stop_sequences')
  if (!stops.every((stop) => typeof stop === 'string')) {
    fail('field_invalid', { field: 'stop_sequences', reason: { zh: '必须是文本列表', en: 'must be a list of texts' } })
  }
  return stops.filter((stop) => stop !== '')
}

/** A budget, or the model's own judgement with an effort. `between_tools` is the minimum of some models. */
function readReasoning(body: JsonObject): Reasoning | undefined {
  const thinking = objectAt(body, 'thinking') ?? {}
  const effort = readEffort(textAt(objectAt(body, 'output_config') ?? {}, 'effort'))
  const budgetTokens = countAt(thinking, 'budget_tokens')
  const display = textAt(thinking, 'display')
  const show = display === 'omitted' ? 'none' : display === 'summarized' ? 'summary' : undefined

  switch (thinking.type) {
    case 'enabled':
      return { mode: budgetTokens > 0 ? { budgetTokens } : 'auto', show }
    case 'adaptive':
      return { mode: effort ?? 'auto', show }
    case 'disabled':
      return { mode: 'off', show }
    case 'between_tools':
      return { mode: effort ?? 'off', show }
    default:
      return effort && { mode: effort, show }
  }
}

function readEffort(effort: string): Exclude<Reasoning['mode'], string> | undefined {
  switch (effort) {
    case 'low':
    case 'medium':
    case 'high':
    case 'xhigh':
    case 'max':
      return { effort }
    case '':
      return undefined
    default:
      return fail('field_invalid', { field: 'output_config.effort', reason: { zh: '未知的取值', en: 'this value is not known' } })
  }
}

/** The member that older clients send has the same form. */
function readOutput(body: JsonObject): OutputForm | undefined {
  const format = objectAt(objectAt(body, 'output_config') ?? {}, 'format') ?? objectAt(body, 'output_format')
  if (!format) return undefined
  const field = 'output_config.format'
  if (format.type !== 'json_schema') fail('untranslatable', { field, reason: { zh: '未知的类型', en: 'this type is not known' } })
  const schema = objectAt(format, 'schema')
  if (!schema) fail('field_invalid', { field, reason: { zh: '缺少 schema', en: 'lacks its schema' } })
  return { kind: 'schema', name: 'response', description: undefined, schema, strict: true }
}
