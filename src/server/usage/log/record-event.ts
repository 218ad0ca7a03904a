import { sql } from 'kysely'
import { destinationStatus, type EventType } from '../../../contract/entities/destination.ts'
import type { Text } from '../../../contract/text.ts'
import type { Queries } from '../../base/db/open.ts'
import { randomText } from '../../base/lib/secrets/ids.ts'
import { seconds } from '../../base/lib/time/clock.ts'
import type { Core } from '../../base/options/core.ts'

/** The content of a delivery. Webhooks get all but the texts; people get the texts. */
export interface Message {
  readonly id: string
  readonly type: string
  /** Unix seconds. */
  readonly created_at: number
  readonly title?: Text
  readonly content?: Text
  /** A path of the console. */
  readonly path?: string
  readonly data: Readonly<Record<string, unknown>>
}

export type NewMessage = Pick<Message, 'type' | 'data' | 'title' | 'content' | 'path'>

export function newMessage({ now }: Pick<Core, 'now'>, message: NewMessage): Message {
  return { id: `msg_${randomText(24)}`, created_at: seconds(now()), ...message }
}

/**
 * Queues an event for every enabled webhook of the site that subscribes to it, in the transaction that causes it: one statement, which
 * writes nothing when no webhook subscribes. `notify/send-deliveries` sends what is queued.
 */
export function recordEvent(core: Pick<Core, 'now'>, within: Queries, type: EventType, data: EventData): Promise<void> {
  return recordEventOf(core, within, { account: 0, type, data })
}

type EventData = Readonly<Record<string, unknown>>

/** The same for an event that concerns an account: webhooks of this organisation get it too. */
export async function recordEventOf(
  core: Pick<Core, 'now'>,
  within: Queries,
  { account, type, data }: { account: number; type: EventType; data: EventData },
): Promise<void> {
  const message = newMessage(core, { type, data })
  await within
    .insertInto('deliveries')
    .columns(['destination_id', 'message_id', 'type', 'message', 'state', 'next_at', 'created_at'])
    .expression((from) =>
      from
        .selectFrom('destinations')
        .select([
          'id',
          sql.val(message.id).as('message_id'),
          sql.val(type).as('type'),
          sql.val(JSON.stringify(message)).as('message'),
          sql.val('pending').as('state'),
          sql<number>`cast(${message.created_at} as bigint)`.as('next_at'),
          sql<number>`cast(${message.created_at} as bigint)`.as('created_at'),
        ])
        .where('status', '=', destinationStatus.enabled)
        .where('organisation_id', 'in', [0, account])
        .where('events', 'like', `%"${type}"%`),
    )
    .execute()
}

/** Whether any enabled webhook of the site subscribes to the event: to be checked before costly work for it. */
export async function isSubscribed(db: Queries, type: EventType): Promise<boolean> {
  const found = await db
    .selectFrom('destinations')
    .select('id')
    .where('status', '=', destinationStatus.enabled)
    .where('organisation_id', '=', 0)
    .where('events', 'like', `%"${type}"%`)
    .limit(1)
    .executeTakeFirst()
  return found !== undefined
}
