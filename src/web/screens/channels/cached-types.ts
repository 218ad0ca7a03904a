import type { ChannelType } from '../../../contract/entities/channel.ts'
import { isJsonObject } from '../../lib/json.ts'
import { storedJson } from '../../lib/stored.ts'

/** The channel types with the models of each, stored under the key that programs of this family use. */
export const cachedTypes = storedJson<readonly ChannelType[]>('channel_models', [], areTypes)

/** Another version may have stored them in another shape. */
export function areTypes(value: unknown): value is readonly ChannelType[] {
  return Array.isArray(value) && value.every(isType)
}

function isType(value: unknown): boolean {
  if (!isJsonObject(value)) return false
  const { id, key, color, base_url, models, label, key_format, other_label, other_default } = value
  return (
    typeof id === 'number' &&
    [key, color, base_url, other_default].every((text) => typeof text === 'string') &&
    Array.isArray(models) &&
    models.every((model) => typeof model === 'string') &&
    [label, key_format, other_label ?? label].every(isInBothLanguages)
  )
}

function isInBothLanguages(value: unknown): boolean {
  return isJsonObject(value) && typeof value.zh === 'string' && typeof value.en === 'string'
}
