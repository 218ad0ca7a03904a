import { toByteText } from '../../../base/lib/bytes/sse.ts'
import { fail } from '../../../base/lib/failure.ts'
import { listInput } from '../../protocols/openai-responses/input-list.ts'
import { type ConversationParts, withKeptItems } from '../conversations/history.ts'
import { formOf, type LocalResponse, type NumberedEvent } from '../conversations/local-response.ts'
import type { GatewayParts } from '../gateway-parts.ts'
import type { ClientExchange } from '../http/client-exchange.ts'
import type { ResponseAction } from '../http/endpoints.ts'
import { untilGone, writePaced } from '../http/paced-writes.ts'
import { eventStreamHeaders } from '../response/stream.ts'
import type { BackgroundRuns } from './background-run.ts'

/** The parts that reading stored responses uses. */
type LocalCallParts = Pick<GatewayParts, 'deadlines' | 'steady'> &
  Pick<ConversationParts, 'localResponses'> & { readonly backgroundRuns: BackgroundRuns }

/** Answers a call about a locally stored response. Free of charge. */
export async function answerLocal(
  app: LocalCallParts,
  call: ClientExchange,
  own: LocalResponse,
  asked: { action: ResponseAction; query: URLSearchParams },
): Promise<void> {
  const { action, query } = asked
  if (action === 'delete') await remove(app, call, own)
  else if (action === 'items') await list(app, call, own, query)
  else if (action === 'cancel') await cancel(app, call, own)
  else if (query.get('stream') === 'true') await streamLocal(app, call, own, formOf(own.id).eventAfter(query))
  else answer(call, formOf(own.id).asRead(own.response, own.input))
}

async function remove(app: Pick<ConversationParts, 'localResponses'>, call: ClientExchange, own: LocalResponse): Promise<void> {
  const form = formOf(own.id)
  if (form.isRunning(own.response)) fail('response_running')
  await app.localResponses.forget(own)
  answer(call, form.deleted(own.id))
}

async function list(
  app: Pick<ConversationParts, 'localResponses'>,
  call: ClientExchange,
  own: LocalResponse,
  query: URLSearchParams,
): Promise<void> {
  const previous = own.previousId === '' ? undefined : await app.localResponses.find({ userId: own.userId, id: own.previousId })
  const history = previous && (await app.localResponses.historyOf(previous))
  const items = await withKeptItems(app, own.userId, [...(history?.items ?? []), ...own.input])
  answer(call, listInput(items, query))
}

/** Cancels a background response. A response that has ended keeps its status; a response in the foreground cannot be cancelled. */
async function cancel(
  app: Pick<GatewayParts, 'deadlines'> & Pick<ConversationParts, 'localResponses'> & { readonly backgroundRuns: BackgroundRuns },
  call: ClientExchange,
  own: LocalResponse,
): Promise<void> {
  if (!own.isBackground) fail('response_synchronous')
  if (formOf(own.id).isRunning(own.response)) {
    app.backgroundRuns.find(own)?.cancel()
    await app.localResponses.cancel(own)
  }
  answer(call, (await ended(app, call, own)).response)
}

/** Returns the response after its end; its current state when its node does not stop in time. */
async function ended(
  app: Pick<GatewayParts, 'deadlines'> & Pick<ConversationParts, 'localResponses'> & { readonly backgroundRuns: BackgroundRuns },
  call: ClientExchange,
  own: LocalResponse,
): Promise<LocalResponse> {
  let now = own
  for (let tries = 0; tries < triesMax && formOf(own.id).isRunning(now.response) && !call.isAborted; tries++) {
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

const triesMax = 20
const pauseMs = 500

/**
 * Streams a response that this server stores, after a given event: live from a run of this node, through the database from a run of another
 * node, and from the whole response where no events are stored. A caller that disconnects does not affect the run.
 */
export async function streamLocal(app: LocalCallParts, call: ClientExchange, own: LocalResponse, after: number): Promise<void> {
  call.begin(eventStreamHeaders)
  let number = after
  for (;;) {
    const { events, isOver } = await progress(app, own, number)
    number = events.at(-1)?.number ?? number
    await writePaced(app, call, toByteText(events.map(({ data }) => formOf(own.id).eventText(data)).join('')))
    if (call.isDisconnected) return
    // A run of this node is stopped too, and its last events are sent.
    if (call.isAborted && !app.backgroundRuns.find(own)) fail('server_stopping')
    if (isOver) return call.end('')
    await somethingNew(app, call, own)
    if (app.steady() - call.lastWriteMs >= silentMaxMs) await writePaced(app, call, heartbeat)
  }
}

interface Progress {
  readonly events: readonly NumberedEvent[]
  readonly isOver: boolean
}

async function progress(
  app: Pick<ConversationParts, 'localResponses'> & { readonly backgroundRuns: BackgroundRuns },
  own: LocalResponse,
  number: number,
): Promise<Progress> {
  const run = app.backgroundRuns.find(own)
  if (run) return { events: run.eventsAfter(number), isOver: run.isOver }
  // Read before the events: if the response has ended by then, all of its events are stored.
  const now = await app.localResponses.find(own)
  if (!now) return { events: [], isOver: true }
  const events = await app.localResponses.eventsAfter(own, number)
  const form = formOf(own.id)
  if (form.isRunning(now.response)) return { events, isOver: false }
  if (!own.isBackground) return { events: form.replayAfter(now.response, number), isOver: true }
  const last = events.at(-1)
  if (last && form.isTerminalEvent(last.data)) return { events, isOver: true }
  const next = (last?.number ?? number) + 1
  return { events: [...events, { number: next, data: JSON.stringify(form.closingEvent(now.response, next)) }], isOver: true }
}

/** Resolves when there may be more events, or when the caller has disconnected. */
async function somethingNew(
  app: Pick<GatewayParts, 'deadlines'> & { readonly backgroundRuns: BackgroundRuns },
  call: ClientExchange,
  own: LocalResponse,
): Promise<void> {
  const run = app.backgroundRuns.find(own)
  await untilGone(call, (resolve) => {
    const pause = app.deadlines.after(run ? silentMaxMs : pollMs, resolve)
    void run?.news().then(resolve)
    return () => app.deadlines.cancel(pause)
  })
}

const heartbeat = ': keep-alive\n\n'
const silentMaxMs = 10_000
const pollMs = 1_000
