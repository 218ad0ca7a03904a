import {
  type QualityCheck,
  type QualityCheckInput,
  type QualityStanding,
  qualityCheckInput,
  qualityLimits,
  qualityQuestion,
  standingStates,
} from '../../../contract/entities/quality-check.ts'
import { countLocked, locked } from '../../base/db/locked.ts'
import type { Queries, Within } from '../../base/db/open.ts'
import { containsText, type PageOf, readPage } from '../../base/db/page.ts'
import type { Row } from '../../base/db/schema.ts'
import { fail } from '../../base/lib/failure.ts'
import { seconds } from '../../base/lib/time/clock.ts'
import { change } from '../../base/options/change.ts'
import type { Caller, Core } from '../../base/options/core.ts'

/**
 * Quality checks: admins declare which prompts the site sends to which channels, and what the answers have to be. `run-checks.ts`
 * sends them; `standing.ts` computes the state of a channel, and `departures.ts` the subjects of the alert. Nothing here changes a
 * channel.
 */

/** A check with all its settings. */
export interface SavedCheck extends QualityCheckInput {
  readonly id: number
  readonly revision: number
}

export async function listChecks(
  { db }: Core,
  { keyword, page }: { keyword: string; page: PageOf },
): Promise<{ items: QualityCheck[]; total: number }> {
  const matching = db
    .selectFrom('quality_checks')
    .selectAll()
    .$if(keyword !== '', (query) => query.where(containsText('name', keyword)))
  const { rows, total } = await readPage(matching.orderBy('name').orderBy('id'), page)
  return { items: await present(db, rows), total }
}

/** Throws `not_found`. */
export async function findCheck({ db }: Core, id: number): Promise<QualityCheck> {
  const [check] = await present(db, await db.selectFrom('quality_checks').selectAll().where('id', '=', id).execute())
  return check ?? fail('not_found')
}

/** Throws `quality_checks_too_many`. */
export async function createCheck(
  core: Core,
  { caller, input }: { caller: Caller; input: QualityCheckInput },
): Promise<QualityCheck> {
  const id = await change(core, caller, async (within, audit) => {
    const kept = await countLocked(core, within, 'quality_checks')
    if (kept >= qualityLimits.checksMax) fail('quality_checks_too_many', { max: qualityLimits.checksMax })
    const now = seconds(core.now())
    const { id } = await within
      .insertInto('quality_checks')
      .values({ ...columnsOf(input), next_run_at: now, created_by: caller.username, created_at: now })
      .returning('id')
      .executeTakeFirstOrThrow()
    audit({ action: 'quality_check.create', target: targetOf(id), after: input })
    return id
  })
  return findCheck(core, id)
}

/** A changed question begins a new history. A run in progress ends. Throws `not_found`. */
export async function changeCheck(
  core: Core,
  { caller, id, input }: { caller: Caller; id: number; input: QualityCheckInput },
): Promise<QualityCheck> {
  await change(core, caller, async (within, audit) => {
    const row = await findRow(core, within, id)
    const before = savedCheck(row)
    const isOther = columnsOf(before).question !== columnsOf(input).question
    const next = row.last_run_at + input.interval_minutes * 60
    await within
      .updateTable('quality_checks')
      .set({
        ...columnsOf(input),
        ...{ revision: row.revision + Number(isOther), run_at: 0, last_skipped: 0, last_skip_code: '' },
        next_run_at: isOther ? seconds(core.now()) : next,
      })
      .where('id', '=', id)
      .execute()
    if (isOther) await within.deleteFrom('quality_standings').where('check_id', '=', id).execute()
    audit({ action: 'quality_check.update', target: targetOf(id), before: settingsOf(before), after: input })
  })
  return findCheck(core, id)
}

/** Throws `not_found`. */
export function switchCheck(
  core: Core,
  { caller, id, enabled }: { caller: Caller; id: number; enabled: boolean },
): Promise<null> {
  return change(core, caller, async (within, audit) => {
    await findRow(core, within, id)
    const stopped = enabled ? {} : { run_at: 0, is_requested: 0 }
    await within
      .updateTable('quality_checks')
      .set({ enabled: Number(enabled), ...stopped })
      .where('id', '=', id)
      .execute()
    audit({ action: enabled ? 'quality_check.enable' : 'quality_check.disable', target: targetOf(id) })
    return null
  })
}

/** Throws `not_found`. */
export function deleteCheck(core: Core, { caller, id }: { caller: Caller; id: number }): Promise<null> {
  return change(core, caller, async (within, audit) => {
    const row = await findRow(core, within, id)
    await within.deleteFrom('quality_standings').where('check_id', '=', id).execute()
    await within.deleteFrom('quality_results').where('check_id', '=', id).execute()
    await within.deleteFrom('quality_checks').where('id', '=', id).execute()
    audit({ action: 'quality_check.delete', target: targetOf(id), before: settingsOf(savedCheck(row)) })
    return null
  })
}

/** Requests a run of the check, whether or not its schedule is enabled. Throws `not_found`, `quality_checks_off`. */
export async function requestRun(core: Core, { caller, id }: { caller: Caller; id: number }): Promise<void> {
  if (core.options.current.QualityCheckDailyQuota === 0) fail('quality_checks_off')
  await change(core, caller, async (within, audit) => {
    await findRow(core, within, id)
    await within.updateTable('quality_checks').set({ is_requested: 1 }).where('id', '=', id).execute()
    audit({ action: 'quality_check.run', target: targetOf(id) })
  })
}

/** The check of a row. Throws if its JSON is not what `columnsOf` writes. */
export function savedCheck({ id, name, enabled, settings, question, revision }: Row<'quality_checks'>): SavedCheck {
  const given = { ...JSON.parse(settings), ...JSON.parse(question), name, enabled: enabled === 1 }
  return { ...qualityCheckInput.parse(given), id, revision }
}

function columnsOf({ name, enabled, ...input }: QualityCheckInput) {
  const { models, channels, interval_minutes, samples, window_runs, threshold, drop } = input
  return {
    name,
    enabled: Number(enabled),
    settings: JSON.stringify({ models, channels, interval_minutes, samples, window_runs, threshold, drop }),
    question: JSON.stringify(qualityQuestion.parse(input)),
  }
}

async function present(db: Queries, rows: readonly Row<'quality_checks'>[]): Promise<QualityCheck[]> {
  const standings = await readStandings(
    db,
    rows.map(({ id }) => id),
  )
  return rows.map((row) => {
    const { revision: _, ...check } = savedCheck(row)
    const { created_by, created_at, last_run_at, next_run_at, last_skipped, last_skip_code } = row
    return {
      ...check,
      ...{ created_by, created_at, last_run_at, next_run_at, last_skipped, last_skip_code },
      is_running: row.run_at > 0 || row.is_requested === 1,
      standings: standings.get(row.id) ?? [],
    }
  })
}

async function readStandings(db: Queries, ids: readonly number[]): Promise<Map<number, QualityStanding[]>> {
  const rows = await db
    .selectFrom('quality_standings')
    .leftJoin('channels', 'channels.id', 'quality_standings.channel_id')
    .selectAll('quality_standings')
    .select('channels.name')
    .where('check_id', 'in', [0, ...ids])
    .orderBy('model')
    .orderBy('channel_id')
    .execute()
  const byCheck = new Map<number, QualityStanding[]>()
  for (const { check_id, name, state, ...row } of rows) {
    const known = standingStates.find((each) => each === state) ?? 'waiting'
    byCheck.set(check_id, [...(byCheck.get(check_id) ?? []), { ...row, state: known, channel_name: name ?? '' }])
  }
  return byCheck
}

/** The settings of a check as the audit log has them. */
function settingsOf({ id: _id, revision: _revision, ...settings }: SavedCheck): QualityCheckInput {
  return settings
}

async function findRow(core: Core, within: Within, id: number): Promise<Row<'quality_checks'>> {
  const row = await locked(core, within.selectFrom('quality_checks').selectAll().where('id', '=', id)).executeTakeFirst()
  return row ?? fail('not_found')
}

function targetOf(id: number): string {
  return `quality_check:${id}`
}
