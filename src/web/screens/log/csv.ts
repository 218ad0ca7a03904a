import { logTypeLabels } from '../../../contract/entities/log.ts'
import { droppedFields, durationMs, type LogRow, triedChannels } from './factors.ts'

/** The rows as CSV for spreadsheets: English column names, ISO times, amounts in units and dollars. */
export function csvOf(rows: readonly LogRow[], perUsd: number): string {
  const lines = rows.map((row) => columns.map(([, value]) => cell(value(row, perUsd))).join(','))
  return [columns.map(([name]) => name).join(','), ...lines, ''].join('\r\n')
}

type Value = string | number | boolean | undefined

const columns: readonly (readonly [name: string, value: (row: LogRow, perUsd: number) => Value])[] = [
  ['time', (row) => new Date(row.created_at * 1000).toISOString()],
  ['type', (row) => logTypeLabels[row.type]?.label.en ?? row.type],
  ['request_id', (row) => row.request_id],
  ['username', (row) => row.username],
  ['token', (row) => row.token_name],
  ['group', (row) => row.group],
  ['model', (row) => row.model_name],
  ['upstream_model', (row) => row.factors.upstream_model_name],
  ['upstream_format', (row) => row.factors.upstream_format],
  ['dropped_fields', (row) => droppedFields(row.factors).join(' ')],
  ['channel', (row) => row.channel || undefined],
  ['channels_tried', (row) => triedChannels(row.factors).join(' ')],
  ['stream', (row) => row.is_stream],
  ['duration_ms', durationMs],
  ['first_token_ms', (row) => row.factors.frt],
  ['prompt_tokens', (row) => row.prompt_tokens],
  ['cached_tokens', (row) => row.factors.cache_tokens],
  ['completion_tokens', (row) => row.completion_tokens],
  ['quota', (row) => row.quota],
  ['usd', (row, perUsd) => (row.quota / (row.factors.quota_per_unit ?? perUsd)).toFixed(6)],
  ['content', (row) => row.content],
]

/** Quoted where needed. A text that a spreadsheet would take for a formula is made plain text. */
function cell(value: Value): string {
  if (typeof value === 'number') return String(value)
  const text = String(value ?? '')
  const plain = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain
}

/** Hands a text to the browser as a file. The mark at its beginning tells spreadsheets that it is UTF-8. */
export function download(name: string, text: string): void {
  const address = URL.createObjectURL(new Blob([`\uFEFF${text}`], { type: 'text/csv;charset=utf-8' }))
  const link = Object.assign(document.createElement('a'), { href: address, download: name })
  link.click()
  setTimeout(() => URL.revokeObjectURL(address))
}
