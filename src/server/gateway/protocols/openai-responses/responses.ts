import { membersOf, spliceMembers } from '../../../base/lib/bytes/splice-json.ts'
import { fail } from '../../../base/lib/failure.ts'
import { collectText, outputTokensLimit, readCount, readFlag, readModel } from '../read-request.ts'
import { responsesTierAsked } from '../tiers.ts'
import {
  arrayAt,
  countAt,
  isObject,
  type JsonObject,
  objectAt,
  type RequestFacts,
  type StreamEvent,
  textAt,
  type WireFormat,
} from '../wire-format.ts'
import { errorEventText, readResponsesError } from './errors.ts'
import { gatherResponse, replayResponse } from './forms.ts'
import { responsesTools } from './hosted-tools.ts'
import { paidCallOf, readResponseUsage } from './usage.ts'

/** OpenAI Responses. Source: types of the official SDK 7.51 and protocols notes 1.3, read 2026-11. */
export const openAiResponses: WireFormat = {
  format: 'openai.responses',
  dialect: 'openai',
  continues: 'response',
  readRequest: readFacts,
  promptText: (body) => readPrompt(body).texts,
  answerIn: 'output',
  isEmpty: isEmptyResponse,
  readUsage: readResponseUsage,
  replyText: (reply) => arrayAt(reply, 'output').filter(isObject).map(itemText).join('\n'),

  stream: {
    marks: /"usage"\s*:\s*\{|"error"|response\.(?:completed|incomplete|failed)/g,
    hasNamedEvents: true,
    isTerminal: (event) => terminalTypes.has(terminalTypeOf(event)),
    // The terminal event repeats the complete reply, so no text can replace it.
    terminalText: '',
    readUsage: (data, before) => readResponseUsage(objectAt(data, 'response') ?? {}) ?? before,
    isUsageOnly: () => false,
    hasOutput: ({ type, response }) =>
      typeof type === 'string' &&
      outputTypes.test(type) &&
      !(type === 'response.completed' && isObject(response) && isEmptyResponse(response)),
    isFinish: ({ type }) => typeof type === 'string' && terminalTypes.has(type),
    deltaText,
    paidCall: (data) =>
      data.type === 'response.output_item.done' ? paidCallOf(data.item, countAt(data, 'output_index')) : undefined,
    readError: readResponsesError,
    errorEvent: errorEventText,
    replay: replayResponse,
    gather: gatherResponse,
    renameModel: renameNestedModel,
    heartbeat: ': keep-alive\n\n',
  },
}

/** `response.failed` is read as an error, not as a terminal event. */
const terminalTypes: ReadonlySet<string> = new Set(['response.completed', 'response.incomplete'])
const outputTypes = /\.delta$|^response\.(output_item\.done|completed|incomplete)$/

/**
 * Whether a response is complete without any item and without any usage. Only one that was cut short, cancelled or still runs may have
 * neither.
 */
export function isEmptyResponse(response: JsonObject): boolean {
  const isComplete = response.status === undefined || response.status === 'completed'
  return isComplete && arrayAt(response, 'output').length === 0 && !isObject(response.usage)
}

function readFacts(body: JsonObject): RequestFacts {
  requireInput(body)
  if (isObject(body.prompt) && (body.model === undefined || body.model === null)) fail('model_beside_prompt')
  const streamOptions = body.stream_options
  if (streamOptions !== undefined && streamOptions !== null && !isObject(streamOptions)) {
    fail('field_invalid', { field: 'stream_options', reason: 'must be an object' })
  }
  const stream = readFlag(body, 'stream')
  // A background answer is fetched later, so it has to be stored for the caller and for its cost.
  if (readFlag(body, 'background') && body.store === false) {
    fail('field_invalid', { field: 'background', reason: { zh: '需要 store', en: 'only works together with store' } })
  }
  const maximum = readCount(body, 'max_output_tokens', { min: 0, max: outputTokensLimit })

  return {
    model: readModel(body),
    stream,
    outputTokensMax: maximum === 0 ? undefined : maximum,
    mediaParts: readPrompt(body).media,
    reasoningEffort: textAt(objectAt(body, 'reasoning') ?? {}, 'effort') || undefined,
    wantsUsage: true,
    streamOptions: isObject(streamOptions) ? streamOptions : undefined,
    ...responsesTierAsked(body),
    ...responsesTools(body),
  }
}

/** A string or a list of items. It may only be absent if the vendor stores the conversation or the prompt. */
function requireInput({ input, previous_response_id, conversation, prompt }: JsonObject): void {
  const isKeptElsewhere = Boolean(previous_response_id || conversation || prompt)
  if (input === undefined || input === null) {
    if (!isKeptElsewhere) fail('field_invalid', { field: 'input', reason: 'is required' })
    return
  }
  if (typeof input === 'string') return
  if (!Array.isArray(input)) fail('field_invalid', { field: 'input', reason: 'must be a text or a list' })
  if (input.length === 0 && !isKeptElsewhere)
    fail('field_invalid', { field: 'input', reason: 'must be a list with at least one entry' })
  if (!input.every(isObject)) fail('field_invalid', { field: 'input', reason: 'every item must be an object' })
}

/** All input of the model. Encrypted state does not count as text, and an image of an earlier turn counts as media. */
function readPrompt(body: JsonObject): { texts: string[]; media: number } {
  const found = { texts: [] as string[], media: 0 }
  const { input } = body
  for (const part of [body.instructions, typeof input === 'string' ? input : undefined, body.tools, body.text, body.prompt])
    collectText(part, found)
  for (const item of arrayAt(body, 'input')) {
    const { encrypted_content: _, ...open } = isObject(item) ? item : { item }
    if (open.type === 'image_generation_call') found.media++
    else collectText(open, found)
  }
  return found
}

/** The type of a terminal event if its data is complete: a truncated one must not count as the end. */
function terminalTypeOf({ data }: StreamEvent): string {
  if (!terminalMark.test(data)) return ''
  try {
    const value: unknown = JSON.parse(data)
    return isObject(value) ? textAt(value, 'type') : ''
  } catch {
    return ''
  }
}

const terminalMark = /"type"\s*:\s*"response\.(?:completed|incomplete)"/

function deltaText(data: JsonObject): string {
  if (data.type === 'response.output_item.added') return textAt(objectAt(data, 'item') ?? {}, 'name')
  const isText = typeof data.type === 'string' && data.type.endsWith('.delta') && data.type !== 'response.audio.delta'
  return isText ? textAt(data, 'delta') : ''
}

function itemText(item: JsonObject): string {
  const parts = [...arrayAt(item, 'content'), ...arrayAt(item, 'summary')].filter(isObject)
  return [
    ...parts.map((part) => textAt(part, 'text') + textAt(part, 'refusal')),
    textAt(item, 'name') + textAt(item, 'arguments') + textAt(item, 'input'),
  ].join('')
}

/** Events have the model inside of `response`, a complete reply at the top level. */
function renameNestedModel(data: Buffer, model: string): Buffer | undefined {
  const members = membersOf(data)
  const named = JSON.stringify(model)
  if (members?.some((member) => member.key === 'model')) return spliceMembers(data, { model: named })
  const response = members?.find((member) => member.key === 'response')
  if (!response) return undefined
  const inner = data.subarray(response.valueStart, response.end)
  if (!membersOf(inner)?.some((member) => member.key === 'model')) return undefined
  return spliceMembers(data, { response: spliceMembers(inner, { model: named }).toString() })
}
