/** A text without any of this sign at its end. A pattern such as `/\/+$/` would count long rows of them from each sign on. */
export function withoutTrailing(text: string, sign: string): string {
  let end = text.length
  while (text[end - 1] === sign) end--
  return text.slice(0, end)
}
