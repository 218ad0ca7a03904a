/**
 * Lines as CSV. The mark at the beginning tells spreadsheets that it is UTF-8; a text that they would take for a formula becomes one that
 * they show.
 */
export function csvText(lines: readonly (readonly (string | number)[])[]): string {
  return `\uFEFF${lines.map((fields) => `${fields.map(field).join(',')}\r\n`).join('')}`
}

function field(value: string | number): string {
  if (typeof value === 'number') return String(value)
  const plain = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain
}
