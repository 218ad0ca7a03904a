import type { z } from 'zod'
import {
  type Alert,
  type AlertRule,
  type AlertRuleId,
  type AlertRuleInput,
  type AlertSilence,
  alert,
  alertParams,
  alertRuleIds,
  alertRuleInput,
  alertRuleText,
  type alertSilenceInput,
  repeatSecondsDefault,
} from '../../../contract/entities/alert.ts'
import type { Queries } from '../../base/db/open.ts'
import { type PageOf, readPage } from '../../base/db/page.ts'
import { fail } from '../../base/lib/failure.ts'
import { seconds } from '../../base/lib/time/clock.ts'
import { change } from '../../base/options/change.ts'
import type { Caller, Core } from '../../base/options/core.ts'

/** The settings of alert rules, the silences, and the history of alerts. */
export async function listRules(core: Core): Promise<AlertRule[]> {
  const settings = await readRules(core.db)
  const firing = await core.db
    .selectFrom('alerts')
    .selectAll()
    .where('resolved_at', '=', 0)
    .orderBy('id', 'desc')
    .limit(1000)
    .execute()
  return alertRuleIds.map((rule) => ({
    rule,
    ...settingsOf(settings, rule),
    firing: firing.filter((row) => row.rule === rule).map((row) => alert.parse(row)),
  }))
}

export async function saveRule(
  core: Core,
  { caller, rule, input }: { caller: Caller; rule: AlertRuleId; input: AlertRuleInput },
): Promise<null> {
  const { enabled, params, scope, destinations, repeat_seconds, notify_recovery } = input
  const row = {
    enabled: Number(enabled),
    params: JSON.stringify(alertParams(rule, params)),
    scope: JSON.stringify(scope),
    destinations: JSON.stringify(destinations),
    repeat_seconds,
    notify_recovery: Number(notify_recovery),
  }
  return change(core, caller, async (within, audit) => {
    const before = settingsOf(await readRules(within), rule)
    await within
      .insertInto('alert_rules')
      .values({ rule, ...row })
      .onConflict((conflict) => conflict.column('rule').doUpdateSet(row))
      .execute()
    // The open alerts of a disabled rule end.
    if (!enabled)
      await within
        .updateTable('alerts')
        .set({ resolved_at: seconds(core.now()) })
        .where('rule', '=', rule)
        .where('resolved_at', '=', 0)
        .execute()
    audit({ action: 'alert.rule', target: `alert:${rule}`, before, after: settingsOf(await readRules(within), rule) })
    return null
  })
}

type RuleSettings = ReadonlyMap<string, AlertRuleInput>

export async function readRules(db: Queries): Promise<RuleSettings> {
  const rows = await db.selectFrom('alert_rules').selectAll().execute()
  return new Map(
    rows.map(({ rule, enabled, params, scope, destinations, repeat_seconds, notify_recovery }) => [
      rule,
      alertRuleInput.parse({
        enabled: enabled === 1,
        params: JSON.parse(params),
        scope: JSON.parse(scope),
        destinations: JSON.parse(destinations),
        repeat_seconds,
        notify_recovery: notify_recovery === 1,
      }),
    ]),
  )
}

/** The defaults of a rule without settings: disabled. */
export function settingsOf(rules: RuleSettings, rule: AlertRuleId): AlertRuleInput {
  const saved = rules.get(rule)
  const repeat = alertRuleText(rule).isSentOnce ? 0 : repeatSecondsDefault
  const start = { enabled: false, scope: [], destinations: [], repeat_seconds: repeat, notify_recovery: true }
  return { ...start, ...saved, params: alertParams(rule, saved?.params) }
}

/** All alerts, newest first, including those that fire now. */
export async function listAlerts(
  { db }: Core,
  { rule, page }: { rule: AlertRuleId | undefined; page: PageOf },
): Promise<{ items: Alert[]; total: number }> {
  const matching = db
    .selectFrom('alerts')
    .selectAll()
    .$if(rule !== undefined, (query) => query.where('rule', '=', rule ?? ''))
  const { rows, total } = await readPage(matching.orderBy('id', 'desc'), page)
  return { items: rows.map((row) => alert.parse(row)), total }
}

type SilenceInput = z.output<typeof alertSilenceInput>

/** The silences that have not ended. */
export async function listSilences({ db, now }: Core): Promise<AlertSilence[]> {
  const rows = await db.selectFrom('alert_silences').selectAll().where('until', '>', seconds(now())).orderBy('id').execute()
  // Only `createSilence` writes this column, from the contract's enum.
  return rows.map((row) => ({ ...row, rule: row.rule as AlertSilence['rule'] }))
}

export function createSilence(core: Core, { caller, input }: { caller: Caller; input: SilenceInput }): Promise<null> {
  return change(core, caller, async (within, audit) => {
    const now = seconds(core.now())
    await within.deleteFrom('alert_silences').where('until', '<=', now).execute()
    const { id } = await within
      .insertInto('alert_silences')
      .values({ ...input, created_by: caller.username, created_at: now })
      .returning('id')
      .executeTakeFirstOrThrow()
    audit({ action: 'alert.silence', target: `silence:${id}`, after: input })
    return null
  })
}

/** Ends a silence. Throws `not_found`. */
export function deleteSilence(core: Core, { caller, id }: { caller: Caller; id: number }): Promise<null> {
  return change(core, caller, async (within, audit) => {
    const row = await within.deleteFrom('alert_silences').where('id', '=', id).returningAll().executeTakeFirst()
    if (!row) fail('not_found')
    audit({ action: 'alert.unsilence', target: `silence:${id}`, before: row })
    return null
  })
}
