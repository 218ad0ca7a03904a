import type { RunningChannel } from '../channels/model-index.ts'
import { resolveModel } from '../channels/select.ts'
import { spliceMembers } from '../lib/splice-json.ts'
import type { Format } from '../protocols/format.ts'
import type { Limits, Target } from './exchange.ts'
import type { RelayParts, Work } from './relay-parts.ts'

/** What is sent to a channel: the caller's bytes with only those top-level members changed that must be. */
export function prepare(
  app: RelayParts,
  work: Work,
  channel: RunningChannel,
): { target: Target; upstreamModel: string; hidesUsage: boolean } {
  const { format, facts, call } = work
  const { provider } = channel
  const mapped = resolveModel(channel, facts.model)
  const asksUsage = facts.stream && provider.streamOptions && !facts.wantsUsage && format.dialect === 'openai'

  const { model, ...adjusted } = provider.adjustBody?.(work.body.json, format.format, mapped) ?? {}
  const upstreamModel = typeof model === 'string' ? model : mapped
  const url = urlFor(channel, format.format, upstreamModel, facts.stream)

  const changes: Record<string, string | undefined> = {}
  if (upstreamModel !== facts.model) changes.model = JSON.stringify(upstreamModel)
  if (asksUsage) changes.stream_options = JSON.stringify({ ...facts.streamOptions, include_usage: true })
  if (!provider.streamOptions && facts.streamOptions) changes.stream_options = undefined
  for (const [key, value] of Object.entries(adjusted)) changes[key] = value === undefined ? undefined : JSON.stringify(value)

  return {
    upstreamModel,
    hidesUsage: asksUsage,
    target: {
      dispatcher: app.upstream.for({
        id: channel.id,
        origin: url.origin,
        proxy: channel.setting.proxy ?? '',
        connectTimeoutMs: channel.setting.connect_timeout_ms ?? defaults.connectMs,
      }),
      url,
      headers: {
        ...provider.headers(channel, format.format, call.request.headers as Record<string, string | undefined>),
        'content-type': 'application/json',
        accept: facts.stream ? 'text/event-stream' : 'application/json',
        'accept-encoding': 'identity',
        'user-agent': 'sluice',
      },
      body: Object.keys(changes).length === 0 ? work.body.bytes : spliceMembers(work.body.bytes, changes),
      limits: limitsOf(channel),
      statusCodeMapping: channel.statusCodeMapping,
    },
  }
}

/** URLs are the same for every request of a channel, format and model; a changed channel is a new object. */
const urls = new WeakMap<RunningChannel, Map<string, URL>>()

function urlFor(channel: RunningChannel, format: Format, model: string, stream: boolean): URL {
  const ofChannel = urls.get(channel) ?? new Map<string, URL>()
  const key = `${format} ${stream} ${model}`
  const known = ofChannel.get(key)
  if (known) return known
  const url = new URL(channel.provider.url(channel, format, model, stream))
  urls.set(channel, ofChannel.set(key, url))
  return url
}

function limitsOf({ setting }: RunningChannel): Limits {
  return {
    headersMs: setting.headers_timeout_ms ?? defaults.headersMs,
    idleMs: setting.idle_timeout_ms ?? defaults.idleMs,
    totalMs: setting.total_timeout_ms ?? defaults.totalMs,
  }
}

/** Whole answers of reasoning models take minutes before their first header; the official SDKs wait ten. */
const defaults = { connectMs: 10_000, headersMs: 600_000, idleMs: 300_000, totalMs: 3_600_000 } as const
