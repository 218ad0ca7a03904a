/**
 * The columns without which a table is not that of a program of this family, although it has the name. Every table except `options` and
 * `setups` has an integer `id`, by which it is read in pages.
 */
const leastColumns: Readonly<Record<string, readonly string[]>> = {
  users: ['id', 'username', 'quota'],
  tokens: ['id', 'user_id', 'key'],
  channels: ['id', 'type', 'key'],
  options: ['key', 'value'],
  redemptions: ['id', 'key', 'quota'],
  logs: ['id', 'user_id', 'created_at', 'type'],
  quota_data: ['id', 'user_id', 'model_name', 'created_at'],
  top_ups: ['id', 'user_id', 'trade_no'],
  midjourneys: ['id', 'user_id', 'mj_id'],
  tasks: ['id', 'user_id', 'task_id'],
  setups: ['version'],
}

/** A table of a source: its columns, and whether each is of an integer type. */
export interface TableShape {
  readonly name: string
  readonly columns: ReadonlyMap<string, boolean>
}

/** Puts columns, as a catalogue lists them, together to tables. */
export function shapesOf(
  columns: Iterable<{ readonly table: string; readonly name: string; readonly isInteger: boolean }>,
): TableShape[] {
  const tables = new Map<string, Map<string, boolean>>()
  for (const { table, name, isInteger } of columns) {
    const shape = tables.get(table) ?? new Map<string, boolean>()
    tables.set(table, shape.set(name, isInteger))
  }
  return [...tables].map(([name, shape]) => ({ name, columns: shape }))
}

/** Whether a table of this name is read, if it has the columns. */
export function isRead(name: string): boolean {
  return Object.hasOwn(leastColumns, name)
}

/** Why a table is another one than its name says; undefined if it is not, or its name says nothing. */
export function strangenessOf({ name, columns }: TableShape): string | undefined {
  const least = isRead(name) ? (leastColumns[name] ?? []) : []
  const missing = least.find((column) => !columns.has(column))
  if (missing !== undefined) return `it has no column ${missing}`
  return least.includes('id') && !columns.get('id') ? 'its id is not an integer' : undefined
}
