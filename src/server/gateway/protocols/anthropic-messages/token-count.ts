import { fail } from '../../../base/lib/failure.ts'
import { readModel, requireArray } from '../read-request.ts'
import { type CallerCount, countedOutputTokens, tokensAt, type UpstreamCount } from '../token-counts.ts'
import { arrayAt, isObject, type JsonObject, objectAt, textAt, type WireFormat } from '../wire-format.ts'

/**
 * Counts the tokens of a Messages request: a separate endpoint that returns one number, is never streamed and is free. Its request
 * is a Messages request without an output limit. Source: protocols notes 1.12 and 5.2.
 */
export const anthropicCountTokens: WireFormat = {
  format: 'anthropic.count_tokens',
  dialect: 'anthropic',
  continues: 'thread',
  isFree: true,

  readRequest(body) {
    if (!requireArray(body, 'messages').every(isObject)) {
      fail('field_invalid', { field: 'messages', reason: { zh: '每条消息都必须是对象', en: 'every message must be an object' } })
    }
    return {
      model: readModel(body),
      stream: false,
      outputTokensMax: undefined,
      mediaParts: countableText(body).mediaParts,
      reasoningEffort: undefined,
      wantsUsage: false,
      streamOptions: undefined,
    }
  },

  promptText: (body) => [...countableText(body).texts],
  answerIn: 'input_tokens',
  readUsage: () => undefined,
  replyText: () => '',
  stream: null,
}

/** The count as callers get it. */
export const messagesCount: CallerCount = {
  of: 'anthropic.messages',
  readRequest: (body) => ({ ...body, max_tokens: body.max_tokens ?? countedOutputTokens, stream: undefined }),
  readPrompt(body) {
    const { texts, tokensBeside } = countableText(body)
    return { texts, around: tokensBeside }
  },
  writeReply: writeTokenCount,
}

/** The vendor's own count. */
export const messagesCountUpstream: UpstreamCount = {
  of: 'anthropic.messages',
  writeRequest: (request, model) => ({ ...withoutAnswer(request), model }),
  readReply: (reply) => tokensAt(reply, 'input_tokens'),
}

function withoutAnswer(request: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(request).filter(([key]) => !ofAnswer.has(key)))
}

/** Members of Messages that are not part of the prompt; the count endpoint refuses them. */
const ofAnswer: ReadonlySet<string> = new Set([
  'max_tokens',
  'stream',
  'stop_sequences',
  'temperature',
  'top_p',
  'top_k',
  'metadata',
  'service_tier',
  'inference_geo',
  'container',
  'diagnostics',
])

interface Countable {
  readonly texts: readonly string[]
  /** Images and documents, whose tokens do not come from text. */
  readonly mediaParts: number
  /** The vendor's overhead: roles of messages, and instructions for tools. */
  readonly tokensBeside: number
}

/**
 * The counted parts of a Messages request: instructions, messages, tools and the output schema. Past thinking is not counted, since
 * the model does not read it again, and ids are not text.
 */
export function countableText(body: JsonObject): Countable {
  const found = { texts: [] as string[], mediaParts: 0 }
  addContent(body.system, found)
  const messages = arrayAt(body, 'messages').filter(isObject)
  for (const message of messages) addContent(message.content, found)
  const tools = arrayAt(body, 'tools').filter(isObject)
  for (const tool of tools) {
    found.texts.push(textAt(tool, 'name'), textAt(tool, 'description'), JSON.stringify(tool.input_schema ?? ''))
  }
  const format = objectAt(objectAt(body, 'output_config') ?? {}, 'format')
  if (format) found.texts.push(JSON.stringify(format.schema ?? ''))
  const beside = messages.length * tokensPerMessage + (tools.length > 0 ? tokensForTools + tools.length * tokensPerTool : 0)
  return { texts: found.texts.filter((text) => text !== ''), mediaParts: found.mediaParts, tokensBeside: beside }
}

/** The reply of the token count endpoint. */
export function writeTokenCount(inputTokens: number): JsonObject {
  return { input_tokens: Math.max(0, Math.round(inputTokens)) }
}

const tokensPerMessage = 3
const tokensPerTool = 8
/** The tokens of the vendor's own instructions for tools. */
const tokensForTools = 346
const depthMax = 16

function addContent(content: unknown, found: { texts: string[]; mediaParts: number }, depth = 0): void {
  if (typeof content === 'string') found.texts.push(content)
  if (!Array.isArray(content) || depth > depthMax) return
  for (const block of content) if (isObject(block)) addBlock(block, found, depth)
}

function addBlock(block: JsonObject, found: { texts: string[]; mediaParts: number }, depth: number): void {
  switch (block.type) {
    case 'thinking':
    case 'redacted_thinking':
      return
    case 'image':
    case 'document': {
      const source = objectAt(block, 'source') ?? {}
      found.texts.push(textAt(block, 'title'), textAt(block, 'context'))
      if (source.type === 'text') found.texts.push(textAt(source, 'data'))
      else if (source.type === 'content') addContent(source.content, found, depth + 1)
      else found.mediaParts++
      return
    }
    case 'tool_use':
    case 'server_tool_use':
      found.texts.push(textAt(block, 'name'), JSON.stringify(block.input ?? {}))
      return
    default:
      found.texts.push(textAt(block, 'text'), textAt(block, 'title'), textAt(block, 'source'))
      addContent(block.content, found, depth + 1)
  }
}
