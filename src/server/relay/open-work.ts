import { estimateOf, freePrice } from '../pricing/quote.ts'
import { wireFormats } from '../protocols/index.ts'
import { admit } from './admit.ts'
import { checkPrompt } from './check-prompt.ts'
import type { Endpoint } from './endpoints.ts'
import { estimatePrompt } from './estimate.ts'
import { enterLimits } from './limits.ts'
import type { RelayParts, Work } from './relay-parts.ts'
import { homeOf, namesHistory } from './response-home.ts'

export type RelayEndpoint = Extract<Endpoint, { kind: 'relay' }>

/** What came from the caller. */
export type Asked = Pick<Work, 'call' | 'caller' | 'body' | 'turn' | 'keeps'>

/** Admits, prices and holds. Everything that may refuse the request happens here, before any upstream byte. */
export async function openWork(app: RelayParts, endpoint: RelayEndpoint, asked: Asked): Promise<Work> {
  const { call, caller, body, turn, keeps } = asked
  const format = wireFormats[endpoint.format]
  const facts = format.readRequest(body.json, endpoint.said, body.form?.files)
  const asksFor = { model: facts.model, format: endpoint.format, body: body.json }
  const admitted = admit(app, caller, asksFor)
  const home = namesHistory(endpoint.format, body.json) ? await homeOf(app, caller, asksFor) : undefined
  const group = home?.group ?? admitted
  const { callsMax = 1 } = facts
  const prompt = format.promptText(body.json)
  const estimate = estimatePrompt(app, { facts, body: body.json, prompt, keptTokens: home?.tokens ?? 0 })
  const inputTokens = estimate.tokens
  const outputTokens = facts.outputTokensMax ?? app.options.current.PreConsumedQuota
  if (turn) await enterLimits(app, call, turn, { group, inputTokens, outputTokens })
  const checking = checkPrompt(app, call, prompt)
  if (checking) await checking
  const price = format.isFree
    ? freePrice(facts.model, group)
    : app.catalog.priceOf({ model: facts.model, group, acceptsUnpriced: caller.acceptsUnpriced })
  // What was learnt of a model is right for most prompts, and too little for some.
  const heldTokens = Math.max(inputTokens, estimate.plain)
  const amount = estimateOf(price, { inputTokens: heldTokens, outputTokensMax: outputTokens, calls: callsMax })
  const hold = { requestId: call.id, userId: caller.userId, tokenId: caller.tokenId, amount }
  await app.ledger.hold(hold)
  return { call, caller, body, format, facts, group, price, inputTokens, estimate, hold, turn, attempts: [], home, keeps }
}
