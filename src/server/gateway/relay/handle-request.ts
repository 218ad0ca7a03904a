import type { IncomingHttpHeaders } from 'node:http'
import { spliceMembers } from '../../base/lib/bytes/splice-json.ts'
import { isHeavy, yieldWithPriority } from '../../base/lib/time/yield-to-event-loop.ts'
import { replacementOf } from '../channels/index/model-replacements.ts'
import { formats } from '../protocols/index.ts'
import { admitRequest } from './admission/admit-request.ts'
import type { AdmittedRequest } from './admission/admitted-request.ts'
import { authenticateCall, type CallerParts, checkBeforeBody, readPlaygroundRequest } from './admission/authenticate.ts'
import { withinLimits } from './admission/limits.ts'
import { answerRequest } from './attempt/answer-request.ts'
import { answerInBackground, type BackgroundParts, runsHere } from './background/background-response.ts'
import { expandHistory } from './conversations/history.ts'
import { recorderFor } from './http/call-recorder.ts'
import type { ClientExchange } from './http/client-exchange.ts'
import type { RelayEndpoint } from './http/endpoints.ts'
import { type Body, withReplacement } from './http/read-body.ts'
import type { RelayParts } from './relay-parts.ts'
import { openResumable, resumeCall } from './replies/resume-call.ts'
import { deliverKept } from './replies/undelivered-replies.ts'
import { repliesIn } from './response/pass-through.ts'

/** The parts that a relay request uses. */
type HandleParts = CallerParts &
  BackgroundParts &
  Pick<RelayParts, 'emptyBalances' | 'limits' | 'recordings' | 'resumableReplies'>

/** Runs a relay request: authenticate, check before the body, read, admit, price, hold, attempt until answered, settle. */
export async function handleRelay(app: HandleParts, endpoint: RelayEndpoint, call: ClientExchange): Promise<void> {
  const authenticating = authenticateCall(app, endpoint, call)
  const caller = authenticating instanceof Promise ? await authenticating : authenticating
  if (app.recordings.rules.areOn) call.callRecorder = recorderFor(app, call, caller)
  if (mayContinue(app, call) && (await resumeCall(app, call, caller))) return
  if (app.undelivered.size > 0 && (await deliverKept(app, call, caller))) return
  const lease = app.limits.leaseOf(caller, call.id)
  try {
    if (lease) await withinLimits(app, { call, lease }, () => answerCaller(app, endpoint, { call, caller, lease }))
    else await answerCaller(app, endpoint, { call, caller, lease })
  } catch (error) {
    app.emptyBalances.noteRefusal(caller.userId, error)
    throw error
  }
}

async function answerCaller(
  app: HandleParts,
  called: RelayEndpoint,
  { call, caller: arrived, lease }: Pick<AdmittedRequest, 'call' | 'caller' | 'lease'>,
): Promise<void> {
  const { isFree = false, continues } = formats[called.format].wire
  const judging = checkBeforeBody(app, call, { caller: arrived, lease, isFree, groupInBody: called.from === 'session' })
  if (judging) await judging
  const read = await call.readBody()
  call.notes.asked = read.json
  call.callRecorder?.readRequest(read.bytes)
  if (isHeavy(read.bytes.length)) await yieldWithPriority()
  const {
    fromPath,
    body: sent,
    replaces,
  } = withReplacement({ body: withModelOfPath(read, called), fromPath: called.fromPath }, (model) => replacementOf(app, model))
  const endpoint = replaces !== undefined && fromPath ? { ...called, fromPath } : called
  const { caller, body } =
    endpoint.from === 'session' ? readPlaygroundRequest(app, arrived, sent) : { caller: arrived, body: sent }
  call.notes.caller = caller

  const expanded = continues === 'response' ? await expandHistory(app, caller, { format: endpoint.format, body }) : { body }
  const asked = { call, caller, lease, ...expanded, ...(replaces === undefined ? {} : { replaces }) }
  if (asked.body.json.background === true && runsHere(app, endpoint, asked)) return answerInBackground(app, endpoint, asked)
  const admitted = await admitRequest(app, endpoint, asked)
  if (isResumable(app, admitted, endpoint)) await openResumable(app, admitted)
  await answerRequest(app, admitted)
}

/** Writes a model that the path of an OpenAI endpoint names into the body. */
function withModelOfPath(body: Body, { dialect, fromPath: said }: RelayEndpoint): Body {
  if (dialect !== 'openai' || said?.model === undefined) return body
  const { model } = said
  return { ...body, json: { ...body.json, model }, bytes: spliceMembers(body.bytes, { model: JSON.stringify(model) }) }
}

/** Whether a request may continue a stream: it names an event, or says that it is a retry. */
function mayContinue({ options }: Pick<HandleParts, 'options'>, { request: { headers } }: ClientExchange): boolean {
  const asks = headers['last-event-id'] !== undefined || Number(headers['x-stainless-retry-count'] ?? 0) >= 1
  return asks && options.current['resume.enabled']
}

/** Whether the answer is a stream of events that its caller wants to be able to continue after a cut. */
function isResumable({ options }: Pick<HandleParts, 'options'>, admitted: AdmittedRequest, { reframe }: RelayEndpoint): boolean {
  const { call, caller, facts, format, toStore } = admitted
  if (!facts.stream || !asksResume(call.request.headers, caller) || !options.current['resume.enabled']) return false
  const isEvents = format.stream !== undefined && reframe === undefined && repliesIn(admitted) !== 'bytes'
  return isEvents && toStore?.isBackground !== true
}

/** The caller asks by a header, by a key that a person or program chose, or by the token. */
function asksResume(headers: IncomingHttpHeaders, { resumesStreams }: AdmittedRequest['caller']): boolean {
  const key = headers['idempotency-key']
  // The official SDKs make up a key for each call.
  const isChosen = key !== undefined && !String(key).startsWith('stainless-')
  return headers['x-sluice-resume'] === '1' || isChosen || resumesStreams
}
