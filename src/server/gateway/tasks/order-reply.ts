import type { RunningChannel } from '../channels/index/model-index.ts'
import { type JsonObject, objectAt, textAt } from '../protocols/wire-format.ts'
import type { ClientExchange } from '../relay/http/client-exchange.ts'
import type { Refused } from './order.ts'
import { toldText } from './text.ts'

/** The reply of an upstream to an order, without any reference to the channel. */
export function orderAnswer(answer: JsonObject, channel: RunningChannel): JsonObject {
  const properties = objectAt(answer, 'properties')
  const messageKeys = Object.keys(answer).filter((key) => key === 'description' || key === 'message')
  return {
    ...answer,
    ...Object.fromEntries(messageKeys.map((key) => [key, toldText(textAt(answer, key), channel)])),
    ...(properties ? { properties: knownProperties(properties, channel) } : {}),
  }
}

/** Sends the refusal of an upstream: with its own code where the dialect has them, else as an error. */
export function refuse(call: ClientExchange, { answer, reason, code }: Refused, channel: RunningChannel): void {
  const message = toldText(reason, channel) || code
  const text = { zh: message, en: message }
  const error = { status: 500, message: text, type: 'upstream_error', code, param: null, retryAfter: 0, final: true }
  if (answer) {
    call.noteError({ ...error, status: 200 })
    sendJson(call, orderAnswer(answer, channel))
    return
  }
  call.sendError(error)
}

export function sendJson(call: ClientExchange, value: unknown): void {
  call.answer('application/json; charset=utf-8', Buffer.from(JSON.stringify(value)))
}

/** The properties that are passed on, such as the length of the queue, the refused word, or the progress of an earlier drawing. */
const known = ['status', 'finalPrompt', 'finalZhPrompt', 'promptEn', 'bannedWord', 'numberOfQueues', 'progress'] as const

function knownProperties(properties: JsonObject, channel: RunningChannel): JsonObject {
  const entries = known.flatMap((key): [string, string | number][] => {
    const value = properties[key]
    if (typeof value === 'string') return [[key, toldText(value, channel)]]
    return typeof value === 'number' ? [[key, value]] : []
  })
  return Object.fromEntries(entries)
}
