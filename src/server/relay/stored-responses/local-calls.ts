import { fail } from '../../lib/failure.ts'
import { listInput } from '../../protocols/openai-responses/input-list.ts'
import { isRunning } from '../../protocols/openai-responses/states.ts'
import type { ClientExchange } from '../http/client-exchange.ts'
import type { RelayParts } from '../relay-parts.ts'
import { withKeptItems } from './expand-history.ts'
import type { LocalResponse } from './local-responses.ts'
import { streamLocal } from './local-stream.ts'
import type { ResponseAction } from './upstream-calls.ts'

/** Answers a call about a response that this server keeps. Nothing is charged for it. */
export async function answerLocal(
  app: RelayParts,
  call: ClientExchange,
  own: LocalResponse,
  asked: { action: ResponseAction; query: URLSearchParams },
): Promise<void> {
  const { action, query } = asked
  if (action === 'delete') await remove(app, call, own)
  else if (action === 'items') await list(app, call, own, query)
  else if (action === 'cancel') await cancel(app, call, own)
  else if (query.get('stream') === 'true') await streamLocal(app, call, own, numberIn(query.get('starting_after')))
  else answer(call, own.response)
}

async function remove(app: RelayParts, call: ClientExchange, own: LocalResponse): Promise<void> {
  if (isRunning(own.response)) fail('response_running')
  await app.localResponses.forget(own)
  answer(call, { id: own.id, object: 'response', deleted: true })
}

async function list(app: RelayParts, call: ClientExchange, own: LocalResponse, query: URLSearchParams): Promise<void> {
  const previous = own.previousId === '' ? undefined : await app.localResponses.find({ userId: own.userId, id: own.previousId })
  const history = previous && (await app.localResponses.historyOf(previous))
  const items = await withKeptItems(app, own.userId, [...(history?.items ?? []), ...own.input])
  answer(call, listInput(items, query))
}

/** Only what runs in the background can be stopped; what has ended stays as it ended. */
async function cancel(app: RelayParts, call: ClientExchange, own: LocalResponse): Promise<void> {
  if (!own.isBackground) fail('response_synchronous')
  if (isRunning(own.response)) {
    app.backgroundRuns.find(own)?.cancel()
    await app.localResponses.cancel(own)
  }
  answer(call, (await ended(app, call, own)).response)
}

/** As it ended; as it is, when the node that makes it does not stop in time. */
async function ended(app: RelayParts, call: ClientExchange, own: LocalResponse): Promise<LocalResponse> {
  let now = own
  for (let tries = 0; tries < triesMax && isRunning(now.response) && !call.isOver; tries++) {
    const run = app.backgroundRuns.find(own)
    const pause = new Promise<void>((resolve) => app.deadlines.after(pauseMs, resolve))
    await (run ? Promise.race([run.news(), pause]) : pause)
    now = (await app.localResponses.find(own)) ?? now
  }
  return now
}

function answer(call: ClientExchange, body: object): void {
  call.answer('application/json', Buffer.from(JSON.stringify(body)))
}

function numberIn(text: string | null): number {
  return text !== null && /^\d{1,9}$/.test(text) ? Number(text) : -1
}

const triesMax = 20
const pauseMs = 500
