import { channelStatus } from '../../contract/entities/channel.ts'
import type { Row } from '../db/schema.ts'
import type { Core } from '../options/core.ts'
import { providerById } from '../providers/index.ts'
import { findRow } from './find-channels.ts'
import type { ChannelIndex, RunningChannel } from './index-of-channels.ts'
import { openKey } from './keys.ts'
import { readModelMapping, readNames, readSetting, readStatusCodeMapping } from './values.ts'

/** Reads all enabled channels. One that cannot be used is left out with an error in the log, and never stops the others. */
export async function loadChannels(core: Core): Promise<ChannelIndex> {
  const rows = await core.db.selectFrom('channels').selectAll().where('status', '=', channelStatus.enabled).execute()
  return indexChannels(rows.flatMap((row) => readUsable(core, row)))
}

function readUsable(core: Core, row: Row<'channels'>): RunningChannel[] {
  try {
    return [openChannel(core, row)]
  } catch (error) {
    core.logger.error({ error, channel: row.id, name: row.name }, 'a channel cannot be used: its row is broken')
    return []
  }
}

/** One channel, enabled or not, as it is stored now. Throws `not_found`, and an error when something in its row is broken. */
export async function readChannel(core: Core, id: number): Promise<RunningChannel> {
  return openChannel(core, await findRow(core.db, id))
}

/** A row with everything in it opened and parsed. Throws when something in it is broken. */
function openChannel(core: Core, row: Row<'channels'>): RunningChannel {
  const provider = providerById(row.type)
  if (!provider) throw new Error(`Unknown channel type ${row.type}`)

  return {
    id: row.id,
    type: row.type,
    name: row.name,
    provider,
    key: openKey(core, row),
    keySealed: row.key_sealed,
    baseUrl: row.base_url || provider.baseUrl,
    organization: row.openai_organization,
    other: row.other,
    setting: readSetting(row.setting),
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
