import { fail } from '../../lib/failure.ts'
import { spliceMembers } from '../../lib/splice-json.ts'
import { inputItems, referencesIn, withReferred } from '../../protocols/openai-responses/history.ts'
import { isRunning } from '../../protocols/openai-responses/states.ts'
import { textAt } from '../../protocols/wire-format.ts'
import type { RelayCaller } from '../../tokens/authenticate.ts'
import { type Body, bodyLimitBytes } from '../http/read-body.ts'
import type { RelayParts } from '../relay-parts.ts'
import type { Keeping } from './local-responses.ts'

/** A request with all that came before it in place of the response that it names, where this server keeps that. */
export interface Expanded {
  readonly body: Body
  /** Absent for what is not to be kept. */
  readonly keeps?: Keeping
}

/** More of one turn is not kept. */
export const turnBytesMax = 8 * 1024 * 1024

/**
 * Puts the conversation that this server keeps, and items of it that the request only refers to, into the request, so that any channel can
 * answer it; the request as it is when it names none, or what an upstream keeps. A turn is kept with its references. Throws `response_running` or `body_too_large`, and `previous_response_unknown` when a turn
 * of the conversation was removed.
 */
export async function expandHistory(app: RelayParts, caller: RelayCaller, body: Body): Promise<Expanded> {
  const { json, bytes } = body
  const input = inputItems(json.input)
  const previousId = textAt(json, 'previous_response_id')
  const previous = previousId === '' ? undefined : await app.localResponses.find({ userId: caller.userId, id: previousId })
  const isKept = app.localResponses.isOn && json.store !== false && bytes.length <= turnBytesMax
  const asKept = (thread: string): Pick<Expanded, 'keeps'> =>
    input && isKept ? { keeps: { input, thread, previousId, isBackground: false } } : {}
  if (!input) return { body }
  if (previous && isRunning(previous.response)) fail('response_running')
  const history = previous && (await app.localResponses.historyOf(previous))
  if (previous && !history) return fail('previous_response_unknown', { id: previousId.slice(0, 100) })

  const given = history ? [...history.items, ...input] : input
  const items = await withKeptItems(app, caller.userId, given)
  const keeping = history ? asKept(history.thread) : previousId === '' ? asKept('') : {}
  if (!history && items === given) return { body, ...keeping }
  const { previous_response_id: _, ...rest } = json
  const changed = { ...(history ? rest : json), input: items }
  const removed = history ? { previous_response_id: undefined } : {}
  const whole = spliceMembers(bytes, { ...removed, input: JSON.stringify(items) })
  if (whole.length > bodyLimitBytes) fail('body_too_large', { limit: bodyLimitBytes })
  return { body: { ...body, json: changed, bytes: whole }, ...keeping }
}

/** The items with those that this server keeps in place of references to them; the same list when there are none. */
export async function withKeptItems(app: RelayParts, userId: number, items: readonly unknown[]): Promise<readonly unknown[]> {
  const references = referencesIn(items)
  return references.length === 0 ? items : withReferred(items, await app.localResponses.itemsOf(userId, references))
}
