import { readEvent } from '../../protocols/openai-realtime/events.ts'
import { inputItems, outputAsInput } from '../../protocols/openai-responses/history.ts'
import { arrayAt, type JsonObject, objectAt, textAt } from '../../protocols/wire-format.ts'

/** A conversation up to one of its answers. */
interface Conversation {
  /** The answer that an upstream keeps and that this goes on from; empty for none. */
  readonly keptId: string
  readonly items: readonly unknown[]
  readonly bytes: number
}

/**
 * What one connection remembers of its conversations, so that a request can go on from an answer that no upstream keeps: `store` was
 * false, or the answer was translated. The newest stay, as far as they fit; nothing of it outlives the connection.
 */
export class RememberedTurns {
  /** By the id of the answer, the newest last. */
  readonly #known = new Map<string, Conversation>()

  /** The request with all that came before it in place of the id that it names; as it is when that id is not known here. */
  expand(body: JsonObject): JsonObject {
    const known = this.#known.get(textAt(body, 'previous_response_id'))
    const items = inputItems(body.input)
    if (!known || !items) return body
    const { previous_response_id: _id, ...rest } = body
    return {
      ...rest,
      ...(known.keptId === '' ? {} : { previous_response_id: known.keptId }),
      input: [...known.items, ...items],
    }
  }

  /** Takes note of an answer to a request as it was sent on, which is to say expanded. */
  remember(sent: JsonObject, response: JsonObject, output: readonly unknown[]): void {
    const id = textAt(response, 'id')
    const items = inputItems(sent.input)
    if (id === '' || !items) return
    const all = [...items, ...outputAsInput(output)]
    const bytes = JSON.stringify(all).length
    if (bytes > bytesMax) return
    this.#known.set(id, { keptId: textAt(sent, 'previous_response_id'), items: all, bytes })
    this.#forgetOldest()
  }

  #forgetOldest(): void {
    let sum = 0
    for (const { bytes } of this.#known.values()) sum += bytes
    for (const [id, { bytes }] of this.#known) {
      if (sum <= bytesMax && this.#known.size <= countMax) return
      this.#known.delete(id)
      sum -= bytes
    }
  }
}

/** Gathers the answer of one request out of its events, as they pass. */
export class AnswerNote {
  readonly #done: unknown[] = []

  /** The finished response and its output, once the event that ends it has come. Looks into no event that cannot matter. */
  take(data: string): { response: JsonObject; output: readonly unknown[] } | undefined {
    if (!/"response\.(output_item\.done|completed|incomplete)"/.test(data)) return undefined
    const event = readEvent(data)
    if (!event) return undefined
    if (event.type === 'response.output_item.done') this.#done.push(event.item)
    if (event.type !== 'response.completed' && event.type !== 'response.incomplete') return undefined
    const response = objectAt(event, 'response') ?? {}
    const output = arrayAt(response, 'output')
    // Some hosts end with an empty list.
    return { response, output: output.length > 0 ? output : this.#done }
  }
}

const countMax = 32
const bytesMax = 8 * 1024 * 1024

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
