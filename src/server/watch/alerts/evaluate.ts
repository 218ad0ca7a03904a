import {
  type Alert,
  type AlertRuleId,
  type AlertRuleInput,
  type AlertSilence,
  alert,
  alertParams,
  alertRuleIds,
  alertRuleText,
} from '../../../contract/entities/alert.ts'
import { inBothLanguages } from '../../../contract/text.ts'
import type { Within } from '../../base/db/open.ts'
import { seconds } from '../../base/lib/time/clock.ts'
import { queueMessage } from '../../people/notify/deliveries.ts'
import { newMessage } from '../../usage/log/record-event.ts'
import type { App } from '../parts.ts'
import type { Measured } from './measures.ts'
import { type AlertNews, alertMessage } from './messages.ts'
import { ruleSources } from './rules.ts'
import { listSilences, readRules, settingsOf } from './settings.ts'

const historySeconds = 90 * 86_400

interface Evaluated {
  readonly rule: AlertRuleId
  readonly settings: AlertRuleInput
  readonly threshold: number
  /** The subjects for which the rule fires. */
  readonly found: readonly Measured[]
  readonly silences: readonly AlertSilence[]
  readonly at: number
}

/**
 * Measures every enabled rule, and stores which alerts have begun, continue or have ended, with their messages in the same
 * transaction. If two nodes do it at once, each message is sent once. Returns the number of firing subjects.
 */
export async function evaluateRules(app: App, signal: AbortSignal): Promise<{ firing: number; failed: number }> {
  const rules = await readRules(app.db)
  const silences = await listSilences(app)
  const counts = { firing: 0, failed: 0 }
  for (const rule of alertRuleIds) {
    const settings = settingsOf(rules, rule)
    if (!settings.enabled || signal.aborted) continue
    try {
      const { params, scope } = settings
      const measured = await ruleSources[rule].measure(app, { params, scope, signal })
      const found = measured.filter((one) => isInScope(one, scope) && isBeyond(rule, params, one.value))
      counts.firing += found.length
      const evaluated = { rule, settings, threshold: thresholdOf(rule, params), found, silences, at: seconds(app.now()) }
      await app.db.transaction().execute((within) => note(app, within, evaluated))
    } catch (error) {
      counts.failed++
      app.logger.error({ error, rule }, 'a rule of alerts could not be evaluated')
    }
  }
  await app.db
    .deleteFrom('alerts')
    .where('resolved_at', '>', 0)
    .where('resolved_at', '<', seconds(app.now()) - historySeconds)
    .execute()
  return counts
}

/** The threshold of a rule; 0 for rules without one. */
export function thresholdOf(rule: AlertRuleId, params: Readonly<Record<string, number>>): number {
  return alertParams(rule, params).threshold ?? 0
}

export function isBeyond(rule: AlertRuleId, params: Readonly<Record<string, number>>, value: number): boolean {
  const threshold = thresholdOf(rule, params)
  return alertRuleText(rule).fires === 'above' ? value > threshold : value < threshold
}

/** Whether the value has passed one of the further steps of the rule since it was stored. */
function passesStep(
  rule: AlertRuleId,
  given: Readonly<Record<string, number>>,
  { before, now }: { readonly before: number; readonly now: number },
): boolean {
  const { steps = [], fires } = alertRuleText(rule)
  const params = alertParams(rule, given)
  return steps.some((name) => {
    const step = params[name] ?? 0
    return fires === 'below' ? before >= step && now < step : before <= step && now > step
  })
}

function noteText(note: Measured['note']): string {
  return note ? inBothLanguages(note) : ''
}

/** A scope names subjects by the id after the colon, or by their name: of `east (#5): Arithmetic` also `east`, or `east (#5)`. */
export function isInScope({ subject, name }: Measured, scope: readonly string[]): boolean {
  const id = subject.slice(subject.indexOf(':') + 1)
  const isNamed = (named: string) => named === id || named === name || [' (#', ': '].some((end) => name.startsWith(named + end))
  return scope.length === 0 || scope.some(isNamed)
}

async function note(app: App, within: Within, evaluated: Evaluated): Promise<void> {
  const { rule, settings, found, at, threshold } = evaluated
  for (const { subject, name, value, note } of found) {
    await within
      .insertInto('alerts')
      .values({ rule, subject, name, value, threshold, note: noteText(note), fired_at: at })
      .onConflict((conflict) => conflict.doNothing())
      .execute()
  }
  const rows = await within
    .selectFrom('alerts')
    .selectAll()
    .where('rule', '=', rule)
    .where('resolved_at', '=', 0)
    .orderBy('id')
    .execute()
  const values = new Map(found.map((one) => [one.subject, one]))
  const open = rows.map((row) => alert.parse(row))
  const firing = open.flatMap((row) => {
    const now = values.get(row.subject)
    const isStep = now !== undefined && passesStep(rule, settings.params, { before: row.value, now: now.value })
    return now ? [{ ...row, name: now.name, value: now.value, note: noteText(now.note), threshold, isStep }] : []
  })
  for (const { id, name, value, note } of firing) {
    const changed = { name, value, threshold, note }
    await within.updateTable('alerts').set(changed).where('id', '=', id).where('value', '<>', value).execute()
  }

  const recovered = await resolve(
    within,
    open.filter(({ subject }) => !values.has(subject)),
    at,
  )
  if (settings.destinations.length === 0) return
  const told = firing.filter((one) => !isSilenced(evaluated, one))
  const untold = told.filter(({ notified_at }) => notified_at === 0)
  await tell(app, within, evaluated, { news: 'fired', alerts: await claim(within, untold, at) })
  const { repeat_seconds: repeat } = settings
  const isDue = ({ notified_at: toldAt, isStep }: (typeof told)[number]) => isStep || (repeat > 0 && at - toldAt >= repeat)
  const due = told.filter((one) => one.notified_at > 0 && isDue(one))
  await tell(app, within, evaluated, { news: 'repeated', alerts: await claim(within, due, at) })
  const known = recovered.filter((one) => one.notified_at > 0 && !isSilenced(evaluated, one))
  if (settings.notify_recovery) await tell(app, within, evaluated, { news: 'recovered', alerts: known })
}

/** The alerts that this transaction has ended; another node may have been first. */
async function resolve(within: Within, ended: readonly Alert[], at: number): Promise<Alert[]> {
  const mine: Alert[] = []
  for (const one of ended) {
    const row = await within
      .updateTable('alerts')
      .set({ resolved_at: at })
      .where('id', '=', one.id)
      .where('resolved_at', '=', 0)
      .returning('id')
      .executeTakeFirst()
    if (row) mine.push({ ...one, resolved_at: at })
  }
  return mine
}

/** The alerts whose message this transaction sends. */
async function claim(within: Within, wanted: readonly Alert[], at: number): Promise<Alert[]> {
  const mine: Alert[] = []
  for (const one of wanted) {
    const row = await within
      .updateTable('alerts')
      .set((column) => ({ notified_at: at, messages: column('messages', '+', 1) }))
      .where('id', '=', one.id)
      .where('resolved_at', '=', 0)
      .where('notified_at', '=', one.notified_at)
      .returning('id')
      .executeTakeFirst()
    if (row) mine.push(one)
  }
  return mine
}

async function tell(
  app: App,
  within: Within,
  { rule, settings }: Evaluated,
  { news, alerts }: { readonly news: AlertNews; readonly alerts: readonly Alert[] },
): Promise<void> {
  if (alerts.length === 0) return
  await queueMessage(within, newMessage(app, alertMessage(rule, news, alerts)), settings.destinations)
}

function isSilenced({ silences }: Evaluated, { rule, subject }: Alert): boolean {
  return silences.some((one) => (one.rule === '' || one.rule === rule) && (one.subject === '' || one.subject === subject))
}
