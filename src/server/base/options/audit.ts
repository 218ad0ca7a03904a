import { sql } from 'kysely'
import type { Within } from '../db/open.ts'
import type { NewRow, Row } from '../db/schema.ts'
import type { Secrets } from '../lib/secrets/secrets.ts'
import { seconds } from '../lib/time/clock.ts'
import type { Caller, Core } from './core.ts'

/**
 * The audit log of administrative actions: actor, target, and the values before and after. Rows are written in the transaction of the
 * action (`change.ts`) and chained by an HMAC, so that a changed, inserted or removed row is detected even after direct writes to the
 * database. Not detected: rows cut off at the end, unless the head of the chain was stored elsewhere, and changes by a holder of the
 * master key.
 */
export interface AuditEntry {
  /** Undefined for an action of the system itself. */
  readonly caller: Pick<Caller, 'id' | 'username' | 'address'> | undefined
  /** The action, such as `option.save` or `user.disable`. */
  readonly action: string
  /** The target, such as `option:Price` or `user:7`. */
  readonly target: string
  /** Never a secret itself: at most whether it is set, or its mac. Objects are stored as JSON. */
  readonly before?: string | object
  readonly after?: string | object
}

/** The text of a value, without characters that a database would replace or refuse, before the chain is computed. */
function storable(value: string | object = ''): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text.toWellFormed().replaceAll('\0', '')
}

type Recording = Pick<Core, 'database' | 'secrets' | 'now'>

/** Adds one row for an action that changes nothing else, such as an export. */
export function recordAction(core: Recording & Pick<Core, 'db'>, entry: AuditEntry): Promise<void> {
  return core.db.transaction().execute((within) => recordAudit(core, within, entry))
}

/**
 * Adds one row inside of a transaction. Writers wait for each other until they commit, so this should be the last write of a
 * transaction.
 */
export async function recordAudit(core: Recording, within: Within, entry: AuditEntry): Promise<void> {
  // On SQLite the transaction holds the only write lock already.
  if (core.database.dialect === 'postgres') await sql`lock table audit in exclusive mode`.execute(within)
  const last = await within.selectFrom('audit').select('chain').orderBy('id', 'desc').limit(1).executeTakeFirst()

  const row = {
    created_at: seconds(core.now()),
    actor_id: entry.caller?.id ?? 0,
    actor_name: entry.caller?.username ?? 'system',
    address: entry.caller?.address ?? '',
    action: entry.action,
    target: storable(entry.target),
    before: storable(entry.before),
    after: storable(entry.after),
  }
  await within
    .insertInto('audit')
    .values({ ...row, chain: chained(core.secrets, last?.chain ?? '', row) })
    .execute()
}

export interface AuditState {
  readonly rows: number
  /** Chain value of the last row: stored elsewhere, it also reveals rows that were removed at the end. */
  readonly head: string
  /** Id of the first row that does not continue the chain. */
  readonly brokenAt?: number
}

const pageSize = 1000

/** Follows the chain from the first row to the last, or to the first break. */
export async function verifyAudit(core: Pick<Core, 'db' | 'secrets'>): Promise<AuditState> {
  let head = ''
  let rows = 0
  let lastId = 0

  for (;;) {
    const page = await core.db.selectFrom('audit').selectAll().where('id', '>', lastId).orderBy('id').limit(pageSize).execute()
    for (const row of page) {
      if (row.chain !== chained(core.secrets, head, row)) return { rows, head, brokenAt: row.id }
      head = row.chain
      lastId = row.id
      rows++
    }
    if (page.length < pageSize) return { rows, head }
  }
}

function chained(secrets: Secrets, previous: string, row: Omit<NewRow<'audit'> | Row<'audit'>, 'id' | 'chain'>): string {
  const { created_at, actor_id, actor_name, address, action, target, before, after } = row
  return secrets.mac(
    'audit',
    JSON.stringify([previous, created_at, actor_id, actor_name, address, action, target, before, after]),
  )
}
