import type { Kysely } from 'kysely'
import { columnsOf, type Dialect } from '../columns.ts'

/** Statistics of calls and attempts (`usage/calls/call-sums.ts`). The primary key is the order in which they are read. */
export async function callStatistics(db: Kysely<unknown>, dialect: Dialect): Promise<void> {
  const { integer, text, required, zero, empty } = columnsOf(dialect)
  await db.schema
    .createTable('call_sums')
    .addColumn('side', text, required)
    .addColumn('span', integer, required)
    .addColumn('at', integer, required)
    .addColumn('key', text, required)
    .addColumn('count', integer, zero)
    .addColumn('answered', integer, zero)
    .addColumn('failed', integer, zero)
    .addColumn('tokens_in', integer, zero)
    .addColumn('tokens_out', integer, zero)
    .addColumn('quota', integer, zero)
    .addColumn('output_ms', integer, zero)
    .addColumn('durations', text, empty)
    .addColumn('first_bytes', text, empty)
    .addPrimaryKeyConstraint('call_sums_key', ['side', 'span', 'at', 'key'])
    .execute()
  await db.schema
    .createTable('call_errors')
    .addColumn('side', text, required)
    .addColumn('span', integer, required)
    .addColumn('at', integer, required)
    .addColumn('key', text, required)
    .addColumn('code', text, required)
    .addColumn('count', integer, zero)
    .addColumn('message', text, empty)
    .addColumn('last_at', integer, zero)
    .addPrimaryKeyConstraint('call_errors_key', ['side', 'span', 'at', 'key', 'code'])
    .execute()
}
