import { numberIn } from '../../../contract/by-model.ts'
import { AppError, fail } from '../../base/lib/failure.ts'
import { type BudgetWindow, windowsText } from '../../money/ledger/budget-window.ts'
import type { CallLedger } from '../../money/ledger/ledger.ts'
import { batchPrice } from '../../money/pricing/batch-price.ts'
import { groupsToTry } from '../../money/pricing/groups.ts'
import type { Price } from '../../money/pricing/quote.ts'
import type { RelayCaller } from '../../people/tokens/authenticate.ts'
import type { RunningChannel } from '../channels/index/model-index.ts'
import { upstreamFormat } from '../channels/request/upstream-format.ts'
import { resolveModel } from '../channels/select/select.ts'
import type { CallerFormat } from '../protocols/format.ts'
import { formats } from '../protocols/index.ts'
import { isObject, type JsonObject, type PathFacts } from '../protocols/wire-format.ts'
import { type AdmissionParts, admitRequest } from '../relay/admission/admit-request.ts'
import type { AdmittedRequest } from '../relay/admission/admitted-request.ts'
import { NoAnswer } from '../relay/http/answer.ts'
import { ClientExchange } from '../relay/http/client-exchange.ts'
import { DetachedRequest } from '../relay/http/detached-request.ts'
import type { RelayParts } from '../relay/relay-parts.ts'
import { formOf } from './batch-form.ts'
import type { AdmittedLine, BatchPrice } from './batch-table.ts'

/** A request of a batch, as it arrived. */
export interface ArrivedLine {
  /** From 1. */
  readonly line: number
  readonly customId: unknown
  readonly body: unknown
}

interface Asked {
  readonly call: ClientExchange
  readonly caller: RelayCaller
  readonly format: CallerFormat
  readonly channel: RunningChannel
  /** The model in the path of the order, which all requests ask. */
  readonly model?: string | undefined
}

/** An admitted request, and the body that its vendor gets. */
interface Judged {
  readonly admitted: AdmittedLine
  /** Whether the vendor gets other bytes than the caller has sent. */
  readonly isChanged: boolean
  readonly body: JsonObject
}

/**
 * Judges the requests of a batch one by one as the calls that they are: endpoint, model, group, listed words, price and bounds, by the
 * same function. Nothing is held: the greatest cost of each is added up, at the price of batches.
 */
export class LineJudge {
  readonly #app: RelayParts
  readonly #asked: Asked
  readonly #call: ClientExchange
  readonly #groups = new Map<string, string>()
  readonly #discounted = new Map<Price, Price>()
  readonly #orderedMs: number
  readonly #customIds = new Set<string>()
  readonly #windows = new Map<string, BudgetWindow>()
  readonly prices: Record<string, BatchPrice> = {}
  /** The greatest cost of each admitted request, in order. */
  readonly held: number[] = []

  constructor(app: RelayParts, asked: Asked) {
    this.#orderedMs = app.now()
    this.#app = app
    this.#asked = asked
    this.#call = new ClientExchange(new NoAnswer(), {
      id: asked.call.id,
      dialect: asked.call.dialect,
      language: 'en',
      client: asked.call.client,
      startedMs: asked.call.startedMs,
      request: new DetachedRequest('', {}, {}),
    })
  }

  /** The budget windows that count requests of the batch. */
  get budgets(): readonly BudgetWindow[] {
    return [...this.#windows.values()]
  }

  /** Throws the error with which the request is refused. */
  async judge({ line, customId, body }: ArrivedLine): Promise<Judged> {
    const id = this.#requireId(customId)
    if (!isObject(body)) return refuse(noBody)
    if (body.stream === true) return refuse(noStreams)
    const { format } = this.#asked
    const read = { json: body, bytes: Buffer.from(JSON.stringify(body)) }
    const { channel, call, model: ofAll } = this.#asked
    const fromPath = ofAll === undefined ? undefined : { model: ofAll, stream: false }
    const { model } = formats[format].wire.readRequest(body, fromPath)
    const group = this.#groupOf(model)
    const factor = this.#factorOf(model)
    const upstreamModel = resolveModel(channel, model)
    if (upstreamFormat(channel, { format, model: upstreamModel, body }) !== format) return refuse(needsTranslation)
    const request = await admitRequest(this.#pricedAt(factor), endpointOf(format, call, fromPath), {
      call: this.#call,
      // What a call would lose on its way is refused here, because the vendor gets the requests as they are.
      caller: { ...this.#asked.caller, pinnedChannel: channel.id, tokenGroup: group, isStrict: true },
      body: read,
      lease: undefined,
    })
    const { hold } = request
    this.held.push(hold.amount)
    this.#customIds.add(id)
    this.#note(request, { factor, group, upstreamModel })
    const { facts, inputTokens, bound } = request
    const { json } = request.body
    const sent = upstreamModel === model ? json : formOf(call).withModel(json, upstreamModel)
    return {
      admitted: { line, customId: id, model, held: hold.amount, kept: { facts, inputTokens, bound } },
      isChanged: sent !== body,
      body: sent,
    }
  }

  #requireId(customId: unknown): string {
    if (typeof customId !== 'string' || !isCustomId.test(customId) || !customId.isWellFormed()) return refuse(noId)
    if (this.#customIds.has(customId)) return refuse(repeatedId(customId))
    return customId
  }

  /** The first group of the caller in which the channel of the batch serves the model. */
  #groupOf(model: string): string {
    const known = this.#groups.get(model)
    if (known !== undefined) return known
    const group = groupAt(this.#app, this.#asked.caller, { channel: this.#asked.channel, model })
    if (group === undefined) fail('batch_models_apart', { model })
    this.#groups.set(model, group)
    return group
  }

  #factorOf(model: string): number {
    const factors = this.#app.options.current['batches.factors']
    return numberIn(factors, model) ?? numberIn(factors, this.#asked.channel.provider.key) ?? 1
  }

  #pricedAt(factor: number): AdmissionParts {
    const { catalog } = this.#app
    const priceOf: typeof catalog.priceOf = (wanted) => {
      const price = catalog.priceOf(wanted)
      const known = this.#discounted.get(price) ?? batchPrice(price, factor, this.#orderedMs)
      this.#discounted.set(price, known)
      return known
    }
    return { ...this.#app, ledger: holdsNothing, catalog: { ...catalog, priceOf } }
  }

  #note(
    { facts, price, otherPrices, hold }: AdmittedRequest,
    { factor, group, upstreamModel }: Pick<BatchPrice, 'factor' | 'group' | 'upstreamModel'>,
  ): void {
    for (const window of hold.budgets ?? []) this.#windows.set(`${window.budgetId}:${window.start}`, window)
    const known = this.prices[facts.model]
    const others = [...(known?.otherPrices ?? []), ...(otherPrices ?? [])]
    this.prices[facts.model] = {
      ...{ price, factor, group, upstreamModel, budgets: windowsText(hold.budgets) },
      ...(others.length > 0 ? { otherPrices: uniqueBy(others) } : {}),
    }
  }
}

/** The group in which a channel serves a model for a caller; undefined when it does in none. */
function groupAt(
  { channels, options }: Pick<RelayParts, 'channels' | 'options'>,
  caller: RelayCaller,
  { channel, model }: { readonly channel: RunningChannel; readonly model: string },
): string | undefined {
  const isPinned = caller.pinnedChannel !== 0
  if (isPinned && caller.pinnedChannel !== channel.id) return undefined
  const groups = groupsToTry(options.current, caller)
  const serves = (group: string) =>
    channels.current
      .candidates(group, model)
      .flat()
      .some(({ id }) => id === channel.id)
  return groups.find(serves) ?? (isPinned ? groups[0] : undefined)
}

const isCustomId = /^[^\0\r\n]{1,256}$/

function uniqueBy(prices: readonly Price[]): Price[] {
  return [...new Map(prices.map((price) => [price.model, price])).values()]
}

function endpointOf(format: CallerFormat, { dialect }: ClientExchange, fromPath: PathFacts | undefined) {
  return { kind: 'relay', path: '', format, dialect, from: 'token', ...(fromPath ? { fromPath } : {}) } as const
}

/** Holds nothing: the amount of each request is added up. */
const holdsNothing: CallLedger = {
  hold: () => undefined,
  extend() {},
  settle: async () => {},
  withdraw: async () => false,
  charged: async () => undefined,
  release() {},
  checkpoint() {},
}

function refuse(reason: { readonly zh: string; readonly en: string }): never {
  throw new AppError('batch_line_invalid', { reason })
}

const noId = {
  zh: '缺少 custom_id，或其长度不在 1 至 256 之间',
  en: 'its custom_id must be a text of 1 to 256 characters',
}
const noBody = { zh: '缺少请求内容', en: 'it has no request body' }
const noStreams = { zh: '批处理不支持流式输出', en: 'a request of a batch cannot be streamed; leave out stream' }
const needsTranslation = {
  zh: '该模型的渠道不直接支持此接口，批处理不做转换',
  en: 'the channel of the model does not serve this endpoint itself, and requests of batches are not translated',
}

function repeatedId(customId: string) {
  const id = customId.slice(0, 64)
  return { zh: `custom_id ${id} 重复`, en: `its custom_id ${id} is that of an earlier request` }
}
