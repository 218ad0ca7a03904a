import { membersOf, spliceMembers } from '../../../base/lib/bytes/splice-json.ts'
import { AppError, fail } from '../../../base/lib/failure.ts'
import { collectText, outputTokensLimit, readCount, readFlag, readModel } from '../read-request.ts'
import { geminiTierAsked } from '../tiers.ts'
import {
  arrayAt,
  isObject,
  type JsonObject,
  objectAt,
  type RequestFacts,
  textAt,
  type UpstreamErrorFacts,
  type WireFormat,
} from '../wire-format.ts'
import { gatherInteraction, replayInteraction } from './forms.ts'
import { interactionTools } from './hosted-tools.ts'
import { readFailedInteraction, readInteractionError } from './states.ts'
import { readInteractionUsage } from './usage.ts'

/**
 * Gemini Interactions: a model, or an agent of the vendor, which has the place of a model in prices and channels. Source: types of the
 * official SDK 3.1 and https://ai.google.dev/gemini-api/docs/interactions, read 2026-11.
 */
export const geminiInteractions: WireFormat = {
  format: 'gemini.interactions',
  dialect: 'gemini',
  continues: 'response',
  readRequest: readFacts,
  promptText: (body) => readPrompt(body).texts,
  answerIn: 'steps',
  // A background interaction has no steps yet.
  answersWith: (reply) => Array.isArray(reply.steps) || (typeof reply.id === 'string' && typeof reply.status === 'string'),
  isEmpty: isEmptyInteraction,
  mendReply: refuseFailed,
  readUsage: (reply) => readInteractionUsage(reply),
  replyText: (reply) => arrayAt(reply, 'steps').filter(isObject).map(stepText).join('\n'),

  stream: {
    marks: /"usage"\s*:\s*\{|"error"|interaction\.completed/g,
    hasNamedEvents: true,
    eventNameIn: 'event_type',
    // The finish is followed by this event, or by the end of the body.
    isTerminal: ({ data }) => data.trim() === '[DONE]',
    endsWithBody: true,
    terminalText: '',
    readUsage: (data, before) => readInteractionUsage(objectAt(data, 'interaction') ?? data, before),
    isUsageOnly: () => false,
    hasOutput: ({ event_type: type, interaction }) =>
      type === 'step.delta' ||
      type === 'step.stop' ||
      (type === 'interaction.completed' && isObject(interaction) && !isEmptyInteraction(interaction)),
    isFinish: ({ event_type: type }) => type === 'interaction.completed',
    deltaText,
    readError: (data) => readInteractionError(data) ?? readFailedInteraction(objectAt(data, 'interaction') ?? {}),
    errorEvent: errorEventText,
    replay: replayInteraction,
    gather: gatherInteraction,
    renameModel: renameNestedModel,
    heartbeat: ': keep-alive\n\n',
  },
}

function isEmptyInteraction(interaction: JsonObject): boolean {
  return interaction.status === 'completed' && arrayAt(interaction, 'steps').length === 0 && !isObject(interaction.usage)
}

function readFacts(body: JsonObject): RequestFacts {
  const { input, model, agent, previous_interaction_id: previous } = body
  const isKeptElsewhere = typeof previous === 'string' && previous !== ''
  if ((input === undefined || input === null || input === '') && !isKeptElsewhere)
    fail('field_invalid', { field: 'input', reason: 'is required' })
  if (readFlag(body, 'background') && body.store === false)
    fail('field_invalid', { field: 'background', reason: { zh: '需要 store', en: 'only works together with store' } })
  const config = objectAt(body, 'generation_config') ?? {}
  const field = 'generation_config.max_output_tokens'
  const maximum = readCount({ [field]: config.max_output_tokens }, field, { min: 0, max: outputTokensLimit })
  return {
    model: readModel(model === undefined && typeof agent === 'string' ? { model: agent } : body).replace(/^models\//, ''),
    stream: readFlag(body, 'stream'),
    outputTokensMax: maximum || undefined,
    mediaParts: readPrompt(body).media,
    reasoningEffort: textAt(config, 'thinking_level').toLowerCase() || undefined,
    wantsUsage: true,
    streamOptions: undefined,
    ...geminiTierAsked(body),
    ...interactionTools(body),
  }
}

/** All input of the model. The signatures of thoughts are no text. */
function readPrompt(body: JsonObject): { texts: string[]; media: number } {
  const found = { texts: [] as string[], media: 0 }
  for (const part of [body.system_instruction, body.tools, body.response_format]) collectText(part, found)
  const { input } = body
  for (const step of Array.isArray(input) ? input : [input]) {
    const { signature: _, ...open }: JsonObject = isObject(step) ? step : { step }
    collectText(open, found)
  }
  return found
}

/** A failed interaction under a 2xx status is a failure of the channel. */
function refuseFailed(reply: Buffer): undefined {
  if (!reply.includes('"failed"')) return undefined
  const parsed: unknown = JSON.parse(reply.toString())
  const failure = isObject(parsed) ? readFailedInteraction(parsed) : undefined
  if (failure) throw new AppError('upstream_failed', { reason: failure.message })
  return undefined
}

function stepText(step: JsonObject): string {
  const parts = [...arrayAt(step, 'content'), ...arrayAt(step, 'summary')].filter(isObject)
  const call = step.type === 'function_call' ? textAt(step, 'name') + JSON.stringify(step.arguments ?? '') : ''
  return parts.map((part) => textAt(part, 'text')).join('') + call
}

function deltaText(data: JsonObject): string {
  if (data.event_type === 'step.start') return textAt(objectAt(data, 'step') ?? {}, 'name')
  if (data.event_type !== 'step.delta') return ''
  const delta = objectAt(data, 'delta') ?? {}
  return textAt(delta, 'text') + textAt(delta, 'arguments') + textAt(objectAt(delta, 'content') ?? {}, 'text')
}

/** The vendor's event, whose code is the name of a status. */
export function errorEventText({ message, code, status }: UpstreamErrorFacts): string {
  const name = status === 429 ? 'RESOURCE_EXHAUSTED' : status >= 400 && status < 500 ? 'INVALID_ARGUMENT' : 'UNAVAILABLE'
  const error = { code: isStatusName.test(code) ? code : name, message }
  return `event: error\ndata: ${JSON.stringify({ event_type: 'error', error })}\n\n`
}

const isStatusName = /^[A-Z][A-Z_]+$/

/** Events have the model inside of `interaction`, a whole interaction at the top level. */
function renameNestedModel(data: Buffer, model: string): Buffer | undefined {
  const members = membersOf(data)
  const interaction = members?.find((member) => member.key === 'interaction')
  if (!interaction) return undefined
  const inner = data.subarray(interaction.valueStart, interaction.end)
  if (!membersOf(inner)?.some((member) => member.key === 'model')) return undefined
  return spliceMembers(data, { interaction: spliceMembers(inner, { model: JSON.stringify(model) }).toString() })
}
