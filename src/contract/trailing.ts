/**
 * Removes every occurrence of a character at the end of a text. A pattern such as `/\/+$/` takes quadratic time on long runs of it.
 */
export function withoutTrailing(text: string, sign: string): string {
  let end = text.length
  while (text[end - 1] === sign) end--
  return text.slice(0, end)
}
