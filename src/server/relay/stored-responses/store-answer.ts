import { seconds } from '../../lib/clock.ts'
import { eventsIn } from '../../lib/sse.ts'
import { isTerminalEvent } from '../../protocols/openai-responses/background.ts'
import { type JsonObject, objectAt, textAt } from '../../protocols/wire-format.ts'
import type { AdmittedRequest, AttemptState, RelayParts } from '../relay-parts.ts'
import { parse } from '../response/sse-interceptor.ts'
import type { LocalResponse } from './local-responses.ts'

/**
 * Keeps the answer of a translated turn, as the caller is about to get it: a whole one, or the last events of a stream. It has been charged by
 * now. What cannot be kept is answered all the same.
 */
export async function storeAnswer(
  app: RelayParts,
  attempt: AttemptState,
  said: { whole: Buffer } | { last: string },
): Promise<void> {
  const own = answerToStore(attempt, said)
  if (!own) return
  try {
    await app.localResponses.keep(own)
  } catch (error) {
    app.logger.error({ error, request: attempt.request.call.id }, 'a response could not be kept')
  }
}

/** The turn that is to be kept of an answer; undefined for one that is not kept here. */
export function answerToStore(
  { request, translation }: AttemptState,
  said: { whole: Buffer } | { last: string },
): LocalResponse | undefined {
  if (!request.keeps || !translation || request.keeps.isBackground) return undefined
  const response = 'whole' in said ? parse(said.whole.toString()) : lastResponse(said.last)
  return response && localResponseOf(request, response)
}

/** A response as it is kept. */
export function localResponseOf({ call, caller, facts, keeps }: AdmittedRequest, response: JsonObject): LocalResponse {
  const id = textAt(response, 'id')
  return {
    userId: caller.userId,
    id,
    tokenId: caller.tokenId,
    model: facts.model,
    thread: keeps?.thread || id,
    previousId: keeps?.previousId ?? '',
    isBackground: keeps?.isBackground ?? false,
    createdAt: seconds(call.startedMs),
    input: keeps?.input ?? [],
    response,
  }
}

function lastResponse(events: string): JsonObject | undefined {
  const last = eventsIn(events).findLast(({ data }) => isTerminalEvent(data))
  return last && objectAt(parse(last.data) ?? {}, 'response')
}
