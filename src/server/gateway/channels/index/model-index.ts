import { channelStatus } from '../../../../contract/entities/channel-status.ts'
import { type ModelEnd, redirectOf } from '../../../../contract/model-ends.ts'
import type { Row } from '../../../base/db/schema.ts'
import { readSnapshot } from '../../../base/db/snapshot-read.ts'
import { Snapshot } from '../../../base/lib/collections/snapshot.ts'
import type { UpstreamAgents } from '../../../base/lib/net/http-client.ts'
import type { Core } from '../../../base/options/core.ts'
import { checkProviders, providerById } from '../../providers/index.ts'
import { withoutCallPath } from '../../providers/pasted-address.ts'
import type { Provider, Upstream } from '../../providers/provider.ts'
import { siteIdFor } from '../request/site-hops.ts'
import { openKey } from '../row/keys.ts'
import { isPattern, matchesName } from '../row/match-name.ts'
import { readMissingEndpoints, withoutEndpoints } from '../row/missing-endpoints.ts'
import { lastEnd, readEnds } from '../row/model-ends.ts'
import { type PromptPolicy, promptPolicyOf, readPromptAdditions } from '../row/prompt-additions.ts'
import { readModelMapping, readNames, readSetting, readStatusCodeMapping } from '../row/read-columns.ts'
import { findRow } from '../row/rows.ts'

/**
 * A channel with one of its keys, as the relay uses it: read from the snapshot without I/O, with the key decrypted. A channel with
 * several usable keys occurs once for each of them.
 */
export interface RunningChannel extends Upstream {
  readonly keyId: number
  readonly name: string
  readonly provider: Provider
  /** Names, and patterns of names with `*`. */
  readonly models: ReadonlySet<string>
  readonly groups: ReadonlySet<string>
  /** The upstream model of each mapped model. */
  readonly modelMapping: ReadonlyMap<string, string>
  /** Replacements for status codes of this channel's answers, applied before the decision about failover. */
  readonly statusCodeMapping: ReadonlyMap<number, number>
  readonly priority: number
  readonly weight: number
  readonly autoBan: boolean
  readonly tag: string
  readonly testModel: string
  /** The channel is excluded for prompts that are estimated longer; 0 for no limit. */
  readonly maxInputTokens: number
  /** The encrypted key, to detect that it was replaced. */
  readonly keySealed: string
  /** The site id that calls to it carry; '' when its address is a vendor's. */
  readonly siteId: string
  readonly promptPolicy: PromptPolicy
  /** Tokens that it was found to add to the prompts of a model, by the upstream's name. */
  readonly promptAdditions: ReadonlyMap<string, number>
  /** The ends that the upstream's list of models tells, by the upstream's name; empty for a channel that is not in use. */
  readonly modelEnds: ReadonlyMap<string, ModelEnd>
}

/**
 * All enabled channels, indexed for selection. Rebuilt on every change. This folder is which channels and models there are; which of them
 * answers a request is decided in `select`.
 */
export interface ChannelIndex {
  /** Enabled channels by id, each with its first key. */
  readonly byId: ReadonlyMap<number, RunningChannel>
  /** Ids of existing channels that serve no requests: they are disabled, or their row is broken. */
  readonly outOfService: ReadonlySet<number>
  /** The usable keys of a channel, each as a channel with that key. */
  keysOf(channelId: number): readonly RunningChannel[]
  /**
   * Enabled channels that serve a model to a group, each with its first key, highest priority first, one array per priority. Channels
   * that list the name itself precede those with a matching pattern.
   */
  candidates(group: string, model: string): readonly (readonly RunningChannel[])[]
  /** Names of the models that a group can use, sorted; without patterns. */
  modelsOf(group: string): readonly string[]
  /** Whether the group can use models that no channel names. */
  hasPatterns(group: string): boolean
  /** The vendors in the public price data (`Provider.priceVendor`) of the channels that serve a model to any group, each once. */
  vendorsOf(model: string): readonly string[]
  /** When the model ends on this site, with the last of its channels; undefined while no end is known. */
  endOf(model: string): ModelEnd | undefined
}

/**
 * The enabled channels in memory, reloaded whenever a channel changes on any node. Connections of removed channels, and of those whose
 * address or key changed, are closed.
 */
export async function openChannels(core: Core, upstream: Pick<UpstreamAgents, 'forget'>): Promise<Snapshot<ChannelIndex>> {
  checkProviders()
  let last = indexChannels([])
  const channels = new Snapshot(async () => {
    const index = await loadChannels(core, last)
    for (const id of last.byId.keys()) if (!isSameWay(last.keysOf(id), index.keysOf(id))) upstream.forget(id)
    last = index
    return index
  })
  core.bus.on('channels', () => channels.follow((error) => core.logger.error({ error }, 'the channels are not read yet')))
  await channels.refresh()
  return channels
}

/**
 * Reads all enabled channels, each with the keys that it has at that moment, so that no key is sent to an earlier or later address of
 * its channel. Unusable channels are skipped with an error in the log. Keys that `before` holds are not decrypted again.
 */
export async function loadChannels(core: Core, before = indexChannels([])): Promise<ChannelIndex> {
  const { all, rows, keys, lists } = await readSnapshot(core.database, async (db) => ({
    lists: await db.selectFrom('upstream_models').select(['channel_id', 'ends']).where('ends', '<>', '').execute(),
    all: await db.selectFrom('channels').select('id').execute(),
    rows: await db.selectFrom('channels').selectAll().where('status', '=', channelStatus.enabled).execute(),
    keys: await db.selectFrom('channel_keys').selectAll().where('status', '=', channelStatus.enabled).orderBy('id').execute(),
  }))
  const keysOf = groupBy(keys, ({ channel_id }) => channel_id)
  const endsOf = new Map(lists.map(({ channel_id, ends }) => [channel_id, ends]))
  return indexChannels(
    rows.flatMap((row) => {
      const [keys, ends] = [keysOf.get(row.id) ?? [], endsOf.get(row.id) ?? '']
      return readUsable(core, row, { keys, ends, before: before.keysOf(row.id) })
    }),
    all.map(({ id }) => id),
  )
}

/** A channel that is saved, enabled or not, once for each of its keys. */
export interface SavedChannel {
  readonly row: Row<'channels'>
  /** Enabled keys first, then automatically disabled ones. */
  readonly keys: readonly RunningChannel[]
  /** Ids of the keys that are not in use, with the status of each. */
  readonly idle: ReadonlyMap<number, number>
}

/** Throws `not_found`, or the error of a broken row. */
export async function openChannel(core: Core, id: number): Promise<SavedChannel> {
  const { row, keys } = await readSnapshot(core.database, async (db) => ({
    row: await findRow(db, id),
    keys: await db.selectFrom('channel_keys').selectAll().where('channel_id', '=', id).orderBy('id').execute(),
  }))
  const ordered = [channelStatus.enabled, channelStatus.autoDisabled, channelStatus.disabled].flatMap((wanted) =>
    keys.filter(({ status }) => status === wanted),
  )
  return {
    row,
    keys: ordered.map((key) => readChannel(core, row, key)),
    idle: new Map(keys.filter(({ status }) => status !== channelStatus.enabled).map((key) => [key.id, key.status])),
  }
}

type KeyRow = Pick<Row<'channel_keys'>, 'id' | 'channel_id' | 'key_sealed'>

interface KeysOfRow {
  readonly keys: readonly KeyRow[]
  /** Keys of the channel that are decrypted already. */
  readonly before: readonly RunningChannel[]
  readonly ends: string
}

function readUsable(core: Core, row: Row<'channels'>, { keys, before, ends }: KeysOfRow): RunningChannel[] {
  const unusable = (error: unknown): [] => {
    core.logger.error({ error, channel: row.id, name: row.name }, 'a channel cannot be used: its row or a key is broken')
    return []
  }
  try {
    const channel = { ...readRow(row, core.now()), modelEnds: readEnds(ends) }
    if (keys.length === 0) throw new Error('It has no key')
    const known = new Map(before.map((running) => [running.keyId, running]))
    return keys.flatMap((key) => {
      try {
        return withKey(core, channel, key, known.get(key.id))
      } catch (error) {
        return unusable(error)
      }
    })
  } catch (error) {
    return unusable(error)
  }
}

/** A row with all columns parsed and one of its keys decrypted. Throws when a column or the key is broken. */
function readChannel(core: Core, row: Row<'channels'>, key: KeyRow): RunningChannel {
  return withKey(core, readRow(row, core.now()), key)
}

type ChannelRow = Omit<ReturnType<typeof readRow>, 'modelEnds'> & Pick<RunningChannel, 'modelEnds'>

function readRow(row: Row<'channels'>, nowMs: number) {
  const provider = providerById(row.type)
  if (!provider) throw new Error(`Unknown channel type ${row.type}`)

  const baseUrl = withoutCallPath(provider, row.base_url) || provider.baseUrl
  const setting = readSetting(row.setting)
  return {
    id: row.id,
    type: row.type,
    name: row.name,
    provider,
    baseUrl,
    organization: row.openai_organization,
    other: row.other,
    setting,
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
    lacking: readMissingEndpoints(row.lacking, nowMs).map(({ endpoint }) => endpoint),
    promptPolicy: promptPolicyOf({ provider, baseUrl, setting }),
    promptAdditions: readPromptAdditions(row.prompt_additions),
    modelEnds: noEnds,
  }
}

const noEnds: ReadonlyMap<string, ModelEnd> = new Map()

function withKey(core: Core, channel: ChannelRow, row: KeyRow, before?: RunningChannel): RunningChannel {
  const siteId = siteIdFor(core, channel.baseUrl)
  const { lacking, ...shared } = channel
  const key = before?.keySealed === row.key_sealed ? before.key : openKey(core, row)
  const keyed = { ...shared, siteId, key, keyId: row.id, keySealed: row.key_sealed }
  const provider = channel.provider.forChannel?.(keyed) ?? channel.provider
  return { ...keyed, provider: withoutEndpoints(provider, [...lacking, ...(channel.setting.lacks_endpoints ?? [])]) }
}

type Tiers = RunningChannel[][]

/** Arranges channels by group, model and priority; `ids` are those of all existing channels. Pure. */
export function indexChannels(channels: readonly RunningChannel[], ids: readonly number[] = []): ChannelIndex {
  const keys = groupBy(channels, ({ id }) => id)
  const firsts = [...keys.values()].flatMap(([first]) => first ?? [])
  const groups = new Map<string, Served>()
  for (const channel of firsts.toSorted((a, b) => b.priority - a.priority || a.id - b.id)) {
    for (const group of channel.groups) {
      const served = entry(groups, group, () => ({ named: new Map(), patterns: [], found: new Map() }))
      for (const model of channel.models) {
        if (isPattern(model)) served.patterns.push({ pattern: model, channel })
        else
          place(
            entry(served.named, model, () => []),
            channel,
          )
      }
    }
  }

  return {
    byId: new Map(firsts.map((channel) => [channel.id, channel])),
    outOfService: new Set(ids.filter((id) => !keys.has(id))),
    keysOf: (channelId) => keys.get(channelId) ?? [],
    candidates: (group, model) => candidatesOf(groups.get(group), model),
    modelsOf: (group) => [...(groups.get(group)?.named.keys() ?? [])].sort(),
    hasPatterns: (group) => (groups.get(group)?.patterns.length ?? 0) > 0,
    vendorsOf: vendorsAmong(firsts),
    endOf: endsAmong(firsts),
  }
}

function vendorsAmong(channels: readonly RunningChannel[]): ChannelIndex['vendorsOf'] {
  const named = new Map<string, Set<string>>()
  for (const { provider, models } of channels) {
    const { priceVendor } = provider
    if (priceVendor === undefined) continue
    for (const model of models) {
      entry(named, model, () => new Set()).add(priceVendor)
      // A vendor may answer a model by another one, at the price of that one.
      const { answeredBy } = redirectOf(model) ?? {}
      if (answeredBy !== undefined) entry(named, answeredBy, () => new Set()).add(priceVendor)
    }
  }
  const patterns = [...named].filter(([name]) => isPattern(name))
  return (model) => {
    const fitting = patterns.flatMap(([pattern, vendors]) => (matchesName(pattern, model) ? [...vendors] : []))
    return [...new Set([...(named.get(model) ?? []), ...fitting])]
  }
}

/** Made-up names of callers beyond this number are looked up again. */
const endsKeptMax = 10_000

function endsAmong(channels: readonly RunningChannel[]): ChannelIndex['endOf'] {
  const known = new Map<string, ModelEnd | undefined>()
  const patterned = channels.map((channel) => ({ channel, patterns: [...channel.models].filter(isPattern) }))
  return (model) => {
    if (known.has(model)) return known.get(model)
    const serving = patterned.filter(
      ({ channel, patterns }) => channel.models.has(model) || patterns.some((name) => matchesName(name, model)),
    )
    const end = lastEnd(
      serving.map(({ channel }) => channel),
      model,
    )
    if (known.size < endsKeptMax) known.set(model, end)
    return end
  }
}

/** The channels that a group can use. */
interface Served {
  readonly named: Map<string, Tiers>
  /** Highest priority first. */
  readonly patterns: { readonly pattern: string; readonly channel: RunningChannel }[]
  /** Cache of lookups by name, patterns included. Callers can make up names, so it is emptied when it is full. */
  readonly found: Map<string, Tiers>
}

const foundMax = 1000

function candidatesOf(served: Served | undefined, model: string): Tiers {
  if (!served) return []
  const named = served.named.get(model) ?? []
  if (served.patterns.length === 0) return named
  const known = served.found.get(model)
  if (known) return known

  const fitting: Tiers = []
  const placed = new Set(named.flat())
  for (const { pattern, channel } of served.patterns) {
    if (placed.has(channel) || !matchesName(pattern, model)) continue
    placed.add(channel)
    place(fitting, channel)
  }
  if (served.found.size >= foundMax) served.found.clear()
  const found = [...named, ...fitting]
  served.found.set(model, found)
  return found
}

/** Must be called with channels of highest priority first. */
function place(tiers: Tiers, channel: RunningChannel): void {
  const last = tiers.at(-1)
  if (last?.[0]?.priority === channel.priority) last.push(channel)
  else tiers.push([channel])
}

function groupBy<Key, Value>(values: readonly Value[], keyOf: (value: Value) => Key): Map<Key, Value[]> {
  const groups = new Map<Key, Value[]>()
  for (const value of values) entry(groups, keyOf(value), () => []).push(value)
  return groups
}

function entry<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value {
  const found = map.get(key)
  if (found !== undefined) return found
  const made = make()
  map.set(key, made)
  return made
}

/** Whether a channel still has the same address and proxy, and its remaining keys the same values. */
function isSameWay(before: readonly RunningChannel[], after: readonly RunningChannel[]): boolean {
  const [now] = after
  return before.every((old) => {
    const same = after.find(({ keyId }) => keyId === old.keyId)?.keySealed ?? old.keySealed
    return same === old.keySealed && now?.baseUrl === old.baseUrl && now.setting.proxy === old.setting.proxy
  })
}
