import { alertRuleIds, alertRuleText } from '../../../contract/entities/alert.ts'
import type { OverviewMark } from '../../../contract/entities/call-statistics.ts'
import type { Text } from '../../../contract/text.ts'
import type { Queries } from '../../base/db/open.ts'

const eachMax = 50

/** What began in a span of unix seconds: incidents, alerts, and the nodes that run now, once for each version. Oldest first. */
export async function readMarks(db: Queries, { from, to }: { from: number; to: number }): Promise<OverviewMark[]> {
  const incidents = await db
    .selectFrom('incidents')
    .select(['id', 'starts_at', 'title'])
    .where('starts_at', '>=', from)
    .where('starts_at', '<=', to)
    .orderBy('starts_at', 'desc')
    .limit(eachMax)
    .execute()
  const alerts = await db
    .selectFrom('alerts')
    .select(['id', 'rule', 'subject', 'name', 'fired_at'])
    .where('fired_at', '>=', from)
    .where('fired_at', '<=', to)
    .orderBy('fired_at', 'desc')
    .limit(eachMax)
    .execute()
  const versions = await db
    .selectFrom('nodes')
    .select('version')
    .select(({ fn }) => fn.min('started_at').as('started_at'))
    .groupBy('version')
    .execute()
  const marks: OverviewMark[] = [
    ...incidents.map(({ id, starts_at: at, title }) => ({ kind: 'incident' as const, id: String(id), at, text: same(title) })),
    ...alerts.map(({ id, fired_at: at, ...alert }) => ({ kind: 'alert' as const, id: String(id), at, text: textOfAlert(alert) })),
    ...versions
      .filter(({ started_at }) => started_at >= from && started_at <= to)
      .map(({ version, started_at: at }) => ({ kind: 'start' as const, id: version, at, text: same(version) })),
  ]
  return marks.sort((one, other) => one.at - other.at)
}

/** `Slow channel: Vendor A` */
function textOfAlert({ rule, subject, name }: { rule: string; subject: string; name: string }): Text {
  const known = alertRuleIds.find((id) => id === rule)
  const what = name || subject
  if (!known) return same(what)
  const { zh, en } = alertRuleText(known).label
  return { zh: `${zh}：${what}`, en: `${en}: ${what}` }
}

const same = (text: string): Text => ({ zh: text, en: text })
