import { z } from 'zod'
import type { ModelChanges } from '../../../../contract/entities/channel.ts'
import type { Within } from '../../../base/db/open.ts'
import type { Row } from '../../../base/db/schema.ts'
import { fail } from '../../../base/lib/failure.ts'
import type { UpstreamAgents } from '../../../base/lib/net/http-client.ts'
import { seconds } from '../../../base/lib/time/clock.ts'
import { change } from '../../../base/options/change.ts'
import type { Caller, Core } from '../../../base/options/core.ts'
import { recordEvent } from '../../../usage/log/record-event.ts'
import { isPattern } from '../row/match-name.ts'
import { readEnds } from '../row/model-ends.ts'
import { readModelMapping, readNames } from '../row/read-columns.ts'
import { lockChannel } from '../row/rows.ts'
import { type ListedModel, readModelsOfChannel } from './upstream-models.ts'

/**
 * Changes of upstreams' model lists, stored until an admin applies or dismisses them. This file owns the table `upstream_models`.
 * Nothing is applied automatically: a list may be wrong for an hour.
 */
interface Noticed {
  readonly added: readonly string[]
  readonly removed: readonly string[]
}

/**
 * Reads a channel's model list from its upstream and stores the changes. Returns the open changes. Throws `not_found`,
 * `channel_list_unsupported` or `channel_list_failed`.
 */
export async function checkModels(core: Core & { readonly upstream: UpstreamAgents }, channelId: number): Promise<Noticed> {
  const listed = await readModelsOfChannel(core, { id: channelId })
  const now = listed.map(({ name }) => name)
  const ends = endsText(listed)
  return change(core, undefined, async (within, report) => {
    const channel = await lockChannel(core, within, channelId)
    const row = await within.selectFrom('upstream_models').selectAll().where('channel_id', '=', channelId).executeTakeFirst()
    const noticed = row ? compare(servedBy(channel), { before: names(row.models), now, open: openOf(row) }) : nothing
    const values = {
      models: text(now),
      added: text(noticed.added),
      removed: text(noticed.removed),
      ends,
      checked_at: seconds(core.now()),
    }
    const hasOtherEnds = ends !== (row?.ends ?? '')
    if (hasOtherEnds) await recordEnds(core, within, { channel, listed, before: readEnds(row?.ends ?? '') })
    await within
      .insertInto('upstream_models')
      .values({ channel_id: channelId, ...values })
      .onConflict((conflict) => conflict.column('channel_id').doUpdateSet(values))
      .execute()
    if (hasOtherEnds) report({ topic: 'channels', id: channelId })
    return noticed
  })
}

/** Records an event for each served model whose end is new or another one. */
async function recordEnds(
  core: Core,
  within: Within,
  asked: { channel: Row<'channels'>; listed: readonly ListedModel[]; before: ReturnType<typeof readEnds> },
): Promise<void> {
  const { channel, listed, before } = asked
  const ends = new Map(listed.flatMap(({ name, end }) => (end ? [[name, end]] : [])))
  for (const [model, upstream] of servedBy(channel)) {
    const end = ends.get(upstream)
    if (!end || end.date === before.get(upstream)?.date) continue
    const data = { channel_id: channel.id, channel_name: channel.name, model, upstream_model: upstream, ...end }
    await recordEvent(core, within, 'model.ending', data)
  }
}

/** The column `ends`: the ends of the listed models by name; '' when the list tells none. */
function endsText(listed: readonly ListedModel[]): string {
  const ends = listed.flatMap(({ name, end }) => (end ? [[name, end] as const] : []))
  return ends.length === 0 ? '' : JSON.stringify(Object.fromEntries(ends))
}

/**
 * Added and removed models: against the previous list, together with open changes that still hold. Only models that the upstream did
 * list count as removed: many serve models that they never list. Pure. `served`: each of the channel's models with its upstream name.
 */
export function compare(
  served: ReadonlyMap<string, string>,
  { before, now, open }: { before: readonly string[]; now: readonly string[]; open: Noticed },
): Noticed {
  const [had, has] = [new Set(before), new Set(now)]
  const known = new Set([...served.keys(), ...served.values()])
  const came = now.filter((name) => !had.has(name) || open.added.includes(name))
  const went = [...served].filter(([name, upstream]) => had.has(upstream) || open.removed.includes(name))
  return {
    added: came.filter((name) => !known.has(name)),
    removed: went.filter(([, upstream]) => !has.has(upstream)).map(([name]) => name),
  }
}

/** Channels with open changes, sorted by name. */
export async function listModelChanges(core: Core): Promise<ModelChanges[]> {
  const rows = await core.db
    .selectFrom('upstream_models')
    .innerJoin('channels', 'channels.id', 'upstream_models.channel_id')
    .select(['channel_id', 'name', 'added', 'removed', 'checked_at'])
    .where(({ or, eb }) => or([eb('added', '<>', '[]'), eb('removed', '<>', '[]')]))
    .orderBy('name')
    .orderBy('channel_id')
    .execute()
  return rows.map((row) => ({ ...row, added: names(row.added), removed: names(row.removed) }))
}

interface Act {
  readonly caller: Caller
  readonly channelId: number
}

/**
 * Applies stored changes to the channel's list: the given ones, or all. Models without a stored change are ignored. Throws
 * `not_found`, `nothing_changed` or `channel_models_required`.
 */
export function applyModelChanges(
  core: Core,
  { caller, channelId, add, remove }: Act & { add?: readonly string[] | undefined; remove?: readonly string[] | undefined },
): Promise<void> {
  return change(core, caller, async (within, audit) => {
    const channel = await lockChannel(core, within, channelId)
    const row = await within.selectFrom('upstream_models').selectAll().where('channel_id', '=', channelId).executeTakeFirst()
    const open = row ? openOf(row) : nothing
    const added = open.added.filter((name) => !add || add.includes(name))
    const removed = open.removed.filter((name) => !remove || remove.includes(name))
    if (added.length + removed.length === 0) fail('nothing_changed')

    const models = [...new Set([...readNames(channel.models).filter((name) => !removed.includes(name)), ...added])]
    if (models.length === 0) fail('channel_models_required')
    await within
      .updateTable('channels')
      .set({ models: models.join(',') })
      .where('id', '=', channelId)
      .execute()
    const left = {
      added: text(open.added.filter((name) => !added.includes(name))),
      removed: text(open.removed.filter((name) => !removed.includes(name))),
    }
    await within.updateTable('upstream_models').set(left).where('channel_id', '=', channelId).execute()
    const target = `channel:${channelId}`
    audit({ action: 'channel.models-apply', target, after: { added, removed }, topic: 'channels', id: channelId })
  })
}

/** Deletes the stored changes of a channel. Throws `not_found`. */
export function dismissModelChanges(core: Core, { caller, channelId }: Act): Promise<void> {
  return change(core, caller, async (within, audit) => {
    await lockChannel(core, within, channelId)
    const none = { added: text([]), removed: text([]) }
    await within.updateTable('upstream_models').set(none).where('channel_id', '=', channelId).execute()
    audit({ action: 'channel.models-dismiss', target: `channel:${channelId}` })
  })
}

const nothing: Noticed = { added: [], removed: [] }

function servedBy({ models, model_mapping }: Row<'channels'>): Map<string, string> {
  const mapping = readModelMapping(model_mapping)
  const named = readNames(models).filter((name) => !isPattern(name))
  return new Map(named.map((name) => [name, mapping.get(name) ?? name]))
}

function openOf({ added, removed }: Row<'upstream_models'>): Noticed {
  return { added: names(added), removed: names(removed) }
}

const listOfNames = z.array(z.string())

function names(list: string): string[] {
  return listOfNames.parse(JSON.parse(list))
}

function text(list: readonly string[]): string {
  return JSON.stringify(list)
}
