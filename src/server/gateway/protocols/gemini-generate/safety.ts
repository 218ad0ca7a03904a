import type { JsonObject } from '../wire-format.ts'

/** The operator's threshold for each category of harm; `default` applies to the others. */
export function writeSafety(thresholds: Readonly<Record<string, string>>): JsonObject[] {
  const named = Object.keys(thresholds).filter((category) => category.startsWith('HARM_CATEGORY_'))
  return [...new Set([...categories, ...named])].flatMap((category) => {
    const threshold = thresholds[category] ?? thresholds.default
    return threshold === undefined ? [] : [{ category, threshold }]
  })
}

/** The categories for text. Source: types of the official SDK 2.32, `HarmCategory`. */
const categories = [
  'HARM_CATEGORY_HARASSMENT',
  'HARM_CATEGORY_HATE_SPEECH',
  'HARM_CATEGORY_SEXUALLY_EXPLICIT',
  'HARM_CATEGORY_DANGEROUS_CONTENT',
  'HARM_CATEGORY_CIVIC_INTEGRITY',
]
