const unseen = /[\p{Cc}\p{Cf}\p{Cs}\p{Z}\p{Default_Ignorable_Code_Point}]/gu

/** A name as it is kept: in one form, on one line, without spaces around it; '' for one in which there is nothing to see. */
export function nameText(given: string): string {
  const name = given
    .normalize('NFC')
    .replace(/\p{Cc}/gu, ' ')
    .trim()
  return name.replace(unseen, '') === '' ? '' : name
}
