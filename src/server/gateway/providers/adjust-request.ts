import type { Quirks } from '../protocols/codec.ts'
import type { Format } from '../protocols/format.ts'
import { quirksWithFamily } from '../protocols/model-families.ts'
import type { JsonObject } from '../protocols/wire-format.ts'
import { adjustHistory } from './adjust-history.ts'
import { type MessagesTarget, withoutRefused } from './messages-body.ts'
import { messagesHostOf } from './messages-hosts.ts'
import type { CallerHeaders, Provider, Upstream } from './provider.ts'

/** A channel as its requests depend on it. */
interface Serving extends Pick<Upstream, 'type' | 'baseUrl' | 'setting'> {
  readonly provider: Pick<Provider, 'quirks' | 'adjustBody'>
}

interface Ready {
  readonly body: JsonObject
  readonly format: Format
  /** As the upstream names it. */
  readonly model: string
  readonly caller?: CallerHeaders
  /** Reports members that the host refuses. */
  readonly lose?: (name: string) => void
}

/**
 * The top-level members of a request to set or (undefined) to remove, native or translated: what its host refuses, what the provider
 * requires, and what the family of the model requires on any host.
 */
export function adjustRequest(channel: Serving, { body, format, model, caller, lose }: Ready): Record<string, unknown> {
  const hosted = format === 'anthropic.messages' ? withoutRefused(body, messagesTarget(channel, model, caller)) : undefined
  for (const name of hosted?.dropped ?? []) lose?.(name)
  const accepted = hosted ? { ...body, ...hosted.changes } : body
  const changes = { ...hosted?.changes, ...channel.provider.adjustBody?.(accepted, format, model, caller) }
  if (format !== 'openai.chat') return changes
  return { ...changes, ...adjustHistory({ ...body, ...changes }, quirksFor(channel, model)) }
}

/** The quirks of a channel for one of its models. */
export function quirksFor({ provider, baseUrl, setting }: Serving, model: string): Quirks {
  return quirksWithFamily(provider.quirks, { model, address: baseUrl, switches: setting.model_rules })
}

/** The host of a Messages request. */
export function messagesTarget(channel: Serving, model: string, caller: CallerHeaders | undefined): MessagesTarget {
  return { host: messagesHostOf(channel), model, betas: caller?.['anthropic-beta'] }
}
