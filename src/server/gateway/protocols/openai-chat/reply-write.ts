import type { Usage } from '../../../../contract/usage.ts'
import type { EventWriter, Inbound, WriteContext } from '../codec.ts'
import { errorEvent, passedError } from '../error-body.ts'
import type { ReplyEvent } from '../reply-events.ts'
import { arrayAt, isObject, type JsonObject, objectAt, textAt, type UpstreamErrorFacts } from '../wire-format.ts'
import { writeChatUsage } from './usage.ts'
import { ChatDeltas } from './write-deltas.ts'

/** A whole Chat reply: the deltas of the stream put together. Source: protocols notes 1.1, edge cases 59 and 60. */
export const writeReply: Inbound['writeReply'] = (events, context) => {
  const deltas = new ChatDeltas(context.dialogue.usesFunctions, context.lose)
  const message: Message = { role: 'assistant', content: null, refusal: null }
  let finishWord = 'stop'
  let usage: Usage | undefined

  for (const event of events) {
    const delta = event.type === 'finish' ? deltas.explain(event.explanation) : deltas.read(event)
    if (delta) addDelta(message, delta, context)
    if (event.type === 'finish') finishWord = deltas.finishWord(event.reason)
    if (event.type === 'usage') usage = event.usage
  }
  const isCalled = message.tool_calls !== undefined || message.function_call !== undefined
  if (!isCalled && (finishWord === 'content_filter' || message.refusal === null)) message.content ??= ''
  return {
    ...head(context, 'chat.completion'),
    choices: [
      { index: 0, message, logprobs: context.dialogue.logprobs ? deltas.takeLogprobs() : null, finish_reason: finishWord },
    ],
    ...(usage ? { usage: writeChatUsage(usage) } : {}),
  }
}

/** A Chat stream: a first chunk with the role, the deltas, the finish reason, the usage when it was asked for, and `[DONE]`. */
export function writeEvents(context: WriteContext): EventWriter {
  const deltas = new ChatDeltas(context.dialogue.usesFunctions, context.lose)
  const { wantsUsage } = context.dialogue
  let finish: Extract<ReplyEvent, { type: 'finish' }> | undefined
  let usage: Usage | undefined
  let audioId: string | undefined

  // All chunks begin and end with the same text: only the part that differs is serialised.
  const opening = `data: ${JSON.stringify(head(context, 'chat.completion.chunk')).slice(0, -1)},"choices":[{"index":0,"delta":`
  const closing = wantsUsage ? '}],"usage":null}\n\n' : '}]}\n\n'
  const logprobs = () => (context.dialogue.logprobs ? JSON.stringify(deltas.takeLogprobs()) : 'null')
  const chunk = (delta: JsonObject, finishWord: string | null = null) =>
    `${opening}${JSON.stringify(delta)},"logprobs":${logprobs()},"finish_reason":${JSON.stringify(finishWord)}${closing}`
  const ending = () => {
    const explained = deltas.explain(finish?.explanation)
    const last = chunk({}, deltas.finishWord(finish?.reason ?? 'stop'))
    const usageText = wantsUsage && usage ? usageChunk(context, usage) : ''
    return `${explained ? chunk(explained) : ''}${last}${usageText}data: [DONE]\n\n`
  }

  return {
    push(event) {
      switch (event.type) {
        case 'start':
          return chunk({ role: 'assistant', content: '' })
        case 'usage':
          usage = event.usage
          return ''
        case 'finish':
          finish = event
          return ''
        case 'error':
          return writeError(event.error, context)
        case 'end':
          return ending()
        default: {
          const delta = deltas.read(event)
          if (!delta?.audio) return delta ? chunk(delta) : ''
          audioId ??= context.newId('audio_')
          return chunk({ audio: { id: audioId, ...objectAt(delta, 'audio') } })
        }
      }
    },
  }
}

/** An error inside of a stream; nothing follows it. */
export function writeError(error: UpstreamErrorFacts, { id }: WriteContext): string {
  const callerError = passedError(error.status || 502, { ...error, type: error.type || 'server_error' })
  return errorEvent('openai', callerError, { requestId: id, language: 'en' })
}

type Message = Record<string, unknown> & { role: 'assistant'; content: string | null; refusal: string | null }

function head({ id, createdAt, model }: WriteContext, object: string): JsonObject {
  return { id: `chatcmpl-${id}`, object, created: createdAt, model }
}

function usageChunk(context: WriteContext, usage: Usage): string {
  return `data: ${JSON.stringify({ ...head(context, 'chat.completion.chunk'), choices: [], usage: writeChatUsage(usage) })}\n\n`
}

/** Appends a delta to a message: strings and lists are concatenated, pieces of a call are added to their call. */
function addDelta(message: Message, delta: JsonObject, context: WriteContext): void {
  for (const [key, value] of Object.entries(delta)) {
    if (key === 'tool_calls') addCalls(message, arrayAt(delta, key))
    else if (key === 'function_call') message[key] = joined(objectAt(message, key) ?? {}, objectAt(delta, key) ?? {})
    else if (key === 'audio') addAudio(message, textAt(objectAt(delta, key) ?? {}, 'data'), context)
    else if (typeof value === 'string') message[key] = textAt(message, key) + value
    else if (Array.isArray(value)) message[key] = [...arrayAt(message, key), ...value]
    else message[key] = value
  }
}

function addCalls(message: Message, pieces: readonly unknown[]): void {
  const calls = [...arrayAt(message, 'tool_calls')].filter(isObject)
  for (const { index, ...piece } of pieces.filter(isObject)) {
    const at = Number(index)
    const before = calls[at] ?? {}
    const kinds = ['function', 'custom'].filter((kind) => isObject(piece[kind]))
    const called = kinds.map((kind) => [kind, joined(objectAt(before, kind) ?? {}, objectAt(piece, kind) ?? {})])
    calls[at] = { ...before, ...piece, ...Object.fromEntries(called) }
  }
  message.tool_calls = calls
}

function joined(before: JsonObject, more: JsonObject): JsonObject {
  const inputs = ['arguments', 'input'].filter((key) => typeof more[key] === 'string')
  return { ...before, ...more, ...Object.fromEntries(inputs.map((key) => [key, textAt(before, key) + textAt(more, key)])) }
}

/** `transcript` is empty, since the transcript is in the message's text. */
function addAudio(message: Message, data: string, context: WriteContext): void {
  const audio = objectAt(message, 'audio')
  const started = { id: context.newId('audio_'), expires_at: context.createdAt, transcript: '' }
  message.audio = { ...(audio ?? started), data: (audio ? textAt(audio, 'data') : '') + data }
}
