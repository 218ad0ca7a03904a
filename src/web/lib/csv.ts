/** Lines as CSV. The byte order mark marks it as UTF-8 for spreadsheets; formulas are escaped. */
export function csvText(lines: readonly (readonly (string | number)[])[]): string {
  return `\uFEFF${lines.map((fields) => `${fields.map(field).join(',')}\r\n`).join('')}`
}

function field(value: string | number): string {
  if (typeof value === 'number') return String(value)
  const plain = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain
}
