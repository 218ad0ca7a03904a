import { redirectOf, startOfDay } from '../../../../contract/model-ends.ts'
import {
  figuresOf,
  type ModelPrice,
  type PriceFactors,
  type PriceFigures,
  type PriceSource,
} from '../../../../contract/model-price.ts'
import type { PriceRow } from '../../../../contract/routes/pricing.ts'
import { clipUsd, type VideoPrice, videoPriceOf } from '../../../../contract/video-price.ts'
import type { Snapshot } from '../../../base/lib/collections/snapshot.ts'
import type { Core } from '../../../base/options/core.ts'
import { type Catalog, fallbackModelRatio } from '../../../money/pricing/catalog.ts'
import { isRedirected } from '../row/model-ends.ts'
import { listedModels } from './listed-models.ts'
import type { ChannelIndex, RunningChannel } from './model-index.ts'

type Parts = Pick<Core, 'options'> & { readonly channels: Snapshot<ChannelIndex>; readonly catalog: Catalog }

/**
 * Prices of all served models, before the group ratio. `enable_groups` lists the reader's groups with the model; other groups are not
 * shown. Models without a price are left out, because calls to them are refused.
 */
export function readPriceList(parts: Parts, groups: readonly string[]): PriceRow[] {
  const { options, catalog } = parts
  const own = new Map(groups.map((group) => [group, new Set(listedModels(parts, [group]))]))
  const all = Object.keys(options.current.GroupRatio)
  const channels = [...parts.channels.current.byId.values()]

  return listedModels(parts, [...new Set([...all, ...groups])]).flatMap((model) => {
    const clips = videoPriceOf(options.current.VideoPrice, model)
    const price = clips ? undefined : catalog.modelPriceOf(model)
    if (!price && !clips && !options.current.SelfUseModeEnabled) return []
    return {
      model_name: model,
      ...(clips ? figuresOfClips(clips) : price ? figuresOf(price) : unpriced),
      ...sourceOf(price?.source),
      clips: clips ?? null,
      steps: (price?.steps ?? []).map((step) => ({ above: step.above, ...stepFigures(step.price) })),
      ...timesOf(price),
      owner_by: '',
      enable_groups: groups.filter((group) => own.get(group)?.has(model)),
      end: endOf(parts, model),
      redirect: redirectFor(parts, channels, model),
    }
  })
}

/** A clip of the usual length at the first rate, as a price per call, for readers that know no tables. */
function figuresOfClips(price: VideoPrice): PriceFigures {
  const [first] = price.rates
  return { ...unpriced, quota_type: 1, model_ratio: 0, model_price: first ? clipUsd(price, first, price.seconds.usual) : 0 }
}

function endOf({ channels }: Parts, model: string): PriceRow['end'] {
  const end = channels.current.endOf(model)
  return end ? { date: end.date, successor: end.successor ?? '' } : null
}

/** Without a price for the model that answers, calls are charged as asked. */
function redirectFor({ catalog }: Parts, channels: readonly RunningChannel[], model: string): PriceRow['redirect'] {
  const redirect = redirectOf(model)
  if (!redirect || catalog.modelPriceOf(redirect.answeredBy) === undefined) return null
  const serving = channels.filter(({ models }) => models.has(model))
  const isMet = isRedirected(serving, redirect, startOfDay(redirect.from))
  return isMet ? { answered_by: redirect.answeredBy, from: redirect.from } : null
}

function sourceOf(source: PriceSource | undefined): Pick<PriceRow, 'price_source' | 'price_vendor' | 'price_date'> {
  if (typeof source === 'object') return { price_source: 'public', price_vendor: source.vendor, price_date: source.date }
  return { price_source: source ?? '', price_vendor: '', price_date: '' }
}

/** When the price applies, and the other prices: one for each later day, and one for each of the other hours of this day. */
function timesOf(price: ModelPrice | undefined): Pick<PriceRow, 'price_from' | 'price_hours' | 'later'> {
  const { from = '', hours = '' } = price?.window ?? {}
  const later = new Map<string, PriceRow['later'][number]>()
  for (const { price: next } of price?.later ?? []) {
    const window = next.window ?? { from: '', hours: '' }
    const when = { from: window.from === from ? '' : window.from, hours: window.hours }
    const key = `${when.from} ${when.hours}`
    if ((when.from === '' && when.hours === hours) || later.has(key)) continue
    later.set(key, { ...when, ...stepFigures(next), create_cache_ratio: next.createCacheRatio })
  }
  return { price_from: from, price_hours: hours, later: [...later.values()] }
}

function stepFigures({ modelRatio, completionRatio, cacheRatio }: PriceFactors) {
  return { model_ratio: modelRatio, completion_ratio: completionRatio, cache_ratio: cacheRatio }
}

/** In self-use mode models without a price are charged at the fallback. */
const unpriced: PriceFigures = {
  quota_type: 0,
  model_ratio: fallbackModelRatio,
  model_price: 0,
  completion_ratio: 1,
  cache_ratio: 1,
  create_cache_ratio: 1,
  audio_ratio: 1,
  audio_completion_ratio: 1,
  image_ratio: 1,
  image_completion_ratio: 1,
  audio_cache_ratio: 1,
  image_cache_ratio: 1,
  video_completion_ratio: 1,
}
