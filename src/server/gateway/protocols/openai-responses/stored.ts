import type { StoredForm } from '../stored-form.ts'
import { arrayAt, isObject, objectAt } from '../wire-format.ts'
import { beginBackground, closingEvent, eventText, isTerminalEvent, numberOf, replayAfter } from './background.ts'
import { readFailedResponse } from './errors.ts'
import { inputItems, outputAsInput } from './history.ts'
import { isRunning, readEnd } from './states.ts'

/** Stored responses. Source: protocols notes 1.3. */
export const storedResponses: StoredForm = {
  idPrefix: 'resp_',
  keyOf: (id) => id,
  previousIn: 'previous_response_id',
  refersToItems: true,
  inputItems,
  outputAsInput: (response) => outputAsInput(arrayAt(response, 'output')),

  queryNames: new Set([
    'include',
    'include[]',
    'stream',
    'starting_after',
    'include_obfuscation',
    'after',
    'before',
    'limit',
    'order',
  ]),
  eventAfter(query) {
    const number = query.get('starting_after')
    return number !== null && /^\d{1,9}$/.test(number) ? Number(number) : -1
  },
  isRunning,
  readEnd,
  readFailure: (response) => (objectAt(response, 'error') ? readFailedResponse(response) : undefined),
  failureMembers: ({ code, message }) => ({ error: { code, message } }),
  answerIn: (event) => objectAt(event, 'response'),

  begin: beginBackground,
  numberOf,
  isTerminalEvent,
  closed(begun, events, error) {
    const output = events
      .flatMap((data): unknown[] => (data.startsWith(itemDone) ? [JSON.parse(data).item] : []))
      .filter(isObject)
    return { ...begun, status: error ? 'failed' : 'cancelled', error: error ?? null, output }
  },
  closingEvent,
  replayAfter,
  eventText,
  asRead: (response) => response,
  deleted: (id) => ({ id, object: 'response', deleted: true }),
}

const itemDone = '{"type":"response.output_item.done"'
