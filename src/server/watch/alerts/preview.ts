import { type Alert, type AlertPreview, type AlertRuleId, alertParams } from '../../../contract/entities/alert.ts'
import type { DeliveryAnswer } from '../../../contract/entities/destination.ts'
import { seconds } from '../../base/lib/time/clock.ts'
import { sendOnce } from '../../people/notify/send-deliveries.ts'
import { newMessage } from '../../usage/log/record-event.ts'
import type { App } from '../parts.ts'
import { isBeyond, isInScope, thresholdOf } from './evaluate.ts'
import { alertMessage } from './messages.ts'
import { ruleSources } from './rules.ts'
import { readRules, settingsOf } from './settings.ts'

const previewSeconds = 7 * 86_400
const listedMax = 50

interface Previewed {
  readonly rule: AlertRuleId
  readonly params: Readonly<Record<string, number>>
  readonly scope: readonly string[]
  readonly signal: AbortSignal
}

/** How often a rule with these settings would have fired in the last seven days. */
export async function previewRule(app: App, { rule, params: given, scope, signal }: Previewed): Promise<AlertPreview> {
  const to = seconds(app.now())
  const params = alertParams(rule, given)
  const source = ruleSources[rule]
  const measured = await source.past(app, { params, scope, signal, from: to - previewSeconds, to })
  const beyond = measured.filter((one) => isInScope(one, scope) && isBeyond(rule, params, one.value))
  const firings: AlertPreview['firings'] = []
  const last = new Map<string, AlertPreview['firings'][number]>()
  for (const { subject, name, value, from, to: end } of beyond.toSorted((one, other) => one.from - other.from)) {
    const before = last.get(subject)
    // An alert that continues is counted once.
    if (before && before.to === from && from !== end) before.to = end
    else {
      const firing = { subject, name, from, to: end, value }
      last.set(subject, firing)
      firings.push(firing)
    }
  }
  const since = measured.reduce((first, { from }) => Math.min(first, from), source.isWhole ? 0 : Number.POSITIVE_INFINITY)
  return {
    count: firings.length,
    firings: firings
      .toReversed()
      .slice(0, listedMax)
      .map((one) => ({ ...one, to: Math.min(one.to, to) })),
    since: Number.isFinite(since) ? Math.max(since, to - previewSeconds) : 0,
  }
}

/** Sends a test alert of a rule to its destinations at once, and returns the result of each. */
export async function testRule(app: App, rule: AlertRuleId): Promise<(DeliveryAnswer & { readonly destination_id: number })[]> {
  const { destinations, params } = settingsOf(await readRules(app.db), rule)
  const threshold = thresholdOf(rule, params)
  const sample: Alert = {
    ...{ id: 0, rule, subject: 'test', name: 'test', value: threshold === 0 ? 1 : threshold, threshold, note: '' },
    ...{ fired_at: seconds(app.now()), resolved_at: 0, notified_at: 0, messages: 0 },
  }
  const message = newMessage(app, alertMessage(rule, 'test', [sample]))
  const known = await app.db
    .selectFrom('destinations')
    .select('id')
    .where('id', 'in', [0, ...destinations])
    .where('organisation_id', '=', 0)
    .execute()
  return Promise.all(known.map(async ({ id }) => ({ destination_id: id, ...(await sendOnce(app, message, id)) })))
}
