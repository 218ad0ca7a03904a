import type { ChannelType } from '../../../../contract/entities/channel.ts'
import type { Model } from '../../../../contract/entities/model.ts'
import { builtInModels, providers } from '../../providers/index.ts'
import type { Provider } from '../../providers/provider.ts'

/** Facts about providers for the console. */
export function listChannelTypes(): ChannelType[] {
  return providers.map(presentType)
}

/** The conventional `created` time of every built-in model. */
const created = 1_626_777_600

export function listBuiltInModels(): Model[] {
  return [...builtInModels()].map(([id, { key }]) => ({ id, object: 'model', created, owned_by: key }))
}

/** Built-in models by channel type; types without their own list are left out. */
export function builtInModelsByType(): Record<string, string[]> {
  return Object.fromEntries(providers.filter(({ models }) => models.length > 0).map(({ id, models }) => [id, [...models]]))
}

function presentType(provider: Provider): ChannelType {
  return {
    id: provider.id,
    key: provider.key,
    label: provider.label,
    color: provider.color,
    base_url: provider.baseUrl,
    needs_base_url: provider.needsBaseUrl,
    models: [...provider.models],
    newest: [...(provider.newest ?? provider.models)],
    offered: provider.offered,
    testable: provider.testable,
    lists_models: provider.modelsPath !== null,
    tells_balance: provider.balance !== undefined,
    key_format: provider.keyFormat,
    key_has_lines: provider.keyHasLines,
    other_label: provider.otherLabel,
    other_default: provider.otherDefault,
    docs: provider.docs,
  }
}
