import { ServerResponse } from 'node:http'
import { enableAfterTest, reportTest } from '../../channels/health.ts'
import { openChannel, type RunningChannel } from '../../channels/model-index.ts'
import { AppError, fail } from '../../lib/failure.ts'
import { newRequestId } from '../../lib/ids.ts'
import { newDetachedRequest } from '../../lib/node-internals.ts'
import { freePrice } from '../../pricing/quote.ts'
import { wireFormats } from '../../protocols/index.ts'
import type { RelayCaller } from '../../tokens/authenticate.ts'
import type { Ledger } from '../../wallet/ledger.ts'
import { noToken } from '../admission/authenticate.ts'
import type { AdmittedRequest } from '../admitted-request.ts'
import { type AttemptParts, attemptChannel } from '../failover/attempt.ts'
import { ClientExchange } from '../http/client-exchange.ts'
import type { UpstreamFailure } from '../upstream/failure.ts'
import { type ProbeRequest, probeRequest } from './probe-request.ts'

/** The parts that testing a channel uses. The ledger is not among them: a test is charged to nobody. */
type ProbeParts = Omit<AttemptParts, 'ledger'>

/** What a test of one key has shown. `cannot`: there is nothing small to ask it, which is no fault of the channel. */
export type Probe =
  | { readonly outcome: 'passed'; readonly ms: number }
  | { readonly outcome: 'failed'; readonly ms: number; readonly failure: UpstreamFailure }
  | { readonly outcome: 'cannot' }

/**
 * Tests a channel with one small request and answers how long it took. It costs the operator what the upstream takes for a few
 * tokens, and no user anything. The channel may be disabled; one that was disabled automatically may come back by it. A test that
 * failed took its time as well: its `failure` is `channel_test_failed`. Throws `not_found` or `channel_not_testable`.
 */
export async function probeChannel(
  app: ProbeParts,
  { channelId, model }: { channelId: number; model: string },
): Promise<{ seconds: number; failure?: AppError }> {
  const { keys } = await openChannel(app, channelId)
  const [channel] = keys
  if (!channel) fail('not_found')
  const probe = await probeKey(app, channel, model)
  if (probe.outcome === 'cannot') return fail('channel_not_testable')
  await reportTest(app, channelId, probe)
  const seconds = probe.ms / 1000
  if (probe.outcome === 'failed') {
    const { failure: cause } = probe
    return { seconds, failure: new AppError('channel_test_failed', { reason: cause.reason }, { cause }) }
  }
  await enableAfterTest(app, channel)
  return { seconds }
}

/**
 * Asks one key of a channel as the relay would, with everything that its settings and its provider do to a request, but without a
 * caller and without the ledger.
 */
export async function probeKey(app: ProbeParts, channel: RunningChannel, model: string): Promise<Probe> {
  const request = channel.provider.testable ? probeRequest(channel, model) : undefined
  if (!request) return { outcome: 'cannot' }
  const startedMs = app.steady()
  const result = await tryAttempt({ ...app, ledger: noLedger }, request, hurried(channel))
  if (result === 'cannot') return { outcome: 'cannot' }
  const ms = Math.max(1, app.steady() - startedMs)
  if (result !== 'answered') return { outcome: 'failed', ms, failure: result }
  app.traffic.forgive([channel])
  return { outcome: 'passed', ms }
}

async function tryAttempt(app: AttemptParts, request: ProbeRequest, channel: RunningChannel) {
  try {
    const begun = { request: admitted(request, app.steady()), shared: { failed: [] }, channel }
    const { outcome } = await attemptChannel(app, { ...begun, choice: 'only' })
    return outcome !== 'answered' && outcome.kind === 'untranslatable' ? 'cannot' : outcome
  } catch (error) {
    // The gateway itself refuses to send this: it says nothing about the upstream.
    if (error instanceof AppError) return 'cannot'
    throw error
  }
}

const timeoutMs = 60_000

/** Nobody waits longer for a test, whatever the channel allows its callers. */
function hurried(channel: RunningChannel): RunningChannel {
  const { headers_timeout_ms = timeoutMs, total_timeout_ms = timeoutMs } = channel.setting
  const limits = {
    headers_timeout_ms: Math.min(headers_timeout_ms, timeoutMs),
    total_timeout_ms: Math.min(total_timeout_ms, timeoutMs),
  }
  return { ...channel, setting: { ...channel.setting, ...limits } }
}

/** The request of a test, which nobody pays for. */
function admitted({ format: name, model, body }: ProbeRequest, nowMs: number): AdmittedRequest {
  const format = wireFormats[name]
  const id = newRequestId(nowMs)
  const request = newDetachedRequest()
  const call = new ClientExchange(
    { request, response: new ServerResponse(request) },
    { id, dialect: format.dialect, language: 'en', client: { address: '', local: true }, nowMs },
  )
  return {
    call,
    caller: nobody,
    body: { json: body, bytes: Buffer.from(JSON.stringify(body)) },
    format,
    facts: format.readRequest(body, { model }),
    group: '',
    price: freePrice(model, ''),
    inputTokens: 0,
    hold: { requestId: id, userId: 0, tokenId: 0, amount: 0 },
    lease: undefined,
  }
}

const nobody: RelayCaller = {
  userId: 0,
  username: '',
  role: 0,
  userGroup: '',
  acceptsUnpriced: true,
  ...noToken,
}

/** A test is on the house: nothing is held, charged or logged. */
const noLedger: Ledger = {
  hold() {},
  settle: async () => {},
  release() {},
  checkpoint() {},
  withdraw: async () => false,
  credit: async () => {},
  refresh() {},
  takeSpenders: () => [],
  expire: async () => ({ settled: 0, released: 0 }),
  openHolds: 0,
  close: async () => {},
}
