import type { IncomingHttpHeaders } from 'node:http'
import { AppError, fail } from '../../../base/lib/failure.ts'
import { sha256 } from '../../../base/lib/secrets/secrets.ts'
import type { RelayCaller } from '../../../people/tokens/authenticate.ts'
import { authenticateCall, type CallerParts } from '../admission/authenticate.ts'
import type { GatewayParts } from '../gateway-parts.ts'
import type { ClientExchange } from '../http/client-exchange.ts'
import { ReplyRecorder } from '../http/reply-recorder.ts'
import { requestFingerprint } from '../http/request-fingerprint.ts'
import type { IdempotentRequests, KeyedCalls, KeyedRequest, Outcome } from './idempotent-requests.ts'
import type { StoredReply } from './resumable-replies.ts'
import { followAs, joinKeyed, type ResumeParts } from './resume-call.ts'

/**
 * Requests with an `Idempotency-Key`: one of them runs, the others wait for it and get its reply. The key is claimed before limits and
 * money, so that a replay is neither counted nor charged.
 */

/** A request that runs under its key. */
export interface KeyedCall {
  /** Stores the recorded reply or frees the key, then sends the end of the reply to the caller. Never throws. */
  finish(): Promise<void>
}

/** The official SDKs wait for a reply as long. */
const waitMaxMs = 600_000
const pollMinMs = 50
const pollMaxMs = 1000

/** Reads the key of a request. Throws `idempotency_key_invalid`. */
export function readIdempotencyKey(headers: IncomingHttpHeaders): string | undefined {
  const key = headers['idempotency-key']
  if (key === undefined) return undefined
  // Node joins a repeated header with a comma and a space.
  if (typeof key !== 'string' || !isVisible.test(key)) fail('idempotency_key_invalid')
  return key
}

const isVisible = /^[\x21-\x7e]{1,255}$/

/**
 * Claims the key for a call, or waits for the request that holds it and sends that reply; then the result is undefined. Throws as
 * authentication and reading the body do, `idempotency_key_reused`, `idempotency_key_in_use` after ten minutes, or
 * `idempotency_reply_unavailable`.
 */
export async function claimKey(
  app: CallerParts & ResumeParts & { readonly idempotentRequests: IdempotentRequests; readonly keyedCalls: KeyedCalls },
  { call, key, from }: { call: ClientExchange; key: string; from: 'token' | 'session' },
): Promise<KeyedCall | undefined> {
  const caller = await authenticateCall(app, { from }, call)
  const { userId, tokenId } = caller
  const fingerprint = await requestFingerprint(call, caller)
  const request = { userId, tokenId, keyHash: sha256(key), fingerprint, requestId: call.id }
  const name = `${userId} ${tokenId} ${request.keyHash} ${fingerprint}`
  const latestMs = performance.now() + waitMaxMs

  if (await joinKeyed(app, call, { caller, fingerprint, keyHash: request.keyHash })) return undefined
  for (;;) {
    const same = app.keyedCalls.get(name)
    if (!same) return leadOthers(app, { call, caller, request, name, latestMs })
    const reply = await unlessOver(app, call, same, latestMs - performance.now())
    if (reply === 'over') return undefined
    if (reply) return void call.replay(reply)
  }
}

interface Leading {
  readonly call: ClientExchange
  readonly caller: RelayCaller
  readonly request: KeyedRequest
  readonly name: string
  readonly latestMs: number
}

/** Claims the key in the database on behalf of all requests that wait for it on this node. */
async function leadOthers(
  app: ResumeParts &
    Pick<GatewayParts, 'logger'> & { readonly idempotentRequests: IdempotentRequests; readonly keyedCalls: KeyedCalls },
  leading: Leading,
): Promise<KeyedCall | undefined> {
  const { call, caller, request, name } = leading
  const { promise: shared, resolve: share } = Promise.withResolvers<Outcome>()
  app.keyedCalls.set(name, shared)
  const end = (outcome: Outcome) => {
    app.keyedCalls.delete(name)
    share(outcome)
  }
  try {
    const claim = await claimOrWait(app, leading)
    if (claim === 'claimed') return keyedCall(app, call, request, end)
    if (claim && 'state' in claim) {
      end(undefined)
      await followAs(app, { call, caller }, claim)
    } else {
      end(claim)
      if (claim) call.replay(claim)
    }
  } catch (error) {
    end(undefined)
    throw error
  }
  return undefined
}

/** A stream of another node that can be followed; undefined when the call was aborted first. */
async function claimOrWait(
  app: ResumeParts & { readonly idempotentRequests: IdempotentRequests },
  { call, request, latestMs }: Leading,
): Promise<'claimed' | StoredReply | Outcome> {
  for (;;) {
    const claim = await asked(app.idempotentRequests.claim(request))
    if (claim === 'claimed' || !('running' in claim)) return claim
    const stream = await asked(app.resumableReplies.find(claim.running, request))
    if (stream) return stream
    let pauseMs = pollMinMs
    do {
      const remainingMs = latestMs - performance.now()
      const pause = new Promise<void>((resolve) => app.deadlines.after(Math.min(pauseMs, remainingMs), resolve))
      if ((await unlessOver(app, call, pause, remainingMs)) === 'over') return undefined
      pauseMs = Math.min(pauseMs * 1.5, pollMaxMs)
    } while (await asked(app.idempotentRequests.isRunning(request)))
  }
}

/** Without the database no key can be claimed, and the request does not run. */
function asked<Answer>(answer: Promise<Answer>): Promise<Answer> {
  return answer.catch((cause: unknown) => {
    throw cause instanceof AppError ? cause : new AppError('database_unavailable', {}, { cause })
  })
}

/** Throws `idempotency_key_in_use` after `limitMs`, and `server_stopping`. */
async function unlessOver<Value>(
  app: Pick<GatewayParts, 'deadlines'>,
  call: ClientExchange,
  value: Promise<Value>,
  limitMs: number,
): Promise<Value | 'over'> {
  const { promise: interrupted, resolve: settle } = Promise.withResolvers<'over' | 'late'>()
  const limit = app.deadlines.after(Math.max(0, limitMs), () => settle('late'))
  call.onAborted(() => settle('over'))
  const first = await Promise.race([value, interrupted])
  call.onAborted(undefined)
  app.deadlines.cancel(limit)
  if (first === 'late') fail('idempotency_key_in_use', { retryAfter: 5 })
  if (first === 'over' && !call.isDisconnected) fail('server_stopping')
  return first
}

function keyedCall(
  app: Pick<GatewayParts, 'logger' | 'options'> & { readonly idempotentRequests: IdempotentRequests },
  call: ClientExchange,
  request: KeyedRequest,
  end: (outcome: Outcome) => void,
): KeyedCall {
  const recorder = new ReplyRecorder(call.id, app.options.current['idempotency.reply_kilobytes'] * 1024)
  call.record(recorder)
  return {
    async finish() {
      try {
        await keepOrFree(app, request, recorder)
      } catch (error) {
        app.logger.error({ error, request: call.id }, 'the reply to an idempotent request is not stored')
      }
      end(recorder.reply)
      call.release()
    },
  }
}

function keepOrFree(
  { idempotentRequests }: { readonly idempotentRequests: IdempotentRequests },
  request: KeyedRequest,
  recorder: ReplyRecorder,
): Promise<void> {
  if (!recorder.isComplete || !isFinal(recorder.head.status)) return idempotentRequests.free(request)
  const { reply, head, size, isTooLarge } = recorder
  if (isTooLarge) return idempotentRequests.markUnavailable(request)
  return reply ? idempotentRequests.store(request, reply) : idempotentRequests.storeStream(request, head, size)
}

/** Whether a repeat would get the same reply: a success, or an error that depends on the request alone. */
function isFinal(status: number): boolean {
  return (status >= 200 && status < 300) || (status >= 400 && status < 500 && !changing.has(status))
}

/** Permissions, balances, limits and conflicts change over time. */
const changing: ReadonlySet<number> = new Set([401, 402, 403, 408, 409, 425, 429])
