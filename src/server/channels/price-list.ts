import type { PriceRow } from '../../contract/routes/pricing.ts'
import type { Snapshot } from '../lib/snapshot.ts'
import type { Core } from '../options/core.ts'
import { type Catalog, fallbackModelRatio } from '../pricing/catalog.ts'
import { listedModels } from './listed-models.ts'
import type { ChannelIndex } from './model-index.ts'

type Parts = Pick<Core, 'options'> & { readonly channels: Snapshot<ChannelIndex>; readonly catalog: Catalog }

/**
 * What every model that some channel serves costs before the factor of a group. `enable_groups` names those of the reader's groups that
 * have it; groups of others are not named. Models without a price are left out, as they are refused.
 */
export function readPriceList(parts: Parts, groups: readonly string[]): PriceRow[] {
  const { options, catalog } = parts
  const own = new Map(groups.map((group) => [group, new Set(listedModels(parts, [group]))]))
  const all = Object.keys(options.current.GroupRatio)

  return listedModels(parts, [...new Set([...all, ...groups])]).flatMap((model) => {
    const price = catalog.modelPriceOf(model)
    if (!price && !options.current.SelfUseModeEnabled) return []
    const isPerCall = price !== undefined && price.fixedUsd >= 0
    return {
      model_name: model,
      quota_type: isPerCall ? 1 : 0,
      model_ratio: isPerCall ? 0 : (price?.modelRatio ?? fallbackModelRatio),
      model_price: isPerCall ? price.fixedUsd : 0,
      owner_by: '',
      completion_ratio: price?.completionRatio ?? 1,
      cache_ratio: price?.cacheRatio ?? 1,
      create_cache_ratio: price?.createCacheRatio ?? 1,
      audio_ratio: price?.audioRatio ?? 1,
      audio_completion_ratio: price?.audioCompletionRatio ?? 1,
      image_ratio: price?.imageRatio ?? 1,
      image_completion_ratio: price?.imageCompletionRatio ?? 1,
      enable_groups: groups.filter((group) => own.get(group)?.has(model)),
    }
  })
}
