/** Comma separated values (RFC 4180), for spreadsheets. */

/** Lines as a file. The byte order mark marks it as UTF-8. */
export function csvText(lines: readonly (readonly (string | number)[])[]): string {
  return `\uFEFF${lines.map(csvLine).join('')}`
}

/** A text that a spreadsheet would evaluate as a formula is escaped; a negative amount is none. */
export function csvLine(fields: readonly (string | number)[]): string {
  return `${fields.map(field).join(',')}\r\n`
}

function field(value: string | number): string {
  const text = String(value)
  const plain = /^[=+\-@\t\r]/.test(text) && !isNumber(text) ? `'${text}` : text
  return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain
}

function isNumber(text: string): boolean {
  return /^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i.test(text)
}
