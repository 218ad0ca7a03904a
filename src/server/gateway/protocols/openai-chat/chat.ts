import { noUsage, type Usage, writtenTokens } from '../../../../contract/usage.ts'
import { membersOf, memberValue, spliceMembers } from '../../../base/lib/bytes/splice-json.ts'
import { fail } from '../../../base/lib/failure.ts'
import { refuseTwoSpellings } from '../gemini-generate/members.ts'
import { cachedKinds, placeTotals } from '../place-totals.ts'
import {
  collectText,
  outputTokensLimit,
  readCount,
  readFlag,
  readModel,
  refuseLimitConflict,
  requireArray,
} from '../read-request.ts'
import { readReplyFees } from '../reply-fees.ts'
import { tierAsked, tierServed } from '../tiers.ts'
import { readCached, readCacheWrites, readReasoning } from '../usage-names.ts'
import {
  answerAt,
  areCounts,
  arrayAt,
  countAt,
  isObject,
  type JsonObject,
  objectAt,
  type RequestFacts,
  textAt,
  type UpstreamErrorFacts,
  type WireFormat,
} from '../wire-format.ts'
import { contentText } from './content-parts.ts'
import { readErrorInChoices, readOpenAiError } from './errors.ts'
import { FinishOfCalls, withFinishOfCalls } from './finish-of-calls.ts'
import { gatherChat, replayChat, reportedUsage } from './forms.ts'
import { chatTools } from './hosted-tools.ts'
import { toolMemberOf } from './tool-member.ts'

/** OpenAI Chat Completions. Source: types of the official SDK 7.55 and protocols notes 1.1, read 2026-11. */
export const openAiChat: WireFormat = {
  format: 'openai.chat',
  dialect: 'openai',

  readRequest(body) {
    // Checked first, since a missing model is the most likely mistake.
    readModel(body)
    const messages = requireArray(body, 'messages')
    if (!messages.every(isObject)) fail('field_invalid', { field: 'messages', reason: 'every message must be an object' })
    return readCommonFacts(body, mediaPartsOf(messages))
  },

  promptText: (body) => textsOf([body.messages, body.tools, body.functions, body.response_format]),
  answerIn: 'choices',
  isEmpty: (reply) => choicesOf(reply).every(isEmptyChoice),
  mendFinish: withFinishOfCalls,
  readUsage: readReportedUsage,
  replyText: (reply) =>
    arrayAt(reply, 'choices')
      .filter(isObject)
      .map((choice) => messageText(objectAt(choice, 'message') ?? {}))
      .join('\n'),

  stream: {
    marks: /"usage"\s*:\s*\{|"error"|\[DONE\]/g,
    hasNamedEvents: false,
    isTerminal: (event) => event.data.trim() === '[DONE]',
    terminalText: 'data: [DONE]\n\n',
    readUsage: (data, before) => readReportedUsage(data) ?? before,
    reportsUsageOnRequest: true,
    isUsageOnly: (data) => arrayAt(data, 'choices').length === 0 && isObject(data.usage),
    hasOutput: (data) =>
      choicesOf(data).some(
        (choice) => !isObject(choice.error) && (isFinished(choice) || hasContent(objectAt(choice, 'delta') ?? {})),
      ),
    isFinish: (data) => choicesOf(data).some(isFinished),
    deltaText: (data) =>
      choicesOf(data)
        .map((choice) => messageText(objectAt(choice, 'delta') ?? {}))
        .join(''),
    readError: readStreamError,
    mendFinish: (completions) => new FinishOfCalls(completions),
    replay: (reply) => replayChat(reply, choicesOf(reply)),
    gather: gatherChat,
    renameModel: renameTopLevelModel,
    heartbeat: ': keep-alive\n\n',
  },
}

/** The members that Chat and the legacy Completions share. */
export function readCommonFacts(body: JsonObject, mediaParts: number): RequestFacts {
  // The upstream generates and bills `best_of` texts, and returns the best `n` of them.
  const choices = Math.max(readCount(body, 'n', { min: 1, max: 128 }) ?? 1, readCount(body, 'best_of', { min: 0, max: 128 }) ?? 1)
  const bounds = { min: 0, max: outputTokensLimit }
  refuseLimitConflict({ max_tokens: body.max_tokens, max_completion_tokens: body.max_completion_tokens })
  refuseLimitConflict({
    'thinking.budget_tokens': objectAt(body, 'thinking')?.budget_tokens,
    thinking_budget: body.thinking_budget,
    'reasoning.max_tokens': objectAt(body, 'reasoning')?.max_tokens,
  })
  refuseTwoSpellings(objectAt(objectAt(body, 'extra_body') ?? {}, 'google'), 'extra_body.google.')
  const perChoice = Math.max(readCount(body, 'max_completion_tokens', bounds) ?? 0, readCount(body, 'max_tokens', bounds) ?? 0)
  const streamOptions = body.stream_options
  if (streamOptions !== undefined && streamOptions !== null && !isObject(streamOptions)) {
    fail('field_invalid', { field: 'stream_options', reason: 'must be an object' })
  }

  return {
    model: readModel(body),
    stream: readFlag(body, 'stream'),
    outputTokensMax: perChoice === 0 ? undefined : perChoice * choices,
    completions: choices,
    mediaParts,
    reasoningEffort: textAt(body, 'reasoning_effort') || undefined,
    wantsUsage: isObject(streamOptions) && streamOptions.include_usage === true,
    streamOptions: isObject(streamOptions) ? streamOptions : undefined,
    ...tierAsked(body),
    ...chatTools(body),
  }
}

/**
 * Usage of Chat and Completions in disjoint buckets. Hosts name cached tokens and reasoning differently (`usage-names.ts`), and count
 * them in the totals or beside them (`place-totals.ts`). Undefined when nothing is reported or a number is invalid, so that the gateway
 * counts tokens itself.
 */
export function readChatUsage(usage: JsonObject | undefined): Usage | undefined {
  if (!usage || !areCounts(usage, ['prompt_tokens', 'completion_tokens', 'total_tokens'])) return undefined
  const hasPrompt = typeof usage.prompt_tokens === 'number'
  const hasCompletion = typeof usage.completion_tokens === 'number'
  if (!hasPrompt && !hasCompletion) return undefined

  const total = countAt(usage, 'total_tokens')
  const completion = hasCompletion ? countAt(usage, 'completion_tokens') : Math.max(0, total - countAt(usage, 'prompt_tokens'))
  const prompt = hasPrompt ? countAt(usage, 'prompt_tokens') : Math.max(0, total - completion)
  const details = objectAt(usage, 'prompt_tokens_details')
  const outputDetails = objectAt(usage, 'completion_tokens_details')
  const fees = readReplyFees(usage)
  const reasoning = fees?.toolCalls?.reasoning_token ? 0 : readReasoning(usage, outputDetails)
  const writes = readCacheWrites(usage, details)
  const written = writes ? writtenTokens(writes) : 0
  const placed = placeTotals({ prompt, completion, total, cached: readCached(usage, details), written, reasoning })
  const read = partsOf(placed.plain, details)
  const outputParts = partsOf(placed.completion, outputDetails)
  return {
    ...noUsage,
    input: read.text,
    ...cachedKinds(placed.cached),
    ...writes,
    audioInput: read.audio,
    imageInput: read.image,
    output: outputParts.text,
    audioOutput: outputParts.audio,
    imageOutput: outputParts.image,
    reasoning,
    ...placed.marks,
    ...fees,
  }
}

/** Splits tokens into text, audio and images. Cached audio counts as cached tokens, since it is not reported separately. */
function partsOf(tokens: number, details: JsonObject | undefined): { text: number; audio: number; image: number } {
  const audio = Math.min(tokens, countAt(details, 'audio_tokens'))
  const image = Math.min(tokens - audio, countAt(details, 'image_tokens'))
  return { text: tokens - audio - image, audio, image }
}

/** The usage, wherever the vendor reports it, with the tier. */
export function readReportedUsage(data: JsonObject): Usage | undefined {
  const usage = readChatUsage(reportedUsage(data))
  const served = tierServed(data)
  return usage && served.tier ? { ...usage, ...served } : usage
}

export function renameTopLevelModel(data: Buffer, model: string): Buffer | undefined {
  const members = membersOf(data)
  if (!members || typeof memberValue(data, members, 'model') !== 'string') return undefined
  return spliceMembers(data, { model: JSON.stringify(model) })
}

function choicesOf(data: JsonObject): JsonObject[] {
  return arrayAt(data, 'choices').filter(isObject)
}

/** An error inside of a stream: in `error`, or as the whole event. */
export function readStreamError(data: JsonObject): UpstreamErrorFacts | undefined {
  return data.error || data.type === 'error' ? readOpenAiError(data) : readErrorInChoices(data)
}

/** Whether a choice of a complete reply has neither a message nor a reason for having none. */
export function isEmptyChoice(choice: JsonObject): boolean {
  return !isObject(choice.message) && !isFinished(choice)
}

/** Some vendors send '' or 'null' until the end. */
export function isFinished({ finish_reason }: JsonObject): boolean {
  return typeof finish_reason === 'string' && finish_reason !== '' && finish_reason !== 'null'
}

/** Whether a delta has anything but the role: text, calls, audio, or members of vendors. */
function hasContent({ role, ...delta }: JsonObject): boolean {
  return Object.values(delta).some((value) =>
    typeof value === 'object' && value !== null ? Object.keys(value).length > 0 : Boolean(value),
  )
}

function messageText(message: JsonObject): string {
  const parts = [
    contentText(message.content),
    answerAt(message, 'reasoning_content') || textAt(message, 'reasoning'),
    textAt(message, 'refusal'),
  ]
  for (const call of [message.function_call, ...arrayAt(message, 'tool_calls')].filter(isObject)) {
    const called = toolMemberOf(call).called ?? call
    parts.push(textAt(called, 'name'), textAt(called, 'arguments'), textAt(called, 'input'))
  }
  return parts.join('')
}

function mediaPartsOf(messages: readonly unknown[]): number {
  const found = { texts: [], media: 0 }
  collectText(messages, found)
  return found.media
}

function textsOf(values: readonly unknown[]): string[] {
  const found = { texts: [] as string[], media: 0 }
  for (const value of values) collectText(value, found)
  return found.texts
}
