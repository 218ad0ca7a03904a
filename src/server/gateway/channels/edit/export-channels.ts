import type { Channel } from '../../../../contract/entities/channel.ts'
import { type CsvColumn, csvOfPieces } from '../../../base/lib/bytes/csv.ts'
import type { Caller, Core } from '../../../base/options/core.ts'
import { recordExport } from '../../../base/options/record-export.ts'
import { type ChannelFilter, type ChannelOrder, channelIds, channelsWithIds } from './find-channels.ts'

/** The export of channels. It contains no keys, addresses or settings, which may contain secrets. */
const columns: readonly CsvColumn<Channel>[] = [
  ...(['id', 'name', 'type', 'status', 'group', 'tag', 'models', 'priority', 'weight', 'used_quota', 'balance'] as const),
  'response_time',
  { name: 'test_time', time: (channel) => channel.test_time },
  { name: 'created_time', time: (channel) => channel.created_time },
  ...(['keys_total', 'keys_enabled'] as const),
]

const rowsAtOnce = 200

interface Asked extends ChannelOrder {
  readonly filter: ChannelFilter
  readonly timeZone: string
  readonly caller: Caller
}

/** The channels that match, as CSV in the order of the list. The export is recorded in the audit log. */
export async function* exportChannels(core: Core, { filter, idSort, timeZone, caller }: Asked): AsyncGenerator<string> {
  await recordExport(core, caller, { action: 'channel.export', target: 'channels', asked: filter })
  yield* csvOfPieces({ columns, timeZone, pieces: pieces(core, filter, idSort) })
}

/** Priorities may change while the file is sent: the list of channels and its order are determined before the first row. */
async function* pieces(core: Core, filter: ChannelFilter, idSort: boolean): AsyncGenerator<readonly Channel[]> {
  const ids = await channelIds(core.db, filter, { idSort })
  for (let from = 0; from < ids.length; from += rowsAtOnce) yield channelsWithIds(core.db, ids.slice(from, from + rowsAtOnce))
}
