import type { Within } from '../db/open.ts'
import type { Tables } from '../db/schema.ts'
import type { Core } from '../options/core.ts'
import type { Family } from './families.ts'
import type { Source } from './source.ts'

/** What to do with a user whose name is taken here: refuse the row, give it another name, or leave it out. */
export type IntoExisting = 'refuse' | 'rename' | 'skip'

/** An import that runs. */
export interface Import {
  readonly core: Core
  readonly id: number
  readonly family: Family
  readonly source: Source
  /** Nothing was here before: rows keep their ids. */
  readonly keepsIds: boolean
  readonly intoExisting: IntoExisting
  /** In the source. */
  readonly unitsPerUsd: number
  readonly sums: BalanceSums
  readonly onProgress: (text: string) => void
}

export interface BalanceSums {
  source: bigint
  opened: bigint
  takenBack: bigint
}

/** Rows that were taken, by the id in the source. */
export type Mapped = ReadonlyMap<number, number>

export type Entity = Extract<keyof Tables, 'users' | 'tokens' | 'channels' | 'redemptions' | 'top_ups' | 'midjourneys' | 'tasks'>

/** The rows here that rows of the source became; of each batch alone, so that the memory stays the same. */
export async function mappedIds(within: Within, importId: number, entity: Entity, sourceIds: Iterable<number>): Promise<Mapped> {
  const wanted = [...new Set(sourceIds)].filter((id) => id !== 0)
  if (wanted.length === 0) return new Map()
  const rows = await within
    .selectFrom('imported_rows')
    .select(['source_id', 'row_id'])
    .where('import_id', '=', importId)
    .where('entity', '=', entity)
    .where('source_id', 'in', wanted)
    .execute()
  return new Map(rows.map(({ source_id, row_id }) => [source_id, row_id]))
}

/** The id to insert a row with: its own while nothing of here has it, or none, and then it gets the next. */
export async function idToKeep({ keepsIds }: Import, within: Within, entity: Entity, id: number): Promise<{ id?: number }> {
  if (!keepsIds || id <= 0) return {}
  const taken = await within.selectFrom(entity).select('id').where('id', '=', id).executeTakeFirst()
  return taken ? {} : { id }
}
