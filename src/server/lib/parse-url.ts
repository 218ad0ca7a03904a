/**
 * The URL of a text, undefined where it is none. `URL.canParse` is not used: in Node 20 its optimised code calls texts with letters
 * such as "ü" no URL, once it has run often enough (`parse-url.test.ts`).
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
