/** The URL of a text, or undefined when it is not a URL. */
export function parseUrl(text: string, base?: string): URL | undefined {
  return URL.parse(text, base) ?? undefined
}

/** Decodes percent-escapes; a text with malformed ones stays as it is. */
export function decodeComponent(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
