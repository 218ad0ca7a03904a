import { membersOf, spliceMembers } from '../../../base/lib/bytes/splice-json.ts'
import { fail } from '../../../base/lib/failure.ts'
import { readExtra } from '../error-extra.ts'
import type { PaidCall } from '../paid-calls.ts'
import { collectText, outputTokensLimit, readCount, readFlag, readModel, requireArray } from '../read-request.ts'
import { messagesTierAsked } from '../tiers.ts'
import {
  arrayAt,
  countAt,
  isObject,
  type JsonObject,
  objectAt,
  textAt,
  type UpstreamErrorFacts,
  type WireFormat,
} from '../wire-format.ts'
import { gatherMessage, replayMessage } from './forms.ts'
import { messagesTools } from './hosted-tools.ts'
import { readMessagesUsage } from './usage.ts'

/** Anthropic Messages. Source: types of the official SDK 1.10 and protocols notes 1.12, read 2026-11. */
export const anthropicMessages: WireFormat = {
  format: 'anthropic.messages',
  dialect: 'anthropic',
  continues: 'thread',

  readRequest(body) {
    const messages = requireArray(body, 'messages')
    if (!messages.every(isObject)) fail('field_invalid', { field: 'messages', reason: 'every message must be an object' })
    const outputTokensMax = readCount(body, 'max_tokens', { min: 0, max: outputTokensLimit })
    if (outputTokensMax === undefined) fail('field_invalid', { field: 'max_tokens', reason: 'is required' })
    const found = { texts: [], media: 0 }
    collectText(messages, found)

    return {
      model: readModel(body),
      stream: readFlag(body, 'stream'),
      outputTokensMax,
      mediaParts: found.media,
      reasoningEffort: textAt(objectAt(body, 'output_config') ?? {}, 'effort') || undefined,
      wantsUsage: true,
      streamOptions: undefined,
      ...messagesTierAsked(body),
      ...messagesTools(body),
    }
  },

  promptText(body) {
    const found = { texts: [] as string[], media: 0 }
    for (const part of [body.system, body.messages, body.tools]) collectText(part, found)
    return found.texts
  },

  answerIn: 'content',
  isEmpty: isEmptyMessage,
  readUsage: (reply) => readMessagesUsage(reply, undefined),
  replyText: (reply) => arrayAt(reply, 'content').filter(isObject).map(blockText).join('\n'),

  stream: {
    marks: /"usage"\s*:\s*\{|"error"|message_start|message_stop/g,
    hasNamedEvents: true,
    isTerminal: (event) => event.name === 'message_stop' || (event.name === '' && event.data.includes('"message_stop"')),
    terminalText: 'event: message_stop\ndata: {"type":"message_stop"}\n\n',
    readUsage: (data, before) => readMessagesUsage(objectAt(data, 'message') ?? data, before),
    isUsageOnly: () => false,
    hasOutput: (data) =>
      data.type === 'content_block_delta' ||
      textAt(objectAt(data, 'content_block') ?? {}, 'text') !== '' ||
      (data.type === 'message_delta' && !endsUntold(objectAt(data, 'delta') ?? {}, data)),
    isFinish: (data) => data.type === 'message_delta' && typeof objectAt(data, 'delta')?.stop_reason === 'string',
    deltaText: (data) =>
      data.type === 'content_block_start'
        ? textAt(objectAt(data, 'content_block') ?? {}, 'name')
        : blockText(objectAt(data, 'delta') ?? {}),
    paidCall: (data) => (data.type === 'content_block_start' ? paidCallOf(objectAt(data, 'content_block') ?? {}) : undefined),
    begins: (data) => (data.type === 'message_start' ? textAt(objectAt(data, 'message') ?? {}, 'id') : undefined),
    readError: (data) => (data.type === 'error' || isObject(data.error) ? readAnthropicError(data) : undefined),
    replay: replayMessage,
    gather: gatherMessage,
    renameModel: renameStartModel,
    heartbeat: 'event: ping\ndata: {"type":"ping"}\n\n',
  },
}

export function isEmptyMessage(reply: JsonObject): boolean {
  return arrayAt(reply, 'content').length === 0 && endsUntold(reply, reply)
}

/**
 * Whether a turn without content ended without a reason for it and without any usage. The vendor's own empty answers have another stop
 * reason, or a usage. `holder` is what has the usage: a reply, or an event.
 */
function endsUntold({ stop_reason }: JsonObject, holder: JsonObject): boolean {
  const isOrdinary = stop_reason === 'end_turn' || stop_reason === undefined || stop_reason === null
  return isOrdinary && typeof objectAt(holder, 'usage')?.output_tokens !== 'number'
}

/** A web search, or the code execution container, which is billed once however often it is used. */
function paidCallOf(block: JsonObject): PaidCall | undefined {
  if (block.type !== 'server_tool_use') return undefined
  const name = textAt(block, 'name')
  if (name === 'web_search') return { tool: name, id: textAt(block, 'id') }
  return name.endsWith('code_execution') ? { tool: 'code_execution', id: 'container' } : undefined
}

/**
 * `{"type":"error","error":{"type","message"}}`. Clouds that host Messages have their own error types; the frames of their streams
 * contain a status.
 */
export function readAnthropicError(body: JsonObject): UpstreamErrorFacts {
  const error = objectAt(body, 'error') ?? body
  const type = textAt(error, 'type')
  const named = countAt(error, 'status')
  const status = statusOfType.get(type) ?? (named >= 400 && named <= 599 ? named : 0)
  return { message: textAt(error, 'message'), type, code: '', param: null, status, ...readExtra('anthropic', error) }
}

const statusOfType: ReadonlyMap<string, number> = new Map([
  ['invalid_request_error', 400],
  ['authentication_error', 401],
  ['billing_error', 402],
  ['permission_error', 403],
  ['not_found_error', 404],
  ['request_too_large', 413],
  ['rate_limit_error', 429],
  ['api_error', 500],
  ['timeout_error', 504],
  ['overloaded_error', 529],
])

function blockText(block: JsonObject): string {
  const input = isObject(block.input) && Object.keys(block.input).length > 0 ? JSON.stringify(block.input) : ''
  return (
    textAt(block, 'text') +
    textAt(block, 'thinking') +
    textAt(block, 'partial_json') +
    (block.type === 'tool_use' ? textAt(block, 'name') : '') +
    input
  )
}

/** In a stream only `message_start` has the model, inside `message`; a complete reply has it at the top level. */
function renameStartModel(data: Buffer, model: string): Buffer | undefined {
  const members = membersOf(data)
  const top = members?.find((member) => member.key === 'model')
  if (top) return spliceMembers(data, { model: JSON.stringify(model) })
  const message = members?.find((member) => member.key === 'message')
  if (!message) return undefined
  const inner = data.subarray(message.valueStart, message.end)
  if (!membersOf(inner)?.some((member) => member.key === 'model')) return undefined
  return spliceMembers(data, { message: spliceMembers(inner, { model: JSON.stringify(model) }).toString() })
}
