import { setImmediate } from 'node:timers/promises'
import { type Grain, grainSeconds, type SumsBy, type UsageSums } from '../../../contract/entities/usage-sum.ts'
import type { Queries } from '../../base/db/open.ts'
import type { Core } from '../../base/options/core.ts'
import { type LogFilter, resolveFilter } from '../filter.ts'
import { spanMaxDays, wholeHours } from './data.ts'
import { add, eachSum, hourSums, type Key, type Sum } from './rollup.ts'

interface SumsQuery {
  readonly filter: LogFilter
  readonly by: SumsBy
  readonly grain: Grain
  /** Minutes east of Greenwich, which determine the start of days and weeks. */
  readonly offsetMinutes: number
}

const keysMax = 15
const hoursMaxDays = 31
const others = '*'
/** The first day of 1970 was a Thursday; weeks begin on Mondays. */
export const weekShiftSeconds = 3 * 86_400

type Point = Sum & { at: number; key: string }
type Bucket = Map<Key, Sum>
/** Buckets by the start of their hour, day or week. */
type Buckets = Map<number, Bucket>

/** Charges by time and by one side; the largest keys separately, all others together. Throws `data_span_too_long`. */
export async function readSums(core: Core, { filter, by, ...asked }: SumsQuery): Promise<UsageSums> {
  const maxDays = asked.grain === 'hour' ? hoursMaxDays : spanMaxDays.all
  const found = await resolveFilter(core.db, wholeHours(core, filter, maxDays))
  if (!found) return { keys: [], points: [], total: nothing() }

  const buckets: Buckets = new Map()
  const bucketOf = bucketsOf(asked)
  for await (const piece of hourSums(core.db, found, by)) {
    for (const { hour, sums } of piece) {
      const bucket = sumsIn(buckets, bucketOf(hour))
      eachSum(sums, (key, sum) => add(sumOf(bucket, key), sum))
    }
    await setImmediate()
  }
  return present(buckets, (keys) => namesOf(core.db, by, keys))
}

/** The start of the hour, day or week that contains an hour, in the caller's time zone. */
function bucketsOf({ grain, offsetMinutes }: Pick<SumsQuery, 'grain' | 'offsetMinutes'>): (hour: number) => number {
  const size = grainSeconds[grain]
  const shift = (grain === 'hour' ? 0 : offsetMinutes * 60) + (grain === 'week' ? weekShiftSeconds : 0)
  return (hour) => Math.floor((hour + shift) / size) * size - shift
}

function sumsIn(buckets: Buckets, at: number): Bucket {
  const known = buckets.get(at)
  if (known) return known
  const bucket: Bucket = new Map()
  buckets.set(at, bucket)
  return bucket
}

function sumOf(bucket: Bucket, key: Key): Sum {
  const known = bucket.get(key)
  if (known) return known
  const sum = nothing()
  bucket.set(key, sum)
  return sum
}

async function present(buckets: Buckets, readNames: (keys: string[]) => Promise<Map<string, string>>): Promise<UsageSums> {
  const totals: Bucket = new Map()
  for (const bucket of buckets.values()) for (const [key, sum] of bucket) add(sumOf(totals, key), sum)
  const ordered = [...totals].sort(([, one], [, other]) => other.quota - one.quota || other.count - one.count)
  const own = ordered.slice(0, ordered.length > keysMax ? keysMax - 1 : keysMax)
  const names = await readNames(own.map(([key]) => String(key)))
  const keys = own.map(([key, sum]) => ({ key: String(key), name: names.get(String(key)) ?? '', ...sum }))
  const rest = ordered.slice(own.length)
  if (rest.length > 0) keys.push({ key: others, name: '', ...totalOf(rest.map(([, sum]) => sum)) })
  return { keys, points: pointsOf(buckets, new Set(own.map(([key]) => key))), total: totalOf(totals.values()) }
}

/** One point for each time and key; keys that are not shown separately are added up. */
function pointsOf(buckets: Buckets, own: ReadonlySet<Key>): Point[] {
  return [...buckets].flatMap(([at, bucket]) => {
    const points: Bucket = new Map()
    for (const [key, sum] of bucket) add(sumOf(points, own.has(key) ? key : others), sum)
    return [...points].map(([key, sum]) => ({ at, key: String(key), ...sum }))
  })
}

async function namesOf(db: Queries, by: SumsBy, keys: readonly string[]): Promise<Map<string, string>> {
  if (by === 'model' || by === 'group' || keys.length === 0) return new Map(keys.map((key) => [key, key]))
  const ids = keys.map(Number)
  const rows =
    by === 'user'
      ? await db.selectFrom('users').select(['id', 'username as name']).where('id', 'in', ids).execute()
      : await db.selectFrom('channels').select(['id', 'name']).where('id', 'in', ids).execute()
  return new Map(rows.map(({ id, name }) => [String(id), name]))
}

function nothing(): Sum {
  return { quota: 0, count: 0, token_used: 0 }
}

function totalOf(sums: Iterable<Sum>): Sum {
  const total = nothing()
  for (const sum of sums) add(total, sum)
  return total
}
