import type { OptionValues } from '../../../contract/options/index.ts'
import { clipUsd } from '../../../contract/video-price.ts'
import { fail } from '../../base/lib/failure.ts'
import type { Core } from '../../base/options/core.ts'
import { groupRatio, groupsToTry } from '../../money/pricing/groups.ts'
import { freePrice, type Price } from '../../money/pricing/quote.ts'
import { type RelayCaller, requireModel } from '../../people/tokens/authenticate.ts'
import type { RunningChannel } from '../channels/index/model-index.ts'
import { authorizeModel } from '../relay/admission/admit-request.ts'
import type { RelayParts } from '../relay/relay-parts.ts'
import type { Order } from './order.ts'
import { ownTask } from './task-table.ts'

/** An authorized order. `home` is set for an order that continues a task: only its channel and key know that task. */
export interface AuthorizedOrder {
  readonly group: string
  readonly model: string
  readonly home: { readonly channelId: number; readonly keyId: number } | undefined
}

/**
 * Authorizes an order: its group and, if it continues a task, its channel. Throws `task_unknown` and `task_not_done` for the continued
 * task, `channel_disabled` when that task's channel is out of service, and what `authorizeModel` throws.
 */
export async function authorizeOrder(
  app: Core & Pick<RelayParts, 'catalog' | 'channels'>,
  caller: RelayCaller,
  order: Order,
): Promise<AuthorizedOrder> {
  if (!order.parent) return authorizeAnyModel(app, caller, order)
  const { id, mustBeDone } = order.parent
  const { table, models } = order
  const task = await ownTask(app, table, { userId: caller.userId, id })
  if (!task) fail('task_unknown', { id: id.slice(0, 100) })
  if (mustBeDone && task.status !== 'SUCCESS') fail('task_not_done', { id: id.slice(0, 100) })

  const [model = ''] = models
  if (!models.some((name) => caller.modelLimits?.has(name))) requireModel(caller, model)
  const { channelId, keyId } = task
  const channel: RunningChannel | undefined = app.channels.current.byId.get(channelId)
  if (channel?.provider.tasks !== order.format) fail('channel_disabled')
  const groups = groupsToTry(app.options.current, caller)
  const group = groups.find((each) => channel.groups.has(each))
  if (group === undefined) fail('no_channel', { model, group: groups[0] ?? caller.userGroup })
  return { group, model, home: { channelId, keyId } }
}

function authorizeAnyModel(
  app: Pick<RelayParts, 'catalog' | 'channels' | 'options'>,
  caller: RelayCaller,
  { models, format }: Order,
): AuthorizedOrder {
  let refusal: unknown
  for (const model of models) {
    try {
      return { group: authorizeModel(app, caller, { model, format }), model, home: undefined }
    } catch (error) {
      refusal ??= error
    }
  }
  throw refusal
}

/** Price of orders in US dollars where none is configured and unpriced models are accepted. */
const usdDefault = 0.1

/** Price of a second of a clip in US dollars in the same case: that of the dearest public price. */
const usdOfSecond = 0.72

/** The price of an order, which is per call, or per clip. Throws `price_missing`. */
export function priceOfOrder(
  app: Pick<RelayParts, 'catalog' | 'options'>,
  caller: RelayCaller,
  order: Order,
  group: string,
): Price {
  const { usd } = order.sold ?? {}
  const [named = ''] = order.models
  if (usd !== undefined) return priceOfClip(app.options.current, { model: named, group, usd })
  const set = order.prices.find((name) => app.catalog.modelPriceOf(name) !== undefined)
  const model = set ?? order.models[0] ?? ''
  const price = app.catalog.priceOf({ model, group, acceptsUnpriced: caller.acceptsUnpriced })
  if (price.fixedUsd >= 0) return price
  // A price by tokens would be 0, because an order has no tokens.
  if (!order.sold) return { ...price, fixedUsd: usdDefault, unpriced: true }
  if (!price.unpriced) fail('price_missing', { model })
  return {
    ...price,
    fixedUsd: clipUsd({ per: 'second' }, { resolution: '', sound: 'any', usd: usdOfSecond }, order.sold.seconds),
  }
}

/** The price of one clip in a group, by the price table of its model. */
function priceOfClip(options: OptionValues, { model, group, usd }: { model: string; group: string; usd: number }): Price {
  const { QuotaPerUnit: quotaPerUnit } = options
  return { ...freePrice(model, group), fixedUsd: usd, groupRatio: groupRatio(options, group), quotaPerUnit }
}
