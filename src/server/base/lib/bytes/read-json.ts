/** The value of a JSON text; undefined for any other text. */
export function readJson(text: string | Buffer): unknown {
  try {
    return JSON.parse(typeof text === 'string' ? text : text.toString('utf8'))
  } catch {
    return undefined
  }
}

/** Whether a value of JSON is an object: no list, and not null. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
