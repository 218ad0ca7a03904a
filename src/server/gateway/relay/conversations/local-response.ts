import { ownStoredForm } from '../../protocols/index.ts'
import type { StoredForm } from '../../protocols/stored-form.ts'
import type { JsonObject } from '../../protocols/wire-format.ts'

/** Input and response of one turn. */
export interface Content {
  readonly input: readonly unknown[]
  readonly response: JsonObject
}

/** A response that this server stores because its channel does not. */
export interface LocalResponse extends Content {
  readonly userId: number
  readonly id: string
  readonly tokenId: number
  /** The model name of the caller's request. */
  readonly model: string
  /** Id of the first response of the conversation. */
  readonly thread: string
  /** Id of the response that this one continues; empty for none. */
  readonly previousId: string
  readonly isBackground: boolean
  readonly createdAt: number
  /**
   * The request that is charged for it. A response that is stored with its end exists only once it is charged, one in the background at
   * once.
   */
  readonly requestId: string
}

/** The part of a turn that is known before its answer, for a turn that this server stores. */
export type ResponseToStore = Pick<LocalResponse, 'input' | 'thread' | 'previousId' | 'isBackground'>

/** Identifies a response by its user and id. */
export type Owned = Pick<LocalResponse, 'userId' | 'id'>

/** An event in the caller's format, with its number in the stream. */
export interface NumberedEvent {
  readonly number: number
  /** The event as JSON. */
  readonly data: string
}

/** The response with the status of its row; the content is written only when it ends. */
export function withStatus(form: StoredForm, response: JsonObject, status: string): JsonObject {
  const now = { ...response, status }
  return status === 'failed' && !form.readFailure(now) ? failed(form, response) : now
}

export function failed(form: StoredForm, response: JsonObject): JsonObject {
  const message = 'The server that was making this response is gone; send the request again'
  return { ...response, status: 'failed', ...form.failureMembers({ code: 'server_error', message }) }
}

/** Throws for an id that this server has not made. */
export function formOf(id: string): StoredForm {
  const form = ownStoredForm(id)
  if (!form) throw new Error(`${id.slice(0, 100)} is not an id of this server`)
  return form
}

export function contentPlace({ userId, id }: Owned) {
  return { table: 'own_responses', column: 'content_sealed', row: `${userId} ${id}` }
}

export function endPlace({ userId, id }: Owned) {
  return { table: 'own_responses', column: 'end_sealed', row: `${userId} ${id}` }
}

export function eventsPlace({ userId, id }: Owned, number: number) {
  return { table: 'own_response_events', column: 'events_sealed', row: `${userId} ${id} ${number}` }
}
