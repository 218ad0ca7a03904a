/** The text that an event of a stream adds, in any of the four dialects; '' for an event without text. */
export function textOfEvent(event: unknown): string {
  const found = [
    at(event, 'choices', 0, 'delta', 'content'),
    at(event, 'type') === 'response.output_text.delta' ? at(event, 'delta') : undefined,
    at(event, 'delta', 'text'),
    at(event, 'candidates', 0, 'content', 'parts', 0, 'text'),
  ]
  return found.find((text) => typeof text === 'string') ?? ''
}

function at(value: unknown, ...path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>(
    (found, key) => (typeof found === 'object' && found !== null ? Reflect.get(found, key) : undefined),
    value,
  )
}
