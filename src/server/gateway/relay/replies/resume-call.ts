import { fail } from '../../../base/lib/failure.ts'
import { sha256 } from '../../../base/lib/secrets/secrets.ts'
import { type RelayCaller, requireModel } from '../../../people/tokens/authenticate.ts'
import type { AdmittedRequest } from '../admission/admitted-request.ts'
import { authenticateCall, type CallerParts } from '../admission/authenticate.ts'
import type { GatewayParts } from '../gateway-parts.ts'
import type { ClientExchange } from '../http/client-exchange.ts'
import type { Endpoint } from '../http/endpoints.ts'
import { requestFingerprint } from '../http/request-fingerprint.ts'
import { type FollowParts, followReply } from './follow.ts'
import type { SameRequest, StoredReply } from './resumable-replies.ts'

/**
 * Streams that go on after a cut. Who asks for it keeps the answer for a grace; the same request with the id of the last event, or a
 * retry that names itself one, continues it. Who does not ask is treated as ever: closing a stream stops it.
 */
export type ResumeParts = FollowParts & Pick<GatewayParts, 'options'>

/** Makes the stream of an admitted request resumable. */
export async function openResumable(app: ResumeParts, { call, caller, facts }: AdmittedRequest): Promise<void> {
  const fingerprint = await requestFingerprint(call, caller)
  app.resumableReplies.open(call, { ...caller, fingerprint, keyHash: keyHashOf(call), model: facts.model })
}

/**
 * Continues a stream: that of the event id in `Last-Event-ID`, or the one that a retry of the same request was cut off from. False where
 * there is none. Throws `resume_unknown`, `resume_other_request` and what `followReply` throws.
 */
export async function resumeCall(app: ResumeParts, call: ClientExchange, caller: RelayCaller): Promise<boolean> {
  const named = call.request.headers['last-event-id']
  const event = readEventId(named)
  // An id that another server has given.
  if (named !== undefined && !event) return false
  const fingerprint = await requestFingerprint(call, caller)
  if (event) {
    const found = (await app.resumableReplies.find(event.requestId, caller)) ?? fail('resume_unknown')
    if (found.fingerprint !== fingerprint) fail('resume_other_request')
    await followAs(app, { call, caller }, found, event.number)
    return true
  }
  const same = { ...caller, fingerprint, keyHash: keyHashOf(call) }
  await firstLeft(app, same)
  const left = await app.resumableReplies.findLeft(same)
  if (!left) return false
  await followAs(app, { call, caller }, left)
  return true
}

/** A retry may arrive before its first is known to have lost its caller: waits a moment for that. */
async function firstLeft({ deadlines, resumableReplies }: ResumeParts, same: SameRequest): Promise<void> {
  for (let tries = 0; tries < 10; tries++) {
    const first = resumableReplies.running(same)
    if (!first || resumableReplies.live(first.requestId)?.isFollowed === false) return
    await new Promise<void>((resolve) => deadlines.after(100, resolve))
  }
}

/** Follows the stream that runs on this node under the same key, from its beginning. */
export async function joinKeyed(
  app: ResumeParts,
  call: ClientExchange,
  same: { readonly caller: RelayCaller; readonly fingerprint: string; readonly keyHash: string },
): Promise<boolean> {
  const running = app.resumableReplies.running({ ...same.caller, ...same })
  if (!running) return false
  await followAs(app, { call, caller: same.caller }, running)
  return true
}

/** Continues the stream of a response by the response's id, if its own call streams it. False for every other call about a response. */
export async function continueResponse(
  app: CallerParts & ResumeParts,
  { action, id, stored }: Extract<Endpoint, { kind: 'response' }>,
  call: ClientExchange,
): Promise<boolean> {
  const { searchParams } = new URL(call.request.url ?? '/', 'http://localhost')
  if (action !== 'read' || stored !== 'openai.responses' || searchParams.get('stream') !== 'true') return false
  const caller = await authenticateCall(app, { from: 'token' }, call)
  const found = await app.resumableReplies.findResponse(id, caller)
  if (!found) return false
  // The vendor numbers events from 0.
  await followAs(app, { call, caller }, found, Number(searchParams.get('starting_after') ?? -1) + 1 || 0)
  return true
}

/** Reads or stops the answer to a request by its id: only for the token that sent it. */
export async function handleRequestCall(
  app: CallerParts & ResumeParts,
  { id, action, from }: Extract<Endpoint, { kind: 'request' }>,
  call: ClientExchange,
): Promise<void> {
  const caller = await authenticateCall(app, { from }, call)
  // In the console a user sees the answers to all of their tokens.
  const owner = from === 'session' ? { userId: caller.userId } : caller
  const found = (await app.resumableReplies.find(id, owner)) ?? fail('resume_unknown')
  if (action === 'cancel') {
    if (found.state === 'running') await app.resumableReplies.cancel(id)
    return call.answer(
      'application/json',
      Buffer.from(JSON.stringify({ id, object: 'request', cancelled: found.state === 'running' })),
    )
  }
  const { searchParams } = new URL(call.request.url ?? '/', 'http://localhost')
  const asked = searchParams.get('starting_after') ?? call.request.headers['last-event-id']
  await followAs(app, { call, caller }, found, readEventId(asked)?.number ?? (Number(asked ?? 0) || 0))
}

/** Follows an answer on behalf of its owner. Throws `token_model_forbidden` and what `followReply` throws. */
export async function followAs(
  app: ResumeParts,
  { call, caller }: Pick<AdmittedRequest, 'call' | 'caller'>,
  found: StoredReply,
  after = 0,
): Promise<void> {
  call.notes.caller = caller
  call.notes.isFollowing = true
  call.notes.asked = { model: found.model }
  requireModel(caller, found.model)
  await followReply(app, call, found, after)
}

/** An id that this server has given to an event: `<request id>.<number>`. */
function readEventId(text: string | string[] | undefined | null): { requestId: string; number: number } | undefined {
  const [, requestId, number] = /^([\w-]{8,64})\.(\d{1,9})$/.exec(String(text ?? '')) ?? []
  return requestId === undefined ? undefined : { requestId, number: Number(number) }
}

function keyHashOf({ request }: ClientExchange): string {
  const key = request.headers['idempotency-key']
  return key === undefined ? '' : sha256(String(key))
}
