/**
 * The URL of a text, or undefined when it is not a URL. `URL.canParse` is not used: in Node 20 its optimised code rejects texts
 * with letters such as "ü" once it has run often enough (`parse-url.test.ts`).
 */
export function parseUrl(text: string, base?: string): URL | undefined {
  try {
    return new URL(text, base)
  } catch {
    return undefined
  }
}

/** Decodes percent-escapes; a text with malformed ones stays as it is. */
export function decodeComponent(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
