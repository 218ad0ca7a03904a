import { sql } from 'kysely'
import { z } from 'zod'
import {
  type AdminIncident,
  adminIncident,
  type Incident,
  type IncidentChange,
  type IncidentInput,
  type IncidentKind,
  type IncidentState,
  type IncidentUpdateInput,
  incident,
  incidentLimits,
  incidentStates,
  isEnded,
} from '../../../contract/entities/incident.ts'
import { statusDays } from '../../../contract/entities/status-page.ts'
import type { SortBy } from '../../../contract/envelope.ts'
import { locked } from '../../base/db/locked.ts'
import type { Queries, Within } from '../../base/db/open.ts'
import { containsText, inOrder, type PageOf, readPage } from '../../base/db/page.ts'
import type { Row } from '../../base/db/schema.ts'
import { AppError, fail } from '../../base/lib/failure.ts'
import { seconds } from '../../base/lib/time/clock.ts'
import { change, type Report } from '../../base/options/change.ts'
import type { Caller, Core } from '../../base/options/core.ts'

/** Incidents and planned maintenance of the status page, with the updates that admins write. Each change is a row of the audit log. */
const shownMax = 50
const daySeconds = 86_400

/** Incidents that have not ended, and those of the days that the page shows, newest first. */
export async function readShownIncidents(db: Queries, at: number): Promise<Incident[]> {
  const rows = await db
    .selectFrom('incidents')
    .selectAll()
    .where(({ or, eb }) => or([eb('ends_at', '=', 0), eb('ends_at', '>=', at - statusDays * daySeconds)]))
    .orderBy('starts_at', 'desc')
    .orderBy('id', 'desc')
    .limit(shownMax)
    .execute()
  return (await withUpdates(db, rows, at)).map((each) => incident.parse(each))
}

interface Wanted {
  readonly keyword: string
  readonly kind: IncidentKind | undefined
  /** Whether they have ended; undefined for all. */
  readonly state: 'open' | 'ended' | undefined
  readonly sort: SortBy<'id' | 'starts_at'> | undefined
  readonly page: PageOf
}

export async function listIncidents(
  { db, now }: Core,
  { keyword, kind, state, sort, page }: Wanted,
): Promise<{ items: AdminIncident[]; total: number }> {
  const at = seconds(now())
  const isOver = sql<boolean>`(incidents.ends_at <> 0 and incidents.ends_at <= ${at})`
  const matching = db
    .selectFrom('incidents')
    .selectAll()
    .$if(keyword !== '', (query) => query.where(containsText('title', keyword)))
    .$if(kind !== undefined, (query) => query.where('kind', '=', kind ?? ''))
    .$if(state !== undefined, (query) => query.where(state === 'ended' ? isOver : sql<boolean>`not ${isOver}`))
  const { rows, total } = await readPage(inOrder(matching, 'incidents', sort), page)
  return { items: await withUpdates(db, rows, at), total }
}

/** Throws `field_invalid`. */
export function openIncident(core: Core, { caller, input }: { caller: Caller; input: IncidentInput }): Promise<AdminIncident> {
  const { kind, title, impact, state, message } = input
  const at = seconds(core.now())
  requireState(kind, state)
  const times = timesOf(kind, input, at)
  return change(core, caller, async (within, audit) => {
    const { id } = await within
      .insertInto('incidents')
      .values({
        ...{ kind, title, state, impact, ...listsOf(input), ...times },
        ...{ ends_at: endOf(kind, { state, planned: times.ends_at, at }), created_by: caller.username, created_at: at },
      })
      .returning('id')
      .executeTakeFirstOrThrow()
    await addUpdate(within, { id, state, message, caller, at })
    return report(core, within, audit, { id, action: 'incident.open' })
  })
}

/** Throws `not_found` or `field_invalid`. */
export function changeIncident(
  core: Core,
  { caller, id, change: wanted }: { caller: Caller; id: number; change: IncidentChange },
): Promise<AdminIncident> {
  const at = seconds(core.now())
  return change(core, caller, async (within, audit) => {
    const row = await lockedRow(core, within, id)
    // The column has no other values.
    const kind = row.kind as IncidentKind
    const { starts_at, ends_at } = timesOf(kind, { ...wanted, starts_at: wanted.starts_at || row.starts_at }, at)
    const isOpenPlan = kind === 'maintenance' && row.state !== 'completed'
    await within
      .updateTable('incidents')
      .set({
        ...{ title: wanted.title, impact: wanted.impact, ...listsOf(wanted), starts_at },
        ...(isOpenPlan ? { ends_at } : {}),
      })
      .where('id', '=', id)
      .execute()
    return report(core, within, audit, { id, action: 'incident.change', before: row })
  })
}

/** Throws `not_found` or `field_invalid`. */
export function updateIncident(
  core: Core,
  { caller, id, input }: { caller: Caller; id: number; input: IncidentUpdateInput },
): Promise<AdminIncident> {
  const { state, message } = input
  const at = seconds(core.now())
  return change(core, caller, async (within, audit) => {
    const row = await lockedRow(core, within, id)
    // The column has no other values.
    const kind = row.kind as IncidentKind
    requireState(kind, state)
    const { count } = await within
      .selectFrom('incident_updates')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('incident_id', '=', id)
      .executeTakeFirstOrThrow()
    if (Number(count) >= incidentLimits.updatesMax) invalid('message', '更新过多', 'there are too many updates')
    await within
      .updateTable('incidents')
      .set({ state, ends_at: endOf(kind, { state, planned: row.ends_at, at }) })
      .where('id', '=', id)
      .execute()
    await addUpdate(within, { id, state, message, caller, at })
    return report(core, within, audit, { id, action: 'incident.update', before: row })
  })
}

/** Throws `not_found`. */
export function deleteIncident(core: Core, { caller, id }: { caller: Caller; id: number }): Promise<null> {
  return change(core, caller, async (within, audit) => {
    const row = await within.deleteFrom('incidents').where('id', '=', id).returningAll().executeTakeFirst()
    if (!row) fail('not_found')
    await within.deleteFrom('incident_updates').where('incident_id', '=', id).execute()
    audit({ action: 'incident.delete', target: `incident:${id}`, before: row })
    return null
  })
}

type IncidentRow = Row<'incidents'>

async function lockedRow(core: Core, within: Within, id: number): Promise<IncidentRow> {
  const row = await locked(core, within.selectFrom('incidents').selectAll().where('id', '=', id)).executeTakeFirst()
  return row ?? fail('not_found')
}

/** Reports a change of an incident, and returns the incident. */
async function report(
  core: Core,
  within: Within,
  audit: Report,
  { id, action, before }: { id: number; action: string; before?: IncidentRow },
): Promise<AdminIncident> {
  const row = await within.selectFrom('incidents').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
  const [shown] = await withUpdates(within, [row], seconds(core.now()))
  const after = { ...row, message: shown?.updates[0]?.message }
  audit({ action, target: `incident:${id}`, before, after })
  return shown ?? fail('not_found')
}

async function addUpdate(
  within: Within,
  { id, state, message, caller, at }: IncidentUpdateInput & { id: number; caller: Caller; at: number },
): Promise<void> {
  await within
    .insertInto('incident_updates')
    .values({ incident_id: id, state, message, created_by: caller.username, created_at: at })
    .execute()
}

async function withUpdates(db: Queries, rows: readonly IncidentRow[], at: number): Promise<AdminIncident[]> {
  if (rows.length === 0) return []
  const updates = await db
    .selectFrom('incident_updates')
    .selectAll()
    .where(
      'incident_id',
      'in',
      rows.map(({ id }) => id),
    )
    .orderBy('id', 'desc')
    .execute()
  return rows.map((row) =>
    adminIncident.parse({
      ...row,
      state: stateAt(row, at),
      groups: namesIn(row.groups),
      models: namesIn(row.models),
      updates: updates.filter(({ incident_id }) => incident_id === row.id),
    }),
  )
}

/** Maintenance begins and ends as planned, even if nobody writes an update. */
function stateAt({ kind, state, starts_at, ends_at }: IncidentRow, at: number): string {
  if (kind !== 'maintenance' || state === 'completed') return state
  if (at >= ends_at) return 'completed'
  return at >= starts_at ? 'in_progress' : state
}

const nameList = z.array(z.string())

function namesIn(text: string): string[] {
  return text === '' ? [] : nameList.parse(JSON.parse(text))
}

function listsOf({ groups, models }: Pick<IncidentInput, 'groups' | 'models'>): Pick<IncidentRow, 'groups' | 'models'> {
  return { groups: JSON.stringify([...new Set(groups)]), models: JSON.stringify([...new Set(models)]) }
}

type Times = Pick<IncidentInput, 'starts_at' | 'ends_at'>

function timesOf(kind: IncidentKind, { starts_at, ends_at }: Times, at: number): Times {
  const from = starts_at || at
  if (kind === 'maintenance' && ends_at <= from) invalid('ends_at', '须晚于开始时间', 'must be after the start')
  if (kind === 'incident' && from > at) invalid('starts_at', '不能在将来', 'must not be in the future')
  return { starts_at: from, ends_at: kind === 'maintenance' ? ends_at : 0 }
}

/** The time of its actual or planned end; 0 for an incident that has not ended. */
function endOf(
  kind: IncidentKind,
  { state, planned, at }: { readonly state: IncidentState; readonly planned: number; readonly at: number },
): number {
  if (isEnded(state)) return planned > 0 ? Math.min(planned, at) : at
  return kind === 'maintenance' ? planned : 0
}

function requireState(kind: IncidentKind, state: IncidentState): void {
  const allowed: readonly string[] = incidentStates[kind]
  if (!allowed.includes(state)) invalid('state', '与类型不符', 'does not belong to its kind')
}

function invalid(field: string, zh: string, en: string): never {
  throw new AppError('field_invalid', { field, reason: { zh, en } })
}
