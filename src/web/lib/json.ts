/** The value of a text of JSON; undefined when it is none, which no JSON says. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export function isJson(text: string): boolean {
  return parseJson(text) !== undefined
}

/** A JSON object, and so no list. */
export function isJsonObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
