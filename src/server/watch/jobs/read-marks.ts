import { alertRuleIds, alertRuleText } from '../../../contract/entities/alert.ts'
import type { OverviewMark } from '../../../contract/entities/call-statistics.ts'
import type { Text } from '../../../contract/text.ts'
import type { Queries } from '../../base/db/open.ts'

const eachMax = 50

/** What began in a span of unix seconds: incidents, alerts, and versions of the program. Oldest first. */
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
    .select(['id', 'rule', 'subject', 'name', 'fired_at', 'resolved_at'])
    .where('fired_at', '>=', from)
    .where('fired_at', '<=', to)
    .orderBy('fired_at', 'desc')
    .limit(eachMax)
    .execute()
  const deployments = await db
    .selectFrom('deployments')
    .selectAll()
    .where('at', '>=', from)
    .where('at', '<=', to)
    .orderBy('number', 'desc')
    .limit(eachMax)
    .execute()
  const marks: OverviewMark[] = [
    ...incidents.map(({ id, starts_at, title }) => markOf('incident', { id, at: starts_at, text: same(title) })),
    ...alerts.map(({ id, fired_at: at, subject, resolved_at, ...alert }) => ({
      ...markOf('alert', { id, at, text: textOfAlert({ ...alert, subject }) }),
      ...{ subject, resolved_at },
    })),
    ...deployments.map(({ number, version, at }) => markOf('deployment', { id: number, at, text: same(version) })),
  ]
  return marks.sort((one, other) => one.at - other.at)
}

function markOf(kind: OverviewMark['kind'], { id, ...rest }: { id: number; at: number; text: Text }): OverviewMark {
  return { kind, id: String(id), ...rest, subject: '', resolved_at: 0 }
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
