/**
 * How letters are compared with listed words: lower case, full and half width and other compatibility forms as the plain letter,
 * what nobody sees (zero-width characters, soft hyphens, direction marks, control characters) not at all.
 */
export function foldText(text: string): string {
  let folded = ''
  for (const character of text) folded += foldCodePoint(character.codePointAt(0) ?? 0)
  return folded
}

export function foldCodePoint(point: number): string {
  return String.fromCodePoint(point).normalize('NFKC').toLowerCase().normalize('NFKC').replace(unseen, '')
}

const unseen = /[\p{Default_Ignorable_Code_Point}\p{Cf}]|(?![\t\n\r])\p{Cc}/gu

/** `foldUnit` says this of what folds to nothing, and of what takes `foldCodePoint` to fold. Nothing folds to these two. */
export const noUnits = 1
export const severalUnits = 2

/** The one unit that a unit of a text folds to, quickly, or one of the two marks. */
export function foldUnit(unit: number): number {
  const known = units[unit] ?? 0
  if (known !== 0) return known
  const folded = isHalf(unit) ? 'several' : foldCodePoint(unit)
  const told = folded === '' ? noUnits : folded.length === 1 ? folded.charCodeAt(0) : severalUnits
  units[unit] = told
  return told
}

const units = new Uint16Array(0x10000)

/** Half of a character beyond U+FFFF. */
function isHalf(unit: number): boolean {
  return unit >= 0xd800 && unit < 0xe000
}
