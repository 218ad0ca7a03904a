import type { ExpressionBuilder } from 'kysely'
import type { AuditRow } from '../../../contract/entities/system.ts'
import type { SortBy } from '../../../contract/envelope.ts'
import { beginsWithText, inOrder, type PageOf, readPage } from '../db/page.ts'
import type { Tables } from '../db/schema.ts'
import { type CsvColumn, csvFile } from '../lib/bytes/csv.ts'
import type { Caller, Core } from './core.ts'
import { recordExport } from './record-export.ts'

interface AuditSearch {
  /** A prefix, in any case: `option` finds `option.save`. '' for any. */
  readonly action: string
  readonly target: string
  /** The name or the id of the actor. */
  readonly actor: string
  /** Unix seconds; 0 for any. */
  readonly start: number
  readonly end: number
}

const shown = ['id', 'created_at', 'actor_id', 'actor_name', 'address', 'action', 'target', 'before', 'after'] as const

/** A page of the audit log, newest first by default, and the number of all matching rows. */
export async function listAudit(
  { db }: Pick<Core, 'db'>,
  { search, page, sort }: { search: AuditSearch; page: PageOf; sort?: SortBy<'id'> | undefined },
): Promise<{ items: AuditRow[]; total: number }> {
  const found = db.selectFrom('audit').select(shown).where(matching(search))
  const { rows, total } = await readPage(inOrder(found, 'audit', sort), page)
  return { items: rows, total }
}

/** The same of one target, newest first. */
export async function listAuditOf(
  { db }: Pick<Core, 'db'>,
  { target, page }: { target: string; page: PageOf },
): Promise<{ items: AuditRow[]; total: number }> {
  const found = db.selectFrom('audit').select(shown).where('target', '=', target).orderBy('id', 'desc')
  const { rows, total } = await readPage(found, page)
  return { items: rows, total }
}

const columns: readonly CsvColumn<AuditRow>[] = [
  'id',
  { name: 'time', time: (row) => row.created_at },
  ...(['actor_id', 'actor_name', 'address', 'action', 'target', 'before', 'after'] as const),
]

/** The matching rows as CSV, and one more: the record of this export. */
export async function* exportAudit(
  core: Core,
  { search, timeZone, caller }: { search: AuditSearch; timeZone: string; caller: Caller },
): AsyncGenerator<string> {
  await recordExport(core, caller, { action: 'audit.export', target: 'audit', asked: search })
  yield* csvFile({
    columns,
    timeZone,
    read: (below, limit) =>
      core.db
        .selectFrom('audit')
        .select(shown)
        .where(matching(search))
        .where('id', '<', below)
        .orderBy('id', 'desc')
        .limit(limit)
        .execute(),
  })
}

function matching({ action, target, actor, start, end }: AuditSearch) {
  return (row: ExpressionBuilder<Tables, 'audit'>) =>
    row.and([
      ...(action === '' ? [] : [beginsWithText('action', action)]),
      ...(target === '' ? [] : [beginsWithText('target', target)]),
      ...(actor === ''
        ? []
        : [row.or([row('actor_name', '=', actor), ...(isId(actor) ? [row('actor_id', '=', Number(actor))] : [])])]),
      ...(start === 0 ? [] : [row('created_at', '>=', start)]),
      ...(end === 0 ? [] : [row('created_at', '<=', end)]),
    ])
}

function isId(text: string): boolean {
  return /^\d{1,15}$/.test(text)
}
