import { sql } from 'kysely'
import type { Core } from '../../../base/options/core.ts'
import type { ChannelIndex } from '../index/model-index.ts'

const daySeconds = 86_400

/**
 * Today's charges (UTC) of channels with a daily limit, over all nodes: read from the sums that the ledger maintains, so that a
 * restart loses nothing. Charges since the last read are not included yet: a limit may be exceeded by that much.
 */
export class Spending {
  readonly #core: Pick<Core, 'db' | 'now'>
  #day = 0
  /** Each channel's charges before today. */
  readonly #before = new Map<number, number>()
  #today = new Map<number, number>()

  constructor(core: Pick<Core, 'db' | 'now'>) {
    this.#core = core
  }

  /** Units, as of the last refresh; 0 for channels without a daily limit. */
  today(channelId: number): number {
    return this.#today.get(channelId) ?? 0
  }

  async refresh(index: ChannelIndex): Promise<void> {
    const day = Math.floor(this.#core.now() / 1000 / daySeconds) * daySeconds
    if (day !== this.#day) this.#before.clear()
    this.#day = day

    const limited = [...index.byId.values()].filter(({ setting }) => setting.max_quota_per_day !== undefined).map(({ id }) => id)
    await this.#readBefore(limited.filter((id) => !this.#before.has(id)))
    this.#today = await this.#readToday(limited)
  }

  /**
   * The total charges of a channel minus those of today, read in one statement; so the hour buckets of the day are read only once.
   */
  async #readBefore(channelIds: readonly number[]): Promise<void> {
    if (channelIds.length === 0) return
    const rows = await this.#core.db
      .selectFrom('channels')
      .leftJoin('quota_data', (join) =>
        join.onRef('quota_data.channel_id', '=', 'channels.id').on('quota_data.created_at', '>=', this.#day),
      )
      .where('channels.id', 'in', channelIds)
      .select(['channels.id', sql<number>`channels.used_quota - coalesce(sum(quota_data.quota), 0)`.as('before')])
      .groupBy(['channels.id', 'channels.used_quota'])
      .execute()
    for (const { id, before } of rows) this.#before.set(id, before)
  }

  async #readToday(channelIds: readonly number[]): Promise<Map<number, number>> {
    if (channelIds.length === 0) return new Map()
    const rows = await this.#core.db.selectFrom('channels').select(['id', 'used_quota']).where('id', 'in', channelIds).execute()
    return new Map(rows.map(({ id, used_quota }) => [id, used_quota - (this.#before.get(id) ?? used_quota)]))
  }
}
