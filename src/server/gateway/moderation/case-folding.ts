/**
 * Case folding for the comparison with listed words: to lower case, compatibility forms (full and half width) to the plain letter, and
 * without invisible characters (zero-width, soft hyphens, direction marks, control characters).
 */
export function foldCase(text: string): string {
  let folded = ''
  for (const character of text) folded += foldCodePoint(character.codePointAt(0) ?? 0)
  return folded
}

export function foldCodePoint(point: number): string {
  return String.fromCodePoint(point).normalize('NFKC').toLowerCase().normalize('NFKC').replace(unseen, '')
}

const unseen = /[\p{Default_Ignorable_Code_Point}\p{Cf}]|(?![\t\n\r])\p{Cc}/gu

/** Results of `foldUnit` for a unit that folds to nothing, and for one that needs `foldCodePoint`. No unit folds to these values. */
export const noUnits = 1
export const severalUnits = 2

/** The single UTF-16 unit that a unit folds to, from a table, or one of the two values above. */
export function foldUnit(unit: number): number {
  const known = units[unit] ?? 0
  if (known !== 0) return known
  const folded = isHalf(unit) ? 'several' : foldCodePoint(unit)
  const told = folded === '' ? noUnits : folded.length === 1 ? folded.charCodeAt(0) : severalUnits
  units[unit] = told
  return told
}

const units = new Uint16Array(0x10000)

/** Whether the unit is one surrogate of a character beyond U+FFFF. */
function isHalf(unit: number): boolean {
  return unit >= 0xd800 && unit < 0xe000
}
