import { startOfDay } from '../../../../contract/model-ends.ts'
import type { Snapshot } from '../../../base/lib/collections/snapshot.ts'
import type { Core } from '../../../base/options/core.ts'
import type { ChannelIndex } from './model-index.ts'

/**
 * The model that an operator has set in the place of one that has ended (`ModelReplacements`), from the day of its end on; undefined
 * before, and for all other models. A replacement is not replaced again.
 */
export function replacementOf(
  { channels, now, options }: Pick<Core, 'now' | 'options'> & { readonly channels: Snapshot<ChannelIndex> },
  model: string,
): string | undefined {
  const { ModelReplacements } = options.current
  const set = Object.hasOwn(ModelReplacements, model) ? ModelReplacements[model] : undefined
  if (set === undefined) return undefined
  const [name, day = channels.current.endOf(model)?.date] = set.split(' ')
  return name !== undefined && day !== undefined && now() >= startOfDay(day) ? name : undefined
}
