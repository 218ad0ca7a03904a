import type { Snapshot } from '../../../base/lib/collections/snapshot.ts'
import { addGauge, type Metrics } from '../../../base/lib/process/metrics.ts'
import type { ChannelIndex, RunningChannel } from '../index/model-index.ts'
import type { Traffic } from '../select/traffic.ts'

/** Enabled channels for `/metrics`: their names, their running requests, their keys, and those whose breaker is not closed. */
export function addChannelMetrics(metrics: Metrics, channels: Snapshot<ChannelIndex>, traffic: Traffic): void {
  const labelNames = ['channel']
  const each =
    <Value>(read: (channel: RunningChannel) => Value) =>
    () =>
      Array.from(channels.current.byId.values(), (channel): [{ channel: string }, Value] => [
        { channel: String(channel.id) },
        read(channel),
      ])

  addGauge(
    metrics,
    { name: 'sluice_channel_info', help: 'Names of enabled channels', labelNames: ['channel', 'name'], merge: 'max' },
    () => Array.from(channels.current.byId.values(), ({ id, name }) => [{ channel: String(id), name }, 1]),
  )
  addGauge(
    metrics,
    { name: 'sluice_channel_running', help: 'Requests in progress on a channel', labelNames, merge: 'sum' },
    each((channel) => traffic.running(channel)),
  )
  addGauge(
    metrics,
    { name: 'sluice_channel_keys', help: 'Keys of an enabled channel', labelNames, merge: 'max' },
    each(({ id }) => channels.current.keysOf(id).length),
  )
  addGauge(
    metrics,
    {
      name: 'sluice_channel_breakers_open',
      help: 'Keys of a channel whose circuit breaker is not closed',
      labelNames,
      merge: 'max',
    },
    each(({ id }) => channels.current.keysOf(id).filter((key) => traffic.breaker(key) !== 'closed').length),
  )
}
