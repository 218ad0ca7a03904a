const unseen = /[\p{Cc}\p{Cf}\p{Cs}\p{Z}\p{Default_Ignorable_Code_Point}]/gu

/** The stored form of a name: normalized, on one line, trimmed; '' if nothing in it is visible. */
export function nameText(given: string): string {
  const name = given
    .normalize('NFC')
    .replace(/\p{Cc}/gu, ' ')
    .trim()
  return name.replace(unseen, '') === '' ? '' : name
}
