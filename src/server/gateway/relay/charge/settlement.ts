import { noUsage, promptTokens, type Usage } from '../../../../contract/usage.ts'
import type { Charge } from '../../../money/ledger/ledger.ts'
import { unitsOfOutput } from '../../../money/pricing/greatest-cost.ts'
import { plausibleUsage, withCacheLifetime } from '../../../money/pricing/plausible.ts'
import type { UsageBound } from '../../../money/pricing/usage-bound.ts'
import type { PromptAdditions, PromptPolicy } from '../../channels/row/prompt-additions.ts'
import { countTokens, estimateText } from '../../protocols/count-tokens.ts'
import { countCalls } from '../../protocols/paid-calls.ts'
import { hasOutput, hasPrompt, withSides } from '../../protocols/usage-sides.ts'
import type { AdmittedRequest } from '../admission/admitted-request.ts'
import type { HoldShares } from '../admission/hold-shares.ts'
import { type Calibration, countPrompt } from '../admission/token-estimate.ts'
import type { PartialReply } from '../response/adapter.ts'
import type { AttemptState } from '../response/attempt-state.ts'
import { withUnkept } from '../response/sse-interceptor.ts'
import type { Ending } from './charge-row.ts'

/**
 * The usage that a reply is charged for: the reported usage, else a count of prompt and output. A side of zeros beside an answer is not
 * reported, and counted; every other number is charged as it is, however low. An interrupted reply may have more output than the last
 * report, so that the larger number is charged.
 */
export function endingOf(
  request: AdmittedRequest,
  partial: PartialReply,
  interrupted: Ending['interrupted'] = partial.stopped,
): Promise<Ending> | Ending {
  const { usage } = partial
  const mark = interrupted ? { interrupted } : {}
  const isWhole = !interrupted || (partial.isComplete() && promptTokens(usage ?? noUsage) > 0)
  if (usage && isWhole && !lacksSide(request, partial, usage)) return { usage, isEstimated: false, ...mark }
  return countUsage(request, partial).then((counted) => {
    const known = usage && isWhole ? withSides(usage, counted) : larger(usage, counted)
    return { usage: withCalls(known, partial), isEstimated: true, ...mark }
  })
}

/** Whether a side is zero although the reply has content of it. A refused, blocked or empty answer may cost nothing. */
function lacksSide({ facts, format }: AdmittedRequest, partial: PartialReply, usage: Usage): boolean {
  const lacksPrompt = !hasPrompt(usage)
  if (!lacksPrompt && hasOutput(usage)) return false
  // Vectors, rankings and sound are content without text.
  const hasText = partial.text() !== ''
  return hasText || (lacksPrompt && (!format.stream || facts.uncounted !== undefined))
}

/** The checkpoint of a running stream: a fast estimate of what is charged if this process dies. */
export function owedSoFar(request: AdmittedRequest, partial: PartialReply): Ending {
  const text = outputOf(partial)
  const counted = request.facts.uncounted ?? {
    ...noUsage,
    input: request.inputTokens,
    output: withUnkept(Math.ceil(estimateText(text.kept)), text),
  }
  return { usage: withCalls(larger(partial.usage, counted), partial), isEstimated: true, interrupted: 'node' }
}

async function countUsage(request: AdmittedRequest, partial: PartialReply): Promise<Usage> {
  const { facts } = request
  if (facts.uncounted) return facts.uncounted
  const text = outputOf(partial)
  const output = withUnkept(await countTokens(text.kept, facts.model), text)
  return { ...noUsage, input: await countPrompt(request), output }
}

function outputOf(partial: PartialReply): { kept: string; unkept: number } {
  const kept = partial.text()
  return { kept, unkept: partial.unkept ?? 0 }
}

/** Adds calls of paid tools that happened before a usage report could include them. */
function withCalls(usage: Usage, partial: PartialReply): Usage {
  const { searches, toolCalls } = countCalls(partial.paidCalls?.() ?? [])
  return {
    ...usage,
    searches: Math.max(usage.searches, searches),
    ...(toolCalls ? { toolCalls: { ...toolCalls, ...usage.toolCalls } } : {}),
  }
}

/** Some vendors report zero usage until the end of the stream. */
function larger(usage: Usage | undefined, counted: Usage): Usage {
  if (!usage) return counted
  const input = promptTokens(usage) > 0 ? usage.input : counted.input
  return { ...usage, input, output: Math.max(usage.output, counted.output) }
}

/** The bound of an attempt: what is sent may have a higher output limit than the request. */
export function boundOf({ request, raisedLimit }: Pick<AttemptState, 'request' | 'raisedLimit'>): UsageBound | undefined {
  const { bound } = request
  if (!bound || raisedLimit === undefined || raisedLimit <= bound.outputTokens) return bound
  return { ...bound, outputTokens: raisedLimit }
}

/**
 * Caps the usage at the bound of the request at this channel, and notes the reported usage when it is higher. An upstream that may add to
 * prompts is bounded by the hold; what it reports beyond the request is noted.
 */
export function plausibleEnding(ending: Ending, own: UsageBound | undefined, promptPolicy: PromptPolicy = 'closed'): Ending {
  const isOpen = promptPolicy !== 'closed' && own?.promptTokensOpen !== undefined
  const bound = isOpen ? { ...own, promptTokens: own.promptTokensOpen ?? own.promptTokens } : own
  const reported = withCacheLifetime(ending.usage, bound)
  const { usage, isImplausible } = plausibleUsage(reported, bound)
  const promptAdded = isOpen ? Math.max(0, promptTokens(usage) - own.promptTokens) : 0
  if (reported === usage && usage === ending.usage && !isImplausible && promptAdded === 0) return ending
  return { ...ending, usage, ...(isImplausible ? { reported } : {}), ...(promptAdded > 0 ? { promptAdded } : {}) }
}

/**
 * Calibrates the estimate of a prompt with the reported number. Requests with media are left out: vendors count media by formulas
 * of their own.
 */
export function learnFrom(
  { calibration }: { readonly calibration: Calibration },
  { facts, estimate, storingChannel }: AdmittedRequest,
  { usage, isEstimated, reported, promptAdded }: Ending,
): void {
  if (isEstimated || reported || promptAdded || !estimate || facts.uncounted || facts.mediaParts > 0 || storingChannel) return
  calibration.learn(facts.model, { estimated: estimate.plain, reported: promptTokens(usage) })
}

/** Learns what an upstream adds to prompts. Only a reported usage of a request that says how long it is teaches. */
export function learnAddition(
  { promptAdditions }: { readonly promptAdditions: PromptAdditions },
  { request, channel, upstreamModel }: Pick<AttemptState, 'request' | 'channel' | 'upstreamModel'>,
  { isEstimated, interrupted, promptAdded = 0 }: Ending,
): void {
  if (isEstimated || interrupted || request.bound?.promptTokensOpen === undefined) return
  promptAdditions.note(channel, upstreamModel, promptAdded)
}

/**
 * Learns which share of its greatest cost a call used, and ends the risk of a hold below that. What was counted here, implausible or
 * interrupted teaches nothing.
 */
export function learnCost(
  { holdShares }: { readonly holdShares: HoldShares },
  { hold, kind, price }: Pick<AdmittedRequest, 'hold' | 'kind' | 'price'>,
  { usage, isEstimated, reported, interrupted }: Ending,
  { amount, siteCost }: Charge,
): void {
  if (!kind) return
  const beyond = siteCost?.amount ?? 0
  if (kind.isLearnt) holdShares.ended(hold.userId, hold.requestId, beyond)
  if (isEstimated || reported || interrupted) return
  const cost = amount + beyond
  const output = Math.min(cost, unitsOfOutput(price, usage))
  const shareOf = (units: number, most: number) => (most > 0 ? Math.min(1, units / most) : 0)
  holdShares.learn(kind.name, hold.userId, {
    prompt: shareOf(cost - output, kind.prompt),
    output: shareOf(output, kind.output),
  })
}
