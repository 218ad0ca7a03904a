import { numberIn } from '../../../../contract/by-model.ts'
import { redirectOf, startOfDay } from '../../../../contract/model-ends.ts'
import { noUsage, type Tier } from '../../../../contract/usage.ts'
import { spliceMembers } from '../../../base/lib/bytes/splice-json.ts'
import { AppError, fail } from '../../../base/lib/failure.ts'
import { isHeavy, yieldWithPriority } from '../../../base/lib/time/yield-to-event-loop.ts'
import { groupsToTry } from '../../../money/pricing/groups.ts'
import { dearestCost, freePrice, type Price } from '../../../money/pricing/quote.ts'
import { unpricedMembers } from '../../../money/pricing/tiers.ts'
import { type RelayCaller, requireModel } from '../../../people/tokens/authenticate.ts'
import type { ChannelIndex, RunningChannel } from '../../channels/index/model-index.ts'
import { upstreamFormat } from '../../channels/request/upstream-format.ts'
import { isRedirected } from '../../channels/row/model-ends.ts'
import { resolveModel } from '../../channels/select/select.ts'
import type { ChannelFormat } from '../../protocols/format.ts'
import { formats } from '../../protocols/index.ts'
import type { JsonObject, RequestFacts } from '../../protocols/wire-format.ts'
import { type ConversationParts, findStoringChannel, namesHistory, type StoringChannel } from '../conversations/history.ts'
import { channelOfFiles, nameFiles } from '../conversations/named-files.ts'
import type { GatewayParts } from '../gateway-parts.ts'
import type { ClientExchange } from '../http/client-exchange.ts'
import type { RelayEndpoint } from '../http/endpoints.ts'
import type { Body } from '../http/read-body.ts'
import type { AdmittedRequest, Redirected, Unpriced } from './admitted-request.ts'
import type { HoldShares } from './hold-shares.ts'
import { enterLimits, explainRefusedHold, setBudgetHeaders } from './limits.ts'
import type { PromptCounter } from './prompt-counter.ts'
import { type Reserved, reserve } from './reserve.ts'
import { type Calibration, estimatePrompt } from './token-estimate.ts'

/** The parts that admission uses. */
export type AdmissionParts = Pick<
  GatewayParts,
  'budgets' | 'callerLog' | 'catalog' | 'channels' | 'ledger' | 'moderation' | 'now' | 'options' | 'steady'
> &
  Pick<ConversationParts, 'keptFiles' | 'localResponses' | 'upstreamResponses'> & {
    readonly calibration: Calibration
    readonly holdShares: HoldShares
    readonly promptCounter: PromptCounter
  }

/** A request whose caller is authenticated and whose body is read. */
export type AuthenticatedRequest = Pick<AdmittedRequest, 'call' | 'caller' | 'body' | 'lease' | 'replaces' | 'toStore'>

/** Admits, prices and holds. Everything that may refuse the request happens here, before any upstream byte. */
export async function admitRequest(
  app: AdmissionParts,
  endpoint: RelayEndpoint,
  asked: AuthenticatedRequest,
): Promise<AdmittedRequest> {
  const { call, caller, lease, replaces, toStore } = asked
  const format = formats[endpoint.format].wire
  const naming = nameFiles(app, caller, { format: endpoint.format, body: asked.body })
  const { body, place } = naming ? await naming : { body: asked.body, place: undefined }
  const isHeavyBody = isHeavy(body.bytes.length)
  if (isHeavyBody) await yieldWithPriority()
  const facts = format.readRequest(body.json, endpoint.fromPath, body.form?.files)
  call.notes.asked = facts
  const asksFor = { model: facts.model, format: endpoint.format, body: body.json, replaces }
  const allowed = authorizedGroup(app, call, { caller, asksFor })
  const { continues } = format
  const continued =
    continues && namesHistory(endpoint.format, body.json) ? await findStoringChannel(app, caller, asksFor) : undefined
  const storingChannel = place ? withFiles(channelOfFiles(app, caller, { model: facts.model, place }), continued) : continued
  const group = storingChannel?.group ?? allowed
  call.notes.group = group
  const prompt = format.promptText(body.json)
  if (isHeavyBody) await yieldWithPriority()
  const estimate = estimatePrompt(app, { facts, body: body.json, prompt, keptTokens: storingChannel?.tokens ?? 0 })
  const inputTokens = estimate.tokens
  const outputTokens = facts.outputTokensMax ?? app.options.current.PreConsumedQuota
  if (lease) await enterLimits(app, call, lease, { group, inputTokens, outputTokens })
  const checking = checkPrompt(app, call, prompt)
  if (checking) await checking
  const price = format.isFree
    ? freePrice(facts.model, group)
    : app.catalog.priceOf({ model: facts.model, group, acceptsUnpriced: caller.acceptsUnpriced })
  const extras = priceExtras(app, { caller, body, facts, price, isFree: format.isFree === true })
  const redirected = format.isFree ? undefined : priceOfRedirect(app, { model: facts.model, group })
  const prices = [price, ...(extras.otherPrices ?? []), ...(redirected ? [redirected.price] : [])] as const
  const asking = {
    requestId: call.id,
    caller,
    format: format.format,
    facts: extras.facts,
    body: extras.body,
    group,
    storingChannel,
  }
  const holdingMs = app.steady()
  const priced = {
    ...asking,
    budgets: app.budgets.windowsOf(caller, group, [facts.model, price.model, ...(replaces === undefined ? [] : [replaces])]),
    price: prices.length > 1 ? dearestPrice(prices) : price,
  }
  let reserved: Reserved
  try {
    const reserving = reserve(app, priced)
    reserved = reserving instanceof Promise ? await reserving : reserving
  } catch (error) {
    throw explainRefusedHold(app, call, error)
  }
  call.notes.holdMs = Math.max(0, app.steady() - holdingMs)
  const { budgetsLeft, ...held } = reserved
  const end = app.channels.current.endOf(replaces ?? facts.model)
  if (end) call.setHeader('sunset', new Date(startOfDay(end.date)).toUTCString())
  if (budgetsLeft) setBudgetHeaders(app, call, { windows: priced.budgets, left: budgetsLeft })
  const { outputLimit } = held
  call.setHeader('x-sluice-output-limit', outputLimit === undefined ? '' : String(outputLimit))
  const admitted = {
    call,
    caller,
    replaces,
    ...extras,
    ...(redirected ? { redirected } : {}),
    format,
    group,
    price,
    inputTokens,
    estimate,
    ...held,
    lease,
    storingChannel,
    toStore,
  }
  return Object.freeze(admitted)
}

/** The channel that has both the files and the conversation of a request. Throws `files_apart`. */
function withFiles(ofFiles: StoringChannel, continued: StoringChannel | undefined): StoringChannel {
  if (!continued) return ofFiles
  if (ofFiles.channelId !== continued.channelId || ofFiles.keyId !== continued.keyId) fail('files_apart_from_history')
  return continued
}

/**
 * Authorizes the model and returns the group. A call that finds no channel is counted for its group when the model has a price:
 * other names may be made up.
 */
function authorizedGroup(
  app: Pick<GatewayParts, 'catalog' | 'channels' | 'options'>,
  call: ClientExchange,
  { caller, asksFor }: { caller: RelayCaller; asksFor: Parameters<typeof authorizeModel>[2] },
): string {
  try {
    return authorizeModel(app, caller, asksFor)
  } catch (error) {
    const { ModelRatio, ModelPrice } = app.options.current
    const isListed = Object.hasOwn(ModelRatio, asksFor.model) || Object.hasOwn(ModelPrice, asksFor.model)
    if (isListed && error instanceof AppError && error.code === 'no_channel') call.notes.group = String(error.params.group)
    throw error
  }
}

/**
 * Authorizes the model for the caller, by the name that it has used: of an ended model, `replaces`. Returns the group: the first of the
 * caller's groups that has a channel for the model. Throws `token_model_forbidden`, `group_forbidden`, `model_not_found`, `no_channel`,
 * `dialect_unavailable`, `channel_pin_unknown` or `channel_disabled`.
 */
export function authorizeModel(
  app: Pick<GatewayParts, 'catalog' | 'channels' | 'options'>,
  caller: RelayCaller,
  asked: { model: string; format: ChannelFormat; replaces?: string | undefined },
): string {
  const named = asked.replaces ?? asked.model
  requireModel(caller, named)
  const groups = groupsToTry(app.options.current, caller)
  const index = app.channels.current
  const own = groups[0] ?? caller.userGroup

  if (caller.pinnedChannel !== 0) {
    const pinned = index.byId.get(caller.pinnedChannel)
    if (!pinned) return failPinned(index, caller.pinnedChannel)
    if (!canAnswer(pinned, asked)) failUnavailable(asked)
    return own
  }

  const group = groups.find((candidate) => hasChannel(index, candidate, asked))
  if (group !== undefined) return group
  const isServed = groups.some((candidate) => index.candidates(candidate, asked.model).length > 0)
  if (isServed) failUnavailable(asked)
  // A model that has a price exists, even while no channel serves it.
  const isKnown = app.catalog.modelPriceOf(asked.model) !== undefined
  fail(isKnown ? 'no_channel' : 'model_not_found', { model: asked.model, group: own })
}

function failPinned(index: ChannelIndex, channel: number): never {
  if (index.outOfService.has(channel)) fail('channel_disabled')
  fail('channel_pin_unknown', { channel })
}

/** The error names the endpoint without its vendor: `embeddings` for `openai.embeddings`. */
function failUnavailable({ model, format }: { model: string; format: ChannelFormat }): never {
  fail('dialect_unavailable', { model, endpoint: format.slice(format.indexOf('.') + 1) })
}

/** Whether some channel of the group can answer the model in the format. */
export function hasChannel(index: ChannelIndex, group: string, asked: { model: string; format: ChannelFormat }): boolean {
  return index.candidates(group, asked.model).some((tier) => tier.some((channel) => canAnswer(channel, asked)))
}

function canAnswer(channel: RunningChannel, { model, format }: { model: string; format: ChannelFormat }): boolean {
  return upstreamFormat(channel, { format, model: resolveModel(channel, model) }) !== undefined
}

/**
 * Throws `sensitive_words` when a prompt has a listed word, without naming the word to the caller. Synchronous unless the prompt is
 * long.
 */
export function checkPrompt(
  app: Pick<GatewayParts, 'callerLog' | 'moderation'>,
  call: ClientExchange,
  prompt: readonly string[],
): Promise<void> | undefined {
  const found = app.moderation.findInPrompt(prompt)
  if (found instanceof Promise) return found.then((word) => refuseWord(app, call, word))
  refuseWord(app, call, found)
  return undefined
}

function refuseWord({ callerLog }: Pick<GatewayParts, 'callerLog'>, call: ClientExchange, word: string | undefined): void {
  if (word === undefined) return
  callerLog.of(call.client).info({ request: call.id, word }, 'a prompt was refused for a listed word')
  fail('sensitive_words')
}

/** A request after the price check: each of its paid tools and models has a price, or is recorded as one that must not be sent. */
interface PaidExtras extends Pick<AdmittedRequest, 'leftOut' | 'otherPrices' | 'unpriced'> {
  readonly body: Body
  readonly facts: RequestFacts
}

/**
 * Checks the prices of everything besides tokens, before the hold: a tier without a factor is removed from the request; a tool or
 * another model without a price is recorded, so that `unpricedOf` refuses channels that would be sent it. Throws `untranslatable`
 * when the token is strict.
 */
function priceExtras(
  app: Pick<GatewayParts, 'catalog'>,
  {
    caller,
    body,
    facts,
    price,
    isFree,
  }: Pick<AdmittedRequest, 'caller' | 'body' | 'facts' | 'price'> & { readonly isFree: boolean },
): PaidExtras {
  const { requestedTier, hostedTools, otherModels } = facts
  if (!requestedTier && !hostedTools && !otherModels) return { body, facts }
  if (isFree) return { body, facts: withoutExtras(facts) }

  const unpriced: Unpriced[] = (hostedTools ?? [])
    .filter((tool) => !hasPrice(price, tool))
    .map((tool) => ({ tool, refusal: new AppError('tool_unpriced', { tool, option: 'ToolPrice' }) }))
  const otherPrices: Price[] = []
  for (const model of otherModels ?? []) {
    const other = priceOfOther(app, { caller, model, group: price.group })
    if (other instanceof AppError) unpriced.push({ tool: `advisor/fallback ${model}`, refusal: other })
    else otherPrices.push(other)
  }
  return {
    ...withPricedTier({ caller, body, facts, price }),
    ...(otherPrices.length > 0 ? { otherPrices } : {}),
    ...(unpriced.length > 0 ? { unpriced } : {}),
  }
}

function withoutExtras({ requestedTier: _, hostedTools: _hosted, otherModels: _others, ...plain }: RequestFacts): RequestFacts {
  return plain
}

/**
 * The redirect that the vendor of a channel has announced for the model, once its day has come, with the price of the model that
 * answers. Undefined where the site has no price for that model: the call is then charged as asked.
 */
function priceOfRedirect(
  { catalog, channels, now }: Pick<GatewayParts, 'catalog' | 'channels' | 'now'>,
  { model, group }: { readonly model: string; readonly group: string },
): Redirected | undefined {
  const redirect = redirectOf(model)
  if (!redirect || !isRedirected(channels.current.candidates(group, model).flat(), redirect, now())) return undefined
  if (catalog.modelPriceOf(redirect.answeredBy) === undefined) return undefined
  const price = catalog.priceOf({ model: redirect.answeredBy, group, acceptsUnpriced: false })
  return { redirect, price: underName(model, price) }
}

/** A price under the name of another model, with those of its steps and of later moments. */
function underName(model: string, price: Price): Price {
  const { steps, later } = price
  return {
    ...price,
    model,
    ...(steps ? { steps: steps.map((step) => ({ ...step, price: underName(model, step.price) })) } : {}),
    ...(later ? { later: later.map((each) => ({ ...each, price: underName(model, each.price) })) } : {}),
  }
}

/** The price for the hold of a call in which several models may work: the most expensive one for as many input as output tokens. */
function dearestPrice(prices: readonly [Price, ...Price[]]): Price {
  const cost = (price: Price) => dearestCost(price, equalParts)
  return prices.reduce((dearest, price) => (cost(price) > cost(dearest) ? price : dearest))
}

const equalParts = { ...noUsage, input: 1_000_000, output: 1_000_000 }

function hasPrice({ toolUsd }: Price, tool: string): boolean {
  return tool === 'web_search' || numberIn(toolUsd, tool) !== undefined
}

/** Prices of other models use the group of the request: they work for the same caller. */
function priceOfOther(
  { catalog }: Pick<GatewayParts, 'catalog'>,
  { caller, model, group }: Pick<AdmittedRequest, 'caller' | 'group'> & { readonly model: string },
): Price | AppError {
  try {
    return catalog.priceOf({ model, group, acceptsUnpriced: caller.acceptsUnpriced })
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'price_missing') throw error
    return new AppError('tool_unpriced', { tool: `advisor/fallback ${model}`, option: 'ModelRatio' })
  }
}

function withPricedTier({
  caller,
  body,
  facts,
  price,
}: Pick<AdmittedRequest, 'caller' | 'body' | 'facts' | 'price'>): Omit<PaidExtras, 'otherPrices'> {
  const { requestedTier, ...rest } = facts
  const unpriced = requestedTier ? unpricedMembers(price, requestedTier) : []
  if (!requestedTier || unpriced.length === 0) return { body, facts }

  const names = unpriced.flatMap((member) => spellings[member]).filter((name) => name in body.json)
  if (caller.isStrict) fail('untranslatable', { field: names.join(', '), reason: noFactor })
  const kept: Tier = Object.fromEntries(
    Object.entries(requestedTier).filter(([member]) => !unpriced.some((out) => out === member)),
  )
  return {
    body: without(body, names),
    facts: Object.keys(kept).length > 0 ? { ...rest, requestedTier: kept } : rest,
    leftOut: names,
  }
}

const noFactor = { zh: '该等级在 TierFactor 中没有倍率', en: 'the tier has no factor in TierFactor' }

const spellings = {
  service_tier: ['service_tier', 'serviceTier'],
  speed: ['speed'],
  inference_geo: ['inference_geo'],
  background_options: ['background_options'],
} as const

function without(body: Body, names: readonly string[]): Body {
  const json: JsonObject = Object.fromEntries(Object.entries(body.json).filter(([name]) => !names.includes(name)))
  return { ...body, json, bytes: spliceMembers(body.bytes, Object.fromEntries(names.map((name) => [name, undefined]))) }
}
