import { inBothLanguages, type Text } from '../../../../contract/text.ts'
import { AppError } from '../../../base/lib/failure.ts'
import { newRequestId } from '../../../base/lib/secrets/ids.ts'
import { type SiteAllowance, siteCallLedger } from '../../../money/ledger/site-calls.ts'
import type { RelayCaller } from '../../../people/tokens/authenticate.ts'
import type { CallerFormat } from '../../protocols/format.ts'
import { formats } from '../../protocols/index.ts'
import type { JsonObject } from '../../protocols/wire-format.ts'
import { type AdmissionParts, admitRequest } from '../admission/admit-request.ts'
import { noToken } from '../admission/authenticate.ts'
import { type AnswerParts, answerRequest } from '../attempt/answer-request.ts'
import { asAppError } from '../charge/end-of-call.ts'
import { NoAnswer } from '../http/answer.ts'
import { ClientExchange } from '../http/client-exchange.ts'
import { DetachedRequest } from '../http/detached-request.ts'
import { ReplyRecorder } from '../http/reply-recorder.ts'

/** The parts that a call of the site uses. */
export type SiteCallParts = AdmissionParts & AnswerParts

/** A call that the site makes itself, on a schedule. */
export interface SiteCall {
  readonly group: string
  readonly model: string
  /** The only channel that may answer; absent for the selection, with failover, that callers of the group get. */
  readonly channelId?: number
  readonly format: CallerFormat
  /** The body of a non-streaming request. */
  readonly body: JsonObject
  /** The kind of site cost that it is booked as, and the daily limit of that kind. */
  readonly allowance: SiteAllowance
}

/** How a call of the site has ended. `units` is its cost, which the site bears. */
type SiteAnswer =
  | { readonly outcome: 'answered'; readonly ms: number; readonly units: number; readonly body: Buffer }
  | {
      readonly outcome: 'failed'
      readonly ms: number
      readonly units: number
      readonly status: number
      readonly code: string
      /** In both languages, without secrets: what a caller is told, and the vendor's own sentence, for admins. */
      readonly message: string
      /** The site, its channels or their upstreams are at fault, and not the request. */
      readonly isFault: boolean
    }
  /** The daily allowance does not cover the call: nothing was sent. */
  | { readonly outcome: 'unaffordable' }

/**
 * Makes a call as the relay would for a caller in a group: model and price, selection of a channel, failover, statistics of
 * channels and their health. It does not appear in the log, counts or limits of any user. Its cost is a site cost
 * (`money/ledger/site-calls.ts`).
 */
export async function callForSite(app: SiteCallParts, asked: SiteCall, signal: AbortSignal): Promise<SiteAnswer> {
  const { group, model, format, body, allowance } = asked
  const ledger = siteCallLedger(app, model, allowance)
  const parts = { ...app, ledger }
  const call = newCall(asked, app.steady())
  const recorder = new ReplyRecorder(call.id, replyBytesMax)
  call.record(recorder)
  const abort = () => call.abort()
  signal.addEventListener('abort', abort)
  try {
    const caller: RelayCaller = { ...site, userGroup: group, pinnedChannel: asked.channelId ?? 0 }
    const read = { json: body, bytes: Buffer.from(JSON.stringify(body)) }
    const endpoint = { kind: 'relay', path: '', format, dialect: call.dialect, from: 'token', fromPath: { model } } as const
    await answerRequest(parts, await admitRequest(parts, endpoint, { call, caller, body: read, lease: undefined }))
  } catch (error) {
    if (error instanceof AppError && error.code === 'quota_insufficient') return { outcome: 'unaffordable' }
    call.sendError(asAppError(app, call, error))
  } finally {
    signal.removeEventListener('abort', abort)
  }
  signal.throwIfAborted()
  const ms = Math.max(1, app.steady() - call.startedMs)
  const { reply } = recorder
  if (!call.failure && reply) return { outcome: 'answered', ms, units: ledger.spent, body: reply.body }
  return { outcome: 'failed', ms, units: ledger.spent, ...failureOf(call) }
}

const replyBytesMax = 1024 * 1024

/** The site is not a user. Models without a price are refused, as for callers. */
const site: RelayCaller = { userId: 0, username: '', role: 0, userGroup: '', acceptsUnpriced: false, ...noToken }

function newCall({ format, model, body }: SiteCall, startedMs: number): ClientExchange {
  const call = new ClientExchange(new NoAnswer(), {
    id: newRequestId(startedMs),
    dialect: formats[format].wire.dialect,
    language: 'en',
    client: { address: '', local: true },
    startedMs,
    request: new DetachedRequest('', {}, body),
  })
  call.notes.asked = { model, stream: false }
  return call
}

function failureOf({ failure, notes }: ClientExchange) {
  const { status = 502, code = '', type = '', message } = failure?.error ?? {}
  return {
    status,
    code: code || type,
    message: message ? inBothLanguages(withReason(message, notes.attempts.at(-1)?.reason ?? '')) : '',
    isFault: status >= 500 || notes.attempts.at(-1)?.isFault === true,
  }
}

function withReason({ zh, en }: Text, reason: string): Text {
  return reason === '' || en.includes(reason) ? { zh, en } : { zh: `${zh}（${reason}）`, en: `${en} (${reason})` }
}
