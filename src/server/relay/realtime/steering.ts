import { readEvent } from '../../protocols/openai-realtime/events.ts'
import { type JsonObject, objectAt, textAt } from '../../protocols/wire-format.ts'

/**
 * Input for a response that is being made, `response.steer` and `response.inject`: nothing here takes it, and the caller gets it back with
 * the reason, so that it goes with the next request. Source: types of the official SDK 7.51.
 */
export function isSteering({ type }: JsonObject): boolean {
  return type === 'response.steer' || type === 'response.inject'
}

/** The responses of one connection: which run, and which are done. The newest stay. */
export class SeenResponses {
  readonly #isRunning = new Map<string, boolean>()

  /** Takes the data of an event. Looks into none that neither begins nor ends a response. */
  note(data: string): void {
    if (!/"response\.(?:created|completed|incomplete|failed)"/.test(data)) return
    const event = readEvent(data) ?? {}
    const id = textAt(objectAt(event, 'response') ?? {}, 'id')
    if (id === '') return
    this.#isRunning.delete(id)
    this.#isRunning.set(id, event.type === 'response.created')
    const [oldest] = this.#isRunning.keys()
    if (this.#isRunning.size > seenMax && oldest !== undefined) this.#isRunning.delete(oldest)
  }

  stateOf(id: string): 'running' | 'done' | 'unknown' {
    const isRunning = this.#isRunning.get(id)
    if (isRunning === undefined) return 'unknown'
    return isRunning ? 'running' : 'done'
  }
}

const seenMax = 100

/** The event that gives the input back. */
export function steeringFailed(event: JsonObject, seen: SeenResponses): JsonObject {
  const { input } = event
  if (event.type === 'response.steer') {
    const id = textAt(event, 'previous_response_id')
    const error = { type: 'invalid_request_error', ...steerErrors[seen.stateOf(id)] }
    return { type: 'response.steer.failed', sequence_number: 0, error, steer: { previous_response_id: id, input } }
  }
  const id = textAt(event, 'response_id')
  return { type: 'response.inject.failed', sequence_number: 0, response_id: id, input, error: injectErrors[seen.stateOf(id)] }
}

const advice = 'send the input with the next response.create'
const done = { code: 'response_already_completed', message: `The response is complete; ${advice}` }
const unknown = { code: 'response_not_found', message: 'No such response was made on this connection' }

const steerErrors = {
  running: { code: 'steering_not_supported', message: `Steering is not offered here; ${advice}` },
  done,
  unknown,
}

/** There is no code for what is never taken: callers keep the input of a completed response for the next one, which is what is wanted. */
const injectErrors = {
  running: { ...done, message: `A running response takes no input here; ${advice}` },
  done,
  unknown,
}
