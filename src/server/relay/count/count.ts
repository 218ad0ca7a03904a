import { isHeavy, yieldWithPriority } from '../../lib/yield-to-event-loop.ts'
import type { RateLimitLease } from '../../limits/rate-limit-lease.ts'
import { countMedia } from '../../protocols/count-media.ts'
import { countTokens } from '../../protocols/count-tokens.ts'
import { wireFormats } from '../../protocols/index.ts'
import { type CallerCount, callerCounts } from '../../protocols/token-counts.ts'
import type { RequestFacts, WireFormat } from '../../protocols/wire-format.ts'
import type { RelayCaller } from '../../tokens/authenticate.ts'
import { authenticateCall } from '../admission/authenticate.ts'
import { authorizeModel } from '../admission/authorize-model.ts'
import { judgeBeforeBody } from '../admission/before-body.ts'
import { checkPrompt } from '../admission/prompt-filter.ts'
import { enterLimits, withinLimits } from '../admission/rate-limit.ts'
import type { Endpoint } from '../endpoints.ts'
import type { ClientExchange } from '../http/client-exchange.ts'
import type { Body } from '../http/read-body.ts'
import type { RelayParts } from '../relay-parts.ts'
import { expandHistory } from '../stored-responses/expand-history.ts'
import { homeOf, mayNameHistory, namesHistory } from '../stored-responses/home-channel.ts'
import { askForCount } from './count-upstream.ts'

type CountEndpoint = Extract<Endpoint, { kind: 'count' }>

/**
 * Counts the tokens of a prompt: by an upstream of the model where one counts, else here. Nothing is held or charged; limits of requests
 * hold as for every call. An upstream that cannot count is no reason to fail.
 */
export async function handleCount(app: RelayParts, endpoint: CountEndpoint, call: ClientExchange): Promise<void> {
  const caller = await authenticateCall(app, { from: 'token' }, call)
  const turn = app.limits.leaseOf(caller, call.id)
  if (turn) await withinLimits(app, call, turn, () => answer(app, endpoint, call, caller, turn))
  else await answer(app, endpoint, call, caller, undefined)
}

async function answer(
  app: RelayParts,
  { format: name, said }: CountEndpoint,
  call: ClientExchange,
  caller: RelayCaller,
  turn: RateLimitLease | undefined,
): Promise<void> {
  await judgeBeforeBody(app, call, { caller, turn, isFree: true })
  const sent = await call.readBody()
  if (isHeavy(sent.bytes.length)) await yieldWithPriority()
  const { body } = mayNameHistory(name) ? await expandHistory(app, caller, sent) : { body: sent }
  const format = wireFormats[name]
  const count = callerCounts[name]
  const facts = format.readRequest(body.json, said)
  const group = authorizeModel(app, caller, { model: facts.model, format: count.of })
  if (turn) await enterLimits(app, call, turn, { group, inputTokens: 0, outputTokens: 0 })
  await checkPrompt(app, call, format.promptText(body.json))

  const asked = { model: facts.model, format: name, body: body.json }
  const home = namesHistory(name, body.json) ? await homeOf(app, caller, asked) : undefined
  const told = await askForCount(app, { call, caller, body, facts, group, count, home })
  if (call.isGone) return
  if (!told) call.tell('x-sluice-estimated', 'true')
  const reply = told ?? count.writeReply(await countHere({ format, count, facts, body }))
  call.answer('application/json; charset=utf-8', Buffer.from(JSON.stringify(reply)))
}

interface Asked {
  readonly format: WireFormat
  readonly count: CallerCount
  readonly facts: RequestFacts
  readonly body: Body
}

async function countHere({ format, count, facts, body }: Asked): Promise<number> {
  if (isHeavy(body.bytes.length)) await yieldWithPriority()
  const { texts, around } = count.readPrompt(body.json, format.promptText(body.json))
  return (await countTokens(texts.join('\n'), facts.model)) + around + countMedia(body.json, facts, { withTexts: false })
}
