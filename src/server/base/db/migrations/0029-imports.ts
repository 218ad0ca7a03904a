import type { Kysely } from 'kysely'
import { addIndex, columnsOf, type Dialect } from '../columns.ts'

/** Databases of other programs that were imported, and which row became which. */
export async function imports(db: Kysely<unknown>, dialect: Dialect): Promise<void> {
  const { id, integer, text, required } = columnsOf(dialect)
  await id(db.schema.createTable('imports'))
    .addColumn('family', text, required)
    .addColumn('keeps_ids', integer, required)
    .addColumn('started_at', integer, required)
    .execute()

  await db.schema
    .createTable('imported_rows')
    .addColumn('import_id', integer, required)
    .addColumn('entity', text, required)
    .addColumn('source_id', integer, required)
    .addColumn('row_id', integer, required)
    .addColumn('mark', text, required)
    .addPrimaryKeyConstraint('imported_rows_key', ['import_id', 'entity', 'source_id'] as never)
    .execute()
  await addIndex(db, 'imported_rows', ['entity', 'mark'])
}
