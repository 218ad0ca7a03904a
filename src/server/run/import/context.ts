import type { Within } from '../../base/db/open.ts'
import type { Tables } from '../../base/db/schema.ts'
import type { Core } from '../../base/options/core.ts'
import type { Family } from './families.ts'
import type { Source } from './source.ts'

/** How to treat a user whose name already exists: refuse the row, rename the user, or leave the user out. */
export type IntoExisting = 'refuse' | 'rename' | 'skip'

/** A running import. */
export interface Import {
  readonly core: Core
  readonly id: number
  readonly family: Family
  readonly source: Source
  /** The site was unused before the import, so rows keep their ids. */
  readonly keepsIds: boolean
  readonly intoExisting: IntoExisting
  /** Quota units per US dollar in the source. */
  readonly unitsPerUsd: number
  readonly sums: BalanceSums
  readonly onProgress: (text: string) => void
}

interface BalanceSums {
  source: bigint
  opened: bigint
  takenBack: bigint
}

/** Ids of imported rows: source id → new id. */
type Mapped = ReadonlyMap<number, number>

export type Entity = Extract<keyof Tables, 'users' | 'tokens' | 'channels' | 'redemptions' | 'top_ups' | 'midjourneys' | 'tasks'>

/** New ids of imported rows by their source ids. Queried for each batch, so that memory use does not grow with the tables. */
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

/** The id of a new row: the source id if ids are kept and it is free, otherwise none, so that the database assigns the next. */
export async function idToKeep({ keepsIds }: Import, within: Within, entity: Entity, id: number): Promise<{ id?: number }> {
  if (!keepsIds || id <= 0) return {}
  const taken = await within.selectFrom(entity).select('id').where('id', '=', id).executeTakeFirst()
  return taken ? {} : { id }
}
