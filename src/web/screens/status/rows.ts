import type { ServiceState, StatusModel, StatusPage } from '../../../contract/entities/status-page.ts'

/** One row of the list: a model as some or all groups of the reader have it. */
export interface StatusRow {
  readonly key: string
  readonly model: StatusModel
  /** The groups that see it so; empty when all do. */
  readonly groups: readonly string[]
}

const order: readonly ServiceState[] = ['outage', 'degraded', 'maintenance', 'operational', 'unknown']

/** A row for each model, and for each way in which groups differ about it; trouble first, then by name. */
export function statusRows(groups: StatusPage['groups']): StatusRow[] {
  const rows = new Map<string, { model: StatusModel; groups: string[] }>()
  for (const { name, models } of groups) {
    for (const model of models) {
      const key = JSON.stringify([model.name, model.state, model.share, model.days, model.vendors])
      const row = rows.get(key) ?? { model, groups: [] }
      row.groups.push(name)
      rows.set(key, row)
    }
  }
  return [...rows]
    .map(([key, row]) => ({ key, model: row.model, groups: row.groups.length === groups.length ? [] : row.groups }))
    .sort(
      (one, other) =>
        order.indexOf(one.model.state) - order.indexOf(other.model.state) || one.model.name.localeCompare(other.model.name),
    )
}
