import { channelStatus } from '../../../../contract/entities/channel-status.ts'
import type { OptionValues } from '../../../../contract/options/index.ts'
import type { Snapshot } from '../../../base/lib/collections/snapshot.ts'
import type { Core } from '../../../base/options/core.ts'
import { isPattern, matchesName } from '../row/match-name.ts'
import { readNames } from '../row/read-columns.ts'
import type { ChannelIndex } from './model-index.ts'

/**
 * The models listed to a caller of these groups, sorted: models that a channel names, and those with a price that match a pattern.
 */
export function listedModels(
  { channels, options }: Pick<Core, 'options'> & { readonly channels: Snapshot<ChannelIndex> },
  groups: readonly string[],
): string[] {
  const index = channels.current
  const open = groups.filter((group) => index.hasPatterns(group))
  const priced = open.length === 0 ? [] : pricedNames(options.current)
  const fitting = priced.filter((name) => open.some((group) => index.candidates(group, name).length > 0))
  return [...new Set([...groups.flatMap((group) => index.modelsOf(group)), ...fitting])].sort()
}

/** Models that an enabled channel serves, sorted: named models, and those with a price that match a pattern. */
export async function enabledModels(core: Core): Promise<string[]> {
  const rows = await core.db
    .selectFrom('channels')
    .select('models')
    .distinct()
    .where('status', '=', channelStatus.enabled)
    .execute()
  const listed = rows.flatMap(({ models }) => readNames(models))
  const patterns = listed.filter(isPattern)
  const fitting = pricedNames(core.options.current).filter((name) => patterns.some((pattern) => matchesName(pattern, name)))
  return [...new Set([...listed.filter((name) => !isPattern(name)), ...fitting])].sort()
}

/** Like `enabledModels`, with one entry for every vendor whose price may be charged for a model. */
export async function servedModels(
  core: Core & { readonly channels: Snapshot<ChannelIndex> },
): Promise<{ readonly vendor: string; readonly model: string }[]> {
  const models = await enabledModels(core)
  return models.flatMap((model) => core.channels.current.vendorsOf(model).map((vendor) => ({ vendor, model })))
}

/** Names of models that have a price, without patterns. */
export function pricedNames({ ModelRatio, ModelPrice }: Pick<OptionValues, 'ModelRatio' | 'ModelPrice'>): string[] {
  return [...new Set([...Object.keys(ModelRatio), ...Object.keys(ModelPrice)])].filter((name) => !isPattern(name))
}
