import { sql } from 'kysely'
import { isDatabaseFailure } from '../../../base/db/failures.ts'
import type { Queries } from '../../../base/db/open.ts'
import { background } from '../../../base/lib/log/logger.ts'
import { seconds } from '../../../base/lib/time/clock.ts'
import type { Core } from '../../../base/options/core.ts'

/**
 * Replies that named another model than was sent to the upstream, by channel and hour: counted on each node, and added to the table
 * `answered_models`. They are neither failures nor part of a charge.
 */
interface OtherAnswer {
  readonly channelId: number
  /** The name that was sent, and the one in the reply. */
  readonly sent: string
  readonly answered: string
  /** Charged units. */
  readonly charged: number
  /** The units at the price of the model that answered; undefined where it has no price. */
  readonly cost: number | undefined
}

/** Sums of such calls. `difference` is their cost at the price of the model that answered, less the charge of the same calls. */
export interface OtherAnswers {
  readonly channelId: number
  readonly sent: string
  readonly answered: string
  readonly calls: number
  readonly charged: number
  /** The calls whose answering model has a price. */
  readonly priced: number
  readonly difference: number
}

const hourSeconds = 3600
const answersKeptSeconds = 31 * 86_400
/** An upstream can make up names. Further ones of a channel are counted together. */
const namesMax = 50
/** Counts in memory until they are written; calls that need another are not counted. */
const countsMax = 2000

export class AnsweredModels {
  readonly #core: Core
  #hour = 0
  #counts = new Map<string, OtherAnswers>()
  /** The answered names of each channel in this hour. */
  #names = new Map<number, Set<string>>()
  #writing: Promise<void> = Promise.resolve()

  constructor(core: Core) {
    this.#core = core
  }

  /** Counts one such reply, in the hour of the clock. */
  note({ channelId, sent, answered: told, charged, cost }: OtherAnswer): void {
    this.#turn()
    const answered = this.#nameOf(channelId, told)
    const key = JSON.stringify([channelId, sent, answered])
    const known = this.#counts.get(key)
    if (!known && this.#counts.size >= countsMax) return
    this.#counts.set(key, {
      channelId,
      sent,
      answered,
      calls: (known?.calls ?? 0) + 1,
      charged: (known?.charged ?? 0) + charged,
      priced: (known?.priced ?? 0) + (cost === undefined ? 0 : 1),
      difference: (known?.difference ?? 0) + (cost === undefined ? 0 : cost - charged),
    })
  }

  /**
   * Adds what was counted until now to the table, after earlier counts. While the database is unavailable they are lost, with a warning
   * in the log of the program; throws other failures.
   */
  flush(): Promise<void> {
    const [hour, counts] = [this.#hour, [...this.#counts.values()]]
    this.#counts = new Map()
    const write = () => this.#write(hour, counts)
    this.#writing = this.#writing.then(write, write)
    return this.#writing
  }

  async #write(hour: number, counts: readonly OtherAnswers[]): Promise<void> {
    try {
      await add(this.#core.db, hour, counts)
    } catch (error) {
      if (!isDatabaseFailure(error)) throw error
      const calls = counts.reduce((sum, count) => sum + count.calls, 0)
      this.#core.logger.warn({ error, calls }, 'counts of models that answered were lost')
    }
  }

  /** Counts of an hour that is over keep its time. */
  #turn(): void {
    const now = seconds(this.#core.now())
    const hour = now - (now % hourSeconds)
    if (hour === this.#hour) return
    background(this.#core.logger, 'counting models that answered', this.flush())
    this.#hour = hour
    this.#names = new Map()
  }

  #nameOf(channelId: number, told: string): string {
    const names = this.#names.get(channelId) ?? new Set()
    this.#names.set(channelId, names)
    if (names.has(told)) return told
    if (names.size >= namesMax) return '*'
    names.add(told)
    return told
  }
}

async function add(db: Queries, hour: number, counts: readonly OtherAnswers[]): Promise<void> {
  const rows = counts.map(({ channelId, ...sums }) => ({ channel_id: channelId, hour, ...sums }))
  for (let at = 0; at < rows.length; at += 50) {
    await db
      .insertInto('answered_models')
      .values(rows.slice(at, at + 50))
      .onConflict((conflict) =>
        conflict.columns(['channel_id', 'hour', 'sent', 'answered']).doUpdateSet({
          calls: sql<number>`answered_models.calls + excluded.calls`,
          charged: sql<number>`answered_models.charged + excluded.charged`,
          priced: sql<number>`answered_models.priced + excluded.priced`,
          difference: sql<number>`answered_models.difference + excluded.difference`,
        }),
      )
      .execute()
  }
}

/** The sums of calls from `from` to before `to` (unix seconds), of all channels or some, the most calls first. */
export async function readOtherAnswers(
  db: Queries,
  { from, to, channels }: { from: number; to: number; channels?: readonly number[] },
): Promise<OtherAnswers[]> {
  const rows = await db
    .selectFrom('answered_models')
    .select((row) => [
      'channel_id as channelId',
      'sent',
      'answered',
      row.fn.sum<number>('calls').as('calls'),
      row.fn.sum<number>('charged').as('charged'),
      row.fn.sum<number>('priced').as('priced'),
      row.fn.sum<number>('difference').as('difference'),
    ])
    .where('hour', '>=', from - (from % hourSeconds))
    .where('hour', '<', to)
    .$if(channels !== undefined, (query) => query.where('channel_id', 'in', channels ?? []))
    .groupBy(['channel_id', 'sent', 'answered'])
    .orderBy('calls', 'desc')
    .orderBy('channel_id')
    .orderBy('answered')
    .execute()
  return rows.map(({ calls, charged, priced, difference, ...row }) => ({
    ...row,
    calls: Number(calls),
    charged: Number(charged),
    priced: Number(priced),
    difference: Number(difference),
  }))
}

/** Deletes sums older than 31 days. */
export async function purgeOtherAnswers({ db, now }: Core): Promise<void> {
  await db
    .deleteFrom('answered_models')
    .where('hour', '<', seconds(now()) - answersKeptSeconds)
    .execute()
}
