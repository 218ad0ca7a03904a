import { spliceMembers } from '../../../base/lib/bytes/splice-json.ts'
import { fail } from '../../../base/lib/failure.ts'
import type { Dialogue } from '../../protocols/dialogue.ts'
import { formats, storedFormOf } from '../../protocols/index.ts'
import { requireOtherTools } from '../../protocols/lost-fields.ts'
import { textAt } from '../../protocols/wire-format.ts'
import { type AdmissionParts, type AuthenticatedRequest, admitRequest, authorizeModel } from '../admission/admit-request.ts'
import type { AdmittedRequest } from '../admission/admitted-request.ts'
import { type AnswerParts, answerRequest, release } from '../attempt/answer-request.ts'
import { asAppError, type EndParts, noteEndOfCall } from '../charge/end-of-call.ts'
import { type ConversationParts, refuseKeeping, servesNatively, turnBytesMax } from '../conversations/history.ts'
import type { LocalResponse } from '../conversations/local-response.ts'
import type { GatewayParts } from '../gateway-parts.ts'
import type { RelayEndpoint } from '../http/endpoints.ts'
import { writeContextOf } from '../response/translated.ts'
import { BackgroundRun, type BackgroundRuns } from '../stored-responses/background-run.ts'
import { streamLocal } from '../stored-responses/local-calls.ts'
import { localResponseOf } from '../stored-responses/store-answer.ts'

/** The parts that a response in the background uses. */
export type BackgroundParts = AdmissionParts & AnswerParts & EndParts & { readonly backgroundRuns: BackgroundRuns }

/** Limit for one user on one node: such runs need no connection that would limit them. */
const runsMax = 100

/**
 * Whether a background request runs in this server, because no channel that may answer it supports background responses itself.
 * Throws `untranslatable` when storing is disabled, `body_too_large` or `too_many_requests`.
 */
export function runsHere(
  app: Pick<GatewayParts, 'catalog' | 'channels' | 'options'> &
    Pick<ConversationParts, 'localResponses'> & { readonly backgroundRuns: BackgroundRuns },
  { format }: RelayEndpoint,
  { caller, body, replaces, toStore }: AuthenticatedRequest,
): boolean {
  if (!formats[format].runsInBackground || body.json.store === false) return false
  const model = textAt(body.json, 'model')
  if (model === '') return false
  const group = authorizeModel(app, caller, { model, format, replaces })
  if (servesNatively(app, caller, [group], { model, format })) return false
  if (!app.localResponses.isOn) refuseKeeping('background')
  if (!toStore && body.bytes.length > turnBytesMax) fail('body_too_large', { limit: turnBytesMax })
  // The request continues a response that is not stored here; a later step refuses it.
  if (!toStore) return false
  if (app.backgroundRuns.countOf(caller.userId) >= runsMax) fail('too_many_requests')
  return true
}

/**
 * Answers at once with a queued response, or with its stream, and completes it whether the caller stays connected or not: held, attempted
 * and charged like any other request. All refusals happen before the answer.
 */
export async function answerInBackground(
  app: BackgroundParts,
  endpoint: RelayEndpoint,
  asked: AuthenticatedRequest,
): Promise<void> {
  const { call, toStore } = asked
  const isStreamed = asked.body.json.stream === true
  const opened = await admitRequest(app, endpoint, {
    ...asked,
    ...(toStore ? { toStore: { ...toStore, isBackground: true } } : {}),
    body: asStream(asked),
  })
  const { own, ...begun } = await openRun(app, opened).catch(async (error: unknown) => {
    await release(app, opened)
    throw error
  })
  call.notes.isContinued = true
  const made = make(app, begun).finally(() => app.backgroundRuns.remove(own))
  if (isStreamed) await streamLocal(app, call, own, -1)
  else call.answer('application/json', Buffer.from(JSON.stringify(own.response)))
  await made
}

/** The upstream is always called for a stream: it shows the progress, and aborting it stops the upstream. */
function asStream({ body }: AuthenticatedRequest): AuthenticatedRequest['body'] {
  const { background: _, background_options: _window, ...json } = body.json
  const bytes = spliceMembers(body.bytes, { background: undefined, background_options: undefined, stream: 'true' })
  return { ...body, json: { ...json, stream: true }, bytes }
}

interface Run {
  readonly request: AdmittedRequest
  readonly dialogue: Dialogue
  readonly own: LocalResponse
  readonly run: BackgroundRun
}

/** Throws for content that no other protocol can carry, and `database_unavailable`. */
async function openRun(
  app: Pick<GatewayParts, 'deadlines' | 'logger' | 'now'> &
    Pick<ConversationParts, 'localResponses'> & { readonly backgroundRuns: BackgroundRuns },
  opened: AdmittedRequest,
): Promise<Run> {
  const dialogue = formats[opened.format.format].inbound?.readRequest(opened.body.json, {
    model: opened.facts.model,
    stream: true,
  })
  if (!dialogue) throw new Error(`${opened.format.format} has no neutral form`)
  requireOtherTools(dialogue)
  const begun = storedFormOf(opened.format.format).begin(writeContextOf(app, opened, dialogue))
  const own = localResponseOf(opened, begun.response)
  await app.localResponses.keep(own).catch((cause: unknown) => fail('database_unavailable', {}, { cause }))
  const run = new BackgroundRun(app, opened.call, own, begun.events)
  app.backgroundRuns.add(own, run)
  return { request: Object.freeze({ ...opened, call: run.call }), dialogue, own, run }
}

async function make(app: AnswerParts & EndParts, { request, dialogue, run }: Omit<Run, 'own'>): Promise<void> {
  try {
    await answerRequest(app, request, dialogue)
  } catch (error) {
    run.call.sendError(asAppError(app, run.call, error))
  }
  await run.end()
  noteEndOfCall(app, run.call, { kind: 'background', format: request.format.format })
}
