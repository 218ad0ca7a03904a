import type { WriteContext } from '../codec.ts'
import { type JsonObject, textAt } from '../wire-format.ts'
import { replayResponse, terminalType } from './forms.ts'
import { newResponse } from './response-object.ts'

/** A queued response, and the first events of its stream. The writer of its stream continues after them. */
export function beginBackground(context: WriteContext): {
  readonly response: JsonObject
  readonly events: readonly JsonObject[]
} {
  const response = { ...newResponse(context), status: 'queued' }
  const events = ['response.created', 'response.queued'].map((type, index) => ({ type, sequence_number: index, response }))
  return { response, events }
}

/** The number of the first event after those of `beginBackground`. */
export const firstNumberInBackground = 2

/** The terminal event of a response whose upstream sent none. */
export function closingEvent(response: JsonObject, number: number): JsonObject {
  return { type: terminalType(response), sequence_number: number, response }
}

/** Whether an event in the JSON form written by the gateway is the terminal event of its stream. */
export function isTerminalEvent(data: string): boolean {
  return /^\{"type":"response\.(?:completed|incomplete|failed)"/.test(data)
}

/** The sequence number of an event. */
export function numberOf(data: string): number {
  return Number(/"sequence_number":(\d+)/.exec(data)?.[1] ?? 0)
}

/** The events of a complete response after a sequence number. */
export function replayAfter(response: JsonObject, number: number): { number: number; data: string }[] {
  return replayResponse(response)
    .map((event, index) => ({ number: index, data: JSON.stringify(event) }))
    .filter((event) => event.number > number)
}

/** An event in its stream form. */
export function eventText(data: string): string {
  return `event: ${textAt(JSON.parse(data), 'type')}\ndata: ${data}\n\n`
}
