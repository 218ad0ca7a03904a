import { isHeavy, yieldWithPriority } from '../lib/yield-to-event-loop.ts'
import { freePrice } from '../pricing/quote.ts'
import { wireFormats } from '../protocols/index.ts'
import { authorizeModel } from './admission/authorize-model.ts'
import { dearestPrice, priceExtras } from './admission/paid-extras.ts'
import { checkPrompt } from './admission/prompt-filter.ts'
import { enterLimits } from './admission/rate-limit.ts'
import { reserve } from './admission/reserve.ts'
import { estimatePrompt } from './admission/token-estimate.ts'
import type { RelayEndpoint } from './endpoints.ts'
import type { AdmittedRequest, RelayParts } from './relay-parts.ts'
import { homeOf, namesHistory } from './stored-responses/home-channel.ts'

/** What came from the caller. */
export type Asked = Pick<AdmittedRequest, 'call' | 'caller' | 'body' | 'turn' | 'keeps'>

/** Admits, prices and holds. Everything that may refuse the request happens here, before any upstream byte. */
export async function admitRequest(app: RelayParts, endpoint: RelayEndpoint, asked: Asked): Promise<AdmittedRequest> {
  const { call, caller, body, turn, keeps } = asked
  const format = wireFormats[endpoint.format]
  const isHeavyBody = isHeavy(body.bytes.length)
  if (isHeavyBody) await yieldWithPriority()
  const facts = format.readRequest(body.json, endpoint.said, body.form?.files)
  const asksFor = { model: facts.model, format: endpoint.format, body: body.json }
  const allowed = authorizeModel(app, caller, asksFor)
  const home = namesHistory(endpoint.format, body.json) ? await homeOf(app, caller, asksFor) : undefined
  const group = home?.group ?? allowed
  const prompt = format.promptText(body.json)
  if (isHeavyBody) await yieldWithPriority()
  const estimate = estimatePrompt(app, { facts, body: body.json, prompt, keptTokens: home?.tokens ?? 0 })
  const inputTokens = estimate.tokens
  const outputTokens = facts.outputTokensMax ?? app.options.current.PreConsumedQuota
  if (turn) await enterLimits(app, call, turn, { group, inputTokens, outputTokens })
  const checking = checkPrompt(app, call, prompt)
  if (checking) await checking
  const price = format.isFree
    ? freePrice(facts.model, group)
    : app.catalog.priceOf({ model: facts.model, group, acceptsUnpriced: caller.acceptsUnpriced })
  const extras = priceExtras(app, { caller, body, facts, price, isFree: format.isFree === true })
  const asking = { requestId: call.id, caller, format: format.format, facts: extras.facts, body: extras.body, group, home }
  const reserved = await reserve(app, { ...asking, price: dearestPrice([price, ...(extras.otherPrices ?? [])]) })
  const { outputLimit } = reserved
  call.tell('x-sluice-output-limit', outputLimit === undefined ? '' : String(outputLimit))
  const admitted = { call, caller, ...extras, format, group, price, inputTokens, estimate, ...reserved, turn, home, keeps }
  return Object.freeze(admitted)
}
