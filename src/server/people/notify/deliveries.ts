import type { Delivery, deliveryStates } from '../../../contract/entities/destination.ts'
import type { Queries } from '../../base/db/open.ts'
import { type PageOf, readPage } from '../../base/db/page.ts'
import { fail } from '../../base/lib/failure.ts'
import { seconds } from '../../base/lib/time/clock.ts'
import { change } from '../../base/options/change.ts'
import type { Caller, Core } from '../../base/options/core.ts'
import type { Message } from '../../usage/log/record-event.ts'

/** The sent and the queued messages; `send-deliveries.ts` sends them. */
const keptSeconds = 30 * 86_400

/** Queues a message for these destinations, in the transaction of its cause. Unknown destinations are left out. */
export async function queueMessage(within: Queries, message: Message, destinationIds: readonly number[]): Promise<void> {
  if (destinationIds.length === 0) return
  const known = await within.selectFrom('destinations').select('id').where('id', 'in', destinationIds).execute()
  if (known.length === 0) return
  const row = {
    message_id: message.id,
    type: message.type,
    message: JSON.stringify(message),
    state: 'pending',
    next_at: message.created_at,
    created_at: message.created_at,
  }
  await within
    .insertInto('deliveries')
    .values(known.map(({ id }) => ({ ...row, destination_id: id })))
    .onConflict((conflict) => conflict.columns(['destination_id', 'message_id']).doNothing())
    .execute()
}

interface Asked {
  /** A destination id; 0 for all. */
  readonly destination: number
  readonly state: (typeof deliveryStates)[number] | undefined
  readonly page: PageOf
}

/** Those to destinations of the site, newest first. */
export async function listDeliveries(
  { db }: Core,
  { destination, state, page }: Asked,
): Promise<{ items: Delivery[]; total: number }> {
  const matching = db
    .selectFrom('deliveries')
    .innerJoin('destinations', 'destinations.id', 'deliveries.destination_id')
    .selectAll('deliveries')
    .select('destinations.name as destination_name')
    .where('destinations.organisation_id', '=', 0)
    .$if(destination > 0, (query) => query.where('destination_id', '=', destination))
    .$if(state !== undefined, (query) => query.where('state', '=', state ?? ''))
    .orderBy('deliveries.id', 'desc')
  const { rows, total } = await readPage(matching, page)
  const items = rows.map(({ message: _message, lease_until: _lease, ...row }) => ({
    ...row,
    // Only this folder and `recordEvent` write this column.
    state: row.state as Delivery['state'],
    next_at: row.state === 'pending' ? row.next_at : 0,
  }))
  return { items, total }
}

/** Queues a delivery of the site again, beginning with its first try, under the same message id. Throws `not_found`. */
export async function sendAgain(core: Core, { caller, id }: { caller: Caller; id: number }): Promise<void> {
  const now = seconds(core.now())
  await change(core, caller, async (within, audit) => {
    const row = await within
      .updateTable('deliveries')
      .set({ state: 'pending', attempts: 0, next_at: now, finished_at: 0 })
      .where('id', '=', id)
      .where('destination_id', 'in', (row) => row.selectFrom('destinations').select('id').where('organisation_id', '=', 0))
      .returning('message_id')
      .executeTakeFirst()
    if (!row) fail('not_found')
    audit({ action: 'delivery.resend', target: `delivery:${id}`, after: row.message_id })
  })
}

/** Deletes deliveries that are older than 30 days. Returns their number. */
export async function purgeDeliveries({ db, now }: Core): Promise<number> {
  const { numDeletedRows } = await db
    .deleteFrom('deliveries')
    .where('created_at', '<', seconds(now()) - keptSeconds)
    .executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}
