import { isJsonObject, parseJson } from '../../lib/json.ts'

/** A value of a header for a model; the option stores models with their headers, and each header with the list of its values. */
export interface HeaderRow {
  readonly model: string
  readonly header: string
  readonly value: string
}

export const newHeader: HeaderRow = { model: '', header: '', value: '' }

/** Undefined when the text does not fit into rows, as a header without a value does not. */
export function readHeaderRows(text: string): readonly HeaderRow[] | undefined {
  if (text.trim() === '') return []
  const models = parseJson(text)
  if (!isJsonObject(models)) return undefined
  const ofModels = Object.entries(models).map(([model, headers]) => rowsOf(model, headers))
  return ofModels.every((rows) => rows !== undefined) ? ofModels.flat() : undefined
}

function rowsOf(model: string, headers: unknown): readonly HeaderRow[] | undefined {
  if (!isJsonObject(headers) || Object.keys(headers).length === 0) return undefined
  const rows = Object.entries(headers).map(([header, values]) => {
    const isList = Array.isArray(values) && values.length > 0 && values.every((value) => typeof value === 'string')
    return isList ? values.map((value): HeaderRow => ({ model, header, value })) : undefined
  })
  return rows.every((some) => some !== undefined) ? rows.flat() : undefined
}

/** Empty rows are left out. An incomplete one is written as it is, so that the schema refuses it. */
export function writeHeaderRows(rows: readonly HeaderRow[]): string {
  const models = new Map<string, Map<string, string[]>>()
  for (const { model, header, value } of rows) {
    if (model === '' && header === '' && value === '') continue
    const headers = models.get(model) ?? new Map<string, string[]>()
    models.set(model, headers.set(header, [...(headers.get(header) ?? []), value]))
  }
  const entries = [...models].map(([model, headers]) => [model, Object.fromEntries(headers)] as const)
  return JSON.stringify(Object.fromEntries(entries), null, 2)
}
