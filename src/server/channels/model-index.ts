import { channelStatus } from '../../contract/entities/channel-status.ts'
import type { Row } from '../db/schema.ts'
import type { UpstreamAgents } from '../lib/http-client.ts'
import { background } from '../lib/logger.ts'
import { Snapshot } from '../lib/snapshot.ts'
import type { Core } from '../options/core.ts'
import { checkProviders, providerById } from '../providers/index.ts'
import type { Provider, Upstream } from '../providers/provider.ts'
import { openKey } from './keys.ts'
import { readModelMapping, readNames, readSetting, readStatusCodeMapping } from './values.ts'

/** A channel as the relay uses it: read from the snapshot without I/O, with its key opened. */
export interface RunningChannel extends Upstream {
  readonly name: string
  readonly provider: Provider
  readonly models: ReadonlySet<string>
  readonly groups: ReadonlySet<string>
  /** Each redirected model and the one that goes upstream. */
  readonly modelMapping: ReadonlyMap<string, string>
  /** Statuses that this channel's answers are turned into, before retry is decided. */
  readonly statusCodeMapping: ReadonlyMap<number, number>
  readonly priority: number
  readonly weight: number
  readonly autoBan: boolean
  readonly tag: string
  readonly testModel: string
  /** Prompts estimated longer than this go elsewhere; 0 for no limit. */
  readonly maxInputTokens: number
  /** The key as it is stored: tells whether it was replaced since. */
  readonly keySealed: string
}

/** All enabled channels, arranged for selection. Built anew on every change. */
export interface ChannelIndex {
  /** Enabled channels by id. */
  readonly byId: ReadonlyMap<number, RunningChannel>
  /** Enabled channels that serve a model to a group, highest priority first, one array per priority. */
  candidates(group: string, model: string): readonly (readonly RunningChannel[])[]
  /** Names of the models that a group can use, sorted. */
  modelsOf(group: string): readonly string[]
}

/**
 * The enabled channels in memory: loaded, and loaded anew whenever a channel changes on any node. Connections of channels that are
 * gone, or that go elsewhere or with another key, are dropped.
 */
export async function openChannels(core: Core, upstream: UpstreamAgents): Promise<Snapshot<ChannelIndex>> {
  checkProviders()
  let last = indexChannels([])
  const channels = new Snapshot(async () => {
    const index = await loadChannels(core)
    for (const channel of last.byId.values()) if (!isSameWay(channel, index.byId.get(channel.id))) upstream.forget(channel.id)
    last = index
    return index
  })
  core.bus.on('channels', () => background(core.logger, 'reload of the channels', channels.refresh()))
  await channels.refresh()
  return channels
}

/** Reads all enabled channels. One that cannot be used is left out with an error in the log, and never stops the others. */
export async function loadChannels(core: Core): Promise<ChannelIndex> {
  const rows = await core.db.selectFrom('channels').selectAll().where('status', '=', channelStatus.enabled).execute()
  return indexChannels(rows.flatMap((row) => readUsable(core, row)))
}

function readUsable(core: Core, row: Row<'channels'>): RunningChannel[] {
  try {
    return [readChannel(core, row)]
  } catch (error) {
    core.logger.error({ error, channel: row.id, name: row.name }, 'a channel cannot be used: its row is broken')
    return []
  }
}

/** A row with everything in it opened and parsed. Throws when something in it is broken. */
export function readChannel(core: Core, row: Row<'channels'>): RunningChannel {
  const provider = providerById(row.type)
  if (!provider) throw new Error(`Unknown channel type ${row.type}`)

  const upstream: Upstream = {
    id: row.id,
    type: row.type,
    key: openKey(core, row),
    baseUrl: row.base_url || provider.baseUrl,
    organization: row.openai_organization,
    other: row.other,
    setting: readSetting(row.setting),
  }
  return {
    ...upstream,
    name: row.name,
    provider: provider.forChannel?.(upstream) ?? provider,
    keySealed: row.key_sealed,
    models: new Set(readNames(row.models)),
    groups: new Set(readNames(row.group)),
    modelMapping: readModelMapping(row.model_mapping),
    statusCodeMapping: readStatusCodeMapping(row.status_code_mapping),
    priority: row.priority,
    weight: row.weight,
    autoBan: row.auto_ban === 1,
    tag: row.tag,
    testModel: row.test_model,
    maxInputTokens: row.max_input_tokens,
  }
}

type Tiers = RunningChannel[][]

/** Arranges channels by group, model and priority. Pure. */
export function indexChannels(channels: readonly RunningChannel[]): ChannelIndex {
  const groups = new Map<string, Map<string, Tiers>>()
  for (const channel of channels.toSorted((a, b) => b.priority - a.priority || a.id - b.id)) {
    for (const group of channel.groups) {
      const models = entry(groups, group, () => new Map<string, Tiers>())
      for (const model of channel.models)
        place(
          entry(models, model, () => []),
          channel,
        )
    }
  }

  return {
    byId: new Map(channels.map((channel) => [channel.id, channel])),
    candidates: (group, model) => groups.get(group)?.get(model) ?? [],
    modelsOf: (group) => [...(groups.get(group)?.keys() ?? [])].sort(),
  }
}

/** Channels come highest priority first. */
function place(tiers: Tiers, channel: RunningChannel): void {
  const last = tiers.at(-1)
  if (last?.[0]?.priority === channel.priority) last.push(channel)
  else tiers.push([channel])
}

function entry<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value {
  const found = map.get(key)
  if (found !== undefined) return found
  const made = make()
  map.set(key, made)
  return made
}

function isSameWay(before: RunningChannel, after: RunningChannel | undefined): boolean {
  return after?.keySealed === before.keySealed && after.baseUrl === before.baseUrl && after.setting.proxy === before.setting.proxy
}
