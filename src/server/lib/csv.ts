/** Lines of comma separated values as RFC 4180 has them. A text that a spreadsheet would take for a formula becomes one that it shows. */
export function csvLine(fields: readonly (string | number)[]): string {
  return `${fields.map(field).join(',')}\r\n`
}

/** Unix seconds as UTC, `2026-01-02T03:04:05Z`. */
export function csvTime(unixSeconds: number): string {
  return new Date(unixSeconds * 1000).toISOString().replace('.000Z', 'Z')
}

function field(value: string | number): string {
  if (typeof value === 'number') return String(value)
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
