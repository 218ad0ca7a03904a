import { fail } from '../../../base/lib/failure.ts'
import type { GatewayParts } from '../gateway-parts.ts'
import type { ClientExchange } from '../http/client-exchange.ts'
import { untilGone, writePaced } from '../http/paced-writes.ts'
import { eventStreamHeaders } from '../response/stream.ts'
import type { ResumableReplies, StoredReply } from './resumable-replies.ts'
import { type ReplyState, textAfter } from './resumable-reply.ts'

/** The parts that following a reply uses. */
export type FollowParts = Pick<GatewayParts, 'deadlines' | 'steady'> & { readonly resumableReplies: ResumableReplies }

const heartbeat = ': keep-alive\n\n'
const silentMaxMs = 10_000
const pollMs = 500

/**
 * Sends the events of an answer after a number, from its memory on this node or from the store, and goes on with it until its end. Free of
 * charge: the answer is charged by its own call. Throws `resume_cut` when it broke off before the first event that is sent.
 */
export async function followReply(app: FollowParts, call: ClientExchange, found: StoredReply, after: number): Promise<void> {
  const live = app.resumableReplies.live(found.requestId)
  live?.join()
  try {
    await follow(app, call, found, after)
  } finally {
    live?.leave()
  }
}

async function follow(app: FollowParts, call: ClientExchange, found: StoredReply, after: number): Promise<void> {
  call.setHeader('x-sluice-original-request-id', found.requestId)
  let number = after
  for (;;) {
    const { text, last, state, isBehind } = await progress(app, found, number)
    number = last
    if (state === 'cut' && text === '' && !call.isCommitted) fail('resume_cut')
    if (!call.isCommitted) call.begin(eventStreamHeaders, heartbeat)
    await writePaced(app, call, text)
    if (call.isDisconnected) return
    if (call.isAborted) fail('server_stopping')
    if (isBehind) continue
    if (state === 'cut') fail('resume_cut')
    if (state === 'done') return call.end('')
    await somethingNew(app, call, found.requestId, number)
    if (app.steady() - call.lastWriteMs >= silentMaxMs) await writePaced(app, call, heartbeat)
  }
}

interface Progress {
  readonly text: string
  readonly last: number
  readonly state: ReplyState
  /** The store may have more of it. */
  readonly isBehind: boolean
}

async function progress({ resumableReplies }: FollowParts, found: StoredReply, number: number): Promise<Progress> {
  const live = resumableReplies.live(found.requestId)
  if (live) {
    const { state, count: last } = live
    const recent = live.after(number)
    const isHere = number >= last || (recent[0]?.first ?? last + 1) <= number + 1
    if (isHere) return { text: textAfter(recent, number), last: Math.max(number, last), state, isBehind: false }
  }
  // Read before the events: if the answer is over by then, all of them are stored.
  const state = live ? 'running' : ((await resumableReplies.find(found.requestId, found))?.state ?? 'cut')
  const events = await resumableReplies.eventsAfter(found.requestId, number)
  const last = events.at(-1)?.last ?? number
  return { text: textAfter(events, number), last, state, isBehind: events.length > 0 }
}

/** Resolves when there may be more events, or the caller has left. */
async function somethingNew(
  { deadlines, resumableReplies }: FollowParts,
  call: ClientExchange,
  requestId: string,
  number: number,
): Promise<void> {
  const live = resumableReplies.live(requestId)
  await untilGone(call, (resolve) => {
    const pause = deadlines.after(live ? silentMaxMs : pollMs, resolve)
    void live?.news(number).then(resolve)
    return () => deadlines.cancel(pause)
  })
}
