import type { DirectConversion } from '../../protocols/direct/conversion.ts'
import type { ChannelFormat, Format } from '../../protocols/format.ts'
import { conversations, directConversions, formats, isCallerFormat } from '../../protocols/index.ts'
import type { JsonObject } from '../../protocols/wire-format.ts'
import type { Provider, Upstream } from '../../providers/provider.ts'

/**
 * The format of requests to a channel: the caller's own if the provider supports it, so that nothing is rewritten; otherwise the
 * first one that it can be translated to. Undefined when there is none. Pure. Without `body`, the result only tells whether there
 * is one.
 */
export function upstreamFormat(
  { provider }: { readonly provider: Provider },
  asked: { readonly format: ChannelFormat; readonly model: string; readonly body?: JsonObject },
): Format | undefined {
  const { format, model, body } = asked
  if (format === 'video') return provider.videos && (provider.videos.serves?.(model) ?? true) ? format : undefined
  if (formats[format].isTask) return provider.tasks === format ? format : undefined
  const wished = body && isCallerFormat(format) ? provider.prefers?.(format, model, body) : undefined
  if (wished !== undefined && (isTranslatable(format, wished) || conversionOf(format, wished))) return wished
  if (speaks(provider, format, model)) return format
  const other = conversations.find((each) => speaks(provider, each, model) && isTranslatable(format, each))
  return (
    other ?? directConversions.find((each) => each.from === format && fits(each, body) && speaks(provider, each.to, model))?.to
  )
}

/** The conversion of a call that is not a conversation to another format. */
export function conversionOf(from: ChannelFormat, to: Format): DirectConversion | undefined {
  return directConversions.find((each) => each.from === from && each.to === to)
}

function fits({ fits }: DirectConversion, body: JsonObject | undefined): boolean {
  return body === undefined || (fits?.(body) ?? true)
}

/** Whether a channel's settings require answers to be rewritten, even in the caller's own format. */
export function isRewritten({ setting }: Pick<Upstream, 'setting'>, format: Format): boolean {
  return formats[format].isRewritable === true && (setting.force_format === true || setting.thinking_to_content === true)
}

function speaks(provider: Provider, format: Format, model: string): boolean {
  return provider.speaks[format] !== undefined && (provider.speaksWith?.(format, model) ?? true)
}

function isTranslatable(from: ChannelFormat, to: Format): boolean {
  return formats[from].inbound !== undefined && formats[to].codec !== undefined
}
