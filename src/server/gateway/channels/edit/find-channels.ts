import { type SqlBool, sql } from 'kysely'
import type { Channel } from '../../../../contract/entities/channel.ts'
import { channelStatus } from '../../../../contract/entities/channel-status.ts'
import type { Queries } from '../../../base/db/open.ts'
import { containsText, type PageOf } from '../../../base/db/page.ts'
import type { Row } from '../../../base/db/schema.ts'
import { fail } from '../../../base/lib/failure.ts'
import type { Core } from '../../../base/options/core.ts'
import { providerById } from '../../providers/index.ts'
import { readMissingEndpoints } from '../row/missing-endpoints.ts'
import { endAt, readEnds } from '../row/model-ends.ts'
import { readPromptAdditions } from '../row/prompt-additions.ts'
import { readModelMapping, readNames } from '../row/read-columns.ts'
import { findRow } from '../row/rows.ts'

/** Reading channels for the console. Nothing here decrypts a key, and all rows are returned through `presentChannels`. */
export interface ChannelFilter {
  /** The id, part of the name, or part of the address with a dot, in any case; '' for any, as for all texts here. */
  readonly keyword: string
  /** Part of the list of models, in any case. */
  readonly model: string
  /** A member of the list of groups. */
  readonly group: string
  readonly tag: string
  /** 0 for any. */
  readonly status: number
  /** 0 for any. */
  readonly type: number
  /** Only those whose last test failed. */
  readonly test_failed?: boolean | undefined
}

export const anyChannel: ChannelFilter = { keyword: '', model: '', group: '', tag: '', status: 0, type: 0 }

export interface ChannelOrder {
  /** Newest first instead of highest priority first. */
  readonly idSort: boolean
}

interface ChannelQuery extends ChannelOrder {
  readonly filter: ChannelFilter
  /** Pages over the tags of the matching channels, in their order, and returns all channels of those tags. */
  readonly tagMode: boolean
  /** In tag mode, the channels without a tag that match are the last group. */
  readonly untagged?: boolean
  readonly page: PageOf
}

/** `total` counts channels, in tag mode tags. */
export async function findChannels(
  core: Core,
  { filter, idSort, tagMode, untagged = false, page }: ChannelQuery,
): Promise<{ items: Channel[]; total: number }> {
  const matches = matching(core.db, filter)
  const hasNoTag = sql<boolean>`tag = ''`
  const grouped = untagged ? matches : matches.where('tag', '<>', '')
  const tags = grouped.select('tag').groupBy('tag').orderBy(hasNoTag).orderBy('tag').offset(page.offset).limit(page.limit)
  // Of channels with a tag, all of the tag are listed; of those without a tag, only the matching ones.
  const found = tagMode
    ? core.db
        .selectFrom('channels')
        .where('tag', 'in', tags)
        .where((eb) => eb.or([eb('tag', '<>', ''), eb('id', 'in', matches.select('id'))]))
    : matches.offset(page.offset).limit(page.limit)

  const rows = await found
    .selectAll()
    .$if(tagMode, (query) => query.orderBy(hasNoTag))
    .$if(!idSort, (query) => query.orderBy('priority', 'desc'))
    .orderBy('id', 'desc')
    .execute()
  const { total } = await (tagMode ? grouped : matches)
    .select((eb) => (tagMode ? eb.fn.count<number>('tag').distinct() : eb.fn.countAll<number>()).as('total'))
    .executeTakeFirstOrThrow()
  return { items: await presentChannels(core.db, rows), total }
}

/** The ids of all channels that match, in order. */
export async function channelIds(db: Queries, filter: ChannelFilter, { idSort }: ChannelOrder): Promise<number[]> {
  const rows = await matching(db, filter)
    .select('id')
    .$if(!idSort, (query) => query.orderBy('priority', 'desc'))
    .orderBy('id', 'desc')
    .execute()
  return rows.map(({ id }) => id)
}

/** The channels with these ids, in their order, without deleted ones. */
export async function channelsWithIds(db: Queries, ids: readonly number[]): Promise<Channel[]> {
  const rows = await db.selectFrom('channels').selectAll().where('id', 'in', ids).execute()
  const found = new Map((await presentChannels(db, rows)).map((channel) => [channel.id, channel]))
  return ids.flatMap((id) => found.get(id) ?? [])
}

/** Throws `not_found`. */
export async function findChannel(core: Core, id: number): Promise<Channel> {
  return presentChannel(core.db, await findRow(core.db, id))
}

/** A channel as the console shows it: without its keys in any form. */
export async function presentChannel(db: Queries, row: Row<'channels'>): Promise<Channel> {
  const [shown] = await presentChannels(db, [row])
  return shown ?? fail('not_found')
}

async function presentChannels(db: Queries, rows: readonly Row<'channels'>[]): Promise<Channel[]> {
  if (rows.length === 0) return []
  const enabled = sql<number>`sum(case when status = ${channelStatus.enabled} then 1 else 0 end)`
  const counts = await db
    .selectFrom('channel_keys')
    .where(
      'channel_id',
      'in',
      rows.map(({ id }) => id),
    )
    .select(({ fn }) => ['channel_id', fn.countAll<number>().as('total'), enabled.as('enabled')])
    .groupBy('channel_id')
    .execute()
  const ofChannel = new Map(counts.map((count) => [count.channel_id, count]))
  const lists = await db.selectFrom('upstream_models').select(['channel_id', 'ends']).where('ends', '<>', '').execute()
  const endsOf = new Map(lists.map(({ channel_id, ends }) => [channel_id, ends]))
  return rows.map(({ key_sealed: _sealed, lacking, prompt_additions: additions, ...row }) => {
    const ends = modelEndsOf(row, endsOf.get(row.id) ?? '')
    const { total = 0, enabled = 0 } = ofChannel.get(row.id) ?? {}
    const found = {
      lacking: readMissingEndpoints(lacking, 0),
      prompt_additions: Object.fromEntries(readPromptAdditions(additions)),
      model_ends: ends,
    }
    return { ...row, key: '', keys_total: total, keys_enabled: enabled, ...found }
  })
}

/** The known ends of a channel's models, the earliest first. A row that is broken has none. */
function modelEndsOf(
  { type, base_url, models, model_mapping }: Pick<Row<'channels'>, 'type' | 'base_url' | 'models' | 'model_mapping'>,
  ends: string,
): Channel['model_ends'] {
  const provider = providerById(type)
  const modelMapping = mappingOf(model_mapping)
  if (!provider || !modelMapping) return []
  const channel = { provider, baseUrl: base_url || provider.baseUrl, modelMapping, modelEnds: readEnds(ends) }
  const known = readNames(models).flatMap((model) => {
    const end = endAt(channel, model)
    return end ? [{ model, date: end.date, successor: end.successor ?? '' }] : []
  })
  return known.sort((one, other) => one.date.localeCompare(other.date))
}

function mappingOf(column: string): ReadonlyMap<string, string> | undefined {
  try {
    return readModelMapping(column)
  } catch {
    return undefined
  }
}

function matching(db: Queries, { keyword, model, group, tag, status, type, test_failed = false }: ChannelFilter) {
  const id = /^\d{1,15}$/.test(keyword) ? Number(keyword) : undefined

  return db
    .selectFrom('channels')
    .$if(keyword !== '', (query) =>
      query.where((eb) =>
        eb.or([
          containsText('name', keyword),
          ...(keyword.includes('.') ? [containsText('base_url', keyword)] : []),
          ...(id === undefined ? [] : [eb('id', '=', id)]),
        ]),
      ),
    )
    .$if(model !== '', (query) => query.where(containsText('models', model)))
    .$if(group !== '', (query) => query.where(hasMember(group)))
    .$if(tag !== '', (query) => query.where('tag', '=', tag))
    .$if(status !== 0, (query) => query.where('status', '=', status))
    .$if(type !== 0, (query) => query.where('type', '=', type))
    .$if(test_failed, (query) => query.where('test_failure', '<>', ''))
}

/** Whether the comma list of groups contains exactly this name. LIKE ignores case on SQLite. */
function hasMember(group: string) {
  const list = sql`',' || ${sql.ref('group')} || ','`
  return sql<SqlBool>`replace(${list}, ${`,${group},`}, '') <> ${list}`
}
