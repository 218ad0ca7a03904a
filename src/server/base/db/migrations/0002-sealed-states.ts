import type { Kysely } from 'kysely'
import { addIndex, columnsOf, type Dialect } from '../columns.ts'

/** Opaque state that models require back with their tool calls, for callers that cannot carry it. */
export async function sealedStates(db: Kysely<unknown>, dialect: Dialect): Promise<void> {
  const { integer, text, required } = columnsOf(dialect)
  await db.schema
    .createTable('sealed_states')
    .addColumn('owner', text, required)
    .addColumn('call_id', text, required)
    .addColumn('state_sealed', text, required)
    .addColumn('expires_at', integer, required)
    .addPrimaryKeyConstraint('sealed_states_key', ['owner', 'call_id'] as never)
    .execute()
  await addIndex(db, 'sealed_states', ['expires_at'])
}
