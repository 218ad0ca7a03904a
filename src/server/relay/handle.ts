import { furtherTurn, isHeavy } from '../lib/loop-turns.ts'
import { spliceMembers } from '../lib/splice-json.ts'
import type { Turn } from '../limits/turn.ts'
import { wireFormats } from '../protocols/index.ts'
import type { RelayCaller } from '../tokens/authenticate.ts'
import { answerInBackground, runsHere } from './background-response.ts'
import { judgeBeforeBody } from './before-body.ts'
import type { Call } from './call.ts'
import { authenticateCall } from './identify.ts'
import { withinLimits } from './limits.ts'
import { openWork, type RelayEndpoint } from './open-work.ts'
import { expandHistory } from './own-history.ts'
import { readPlayground } from './playground.ts'
import type { Body } from './read-body.ts'
import type { RelayParts } from './relay-parts.ts'
import { mayNameHistory } from './response-home.ts'
import { answerWork } from './try-channels.ts'
import { deliverKept } from './undelivered.ts'

/** The straight line of a relay request: authenticate, judge what needs no body, read, admit, quote, hold, attempt until answered, settle. */
export async function handleRelay(app: RelayParts, endpoint: RelayEndpoint, call: Call): Promise<void> {
  const caller = await authenticateCall(app, endpoint, call)
  if (await deliverKept(app, call, caller)) return
  const turn = app.limits.turnOf(caller, call.id)
  try {
    if (turn) await withinLimits(app, call, turn, () => answerCaller(app, endpoint, call, caller, turn))
    else await answerCaller(app, endpoint, call, caller, undefined)
  } catch (error) {
    app.emptyBalances.noteRefusal(caller.userId, error)
    throw error
  }
}

async function answerCaller(
  app: RelayParts,
  endpoint: RelayEndpoint,
  call: Call,
  arrived: RelayCaller,
  turn: Turn | undefined,
): Promise<void> {
  const isFree = wireFormats[endpoint.format].isFree === true
  await judgeBeforeBody(app, call, { caller: arrived, turn, isFree, groupInBody: endpoint.from === 'session' })
  const read = await call.readBody()
  if (isHeavy(read.bytes.length)) await furtherTurn()
  const sent = withSaidModel(read, endpoint)
  const { caller, body } = endpoint.from === 'session' ? readPlayground(app, arrived, sent) : { caller: arrived, body: sent }

  const expanded = mayNameHistory(endpoint.format) ? await expandHistory(app, caller, body) : { body }
  const asked = { call, caller, turn, ...expanded }
  if (runsHere(app, endpoint, asked)) return answerInBackground(app, endpoint, asked)
  await answerWork(app, await openWork(app, endpoint, asked))
}

/** Where OpenAI's address names the model, the body names it from here on. */
function withSaidModel(body: Body, { dialect, said }: RelayEndpoint): Body {
  if (dialect !== 'openai' || said?.model === undefined) return body
  const { model } = said
  return { ...body, json: { ...body.json, model }, bytes: spliceMembers(body.bytes, { model: JSON.stringify(model) }) }
}
