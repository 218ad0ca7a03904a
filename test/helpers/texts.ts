/** The faults of all texts in a declaration, at any depth, one line each. A text is an object with `zh` or `en`. */
export function faultsOfTexts(declared: unknown, path: readonly string[] = []): string[] {
  if (typeof declared !== 'object' || declared === null) return []
  const entries = Object.entries(declared)
  const isText =
    entries.length > 0 && entries.every(([key, value]) => (key === 'zh' || key === 'en') && typeof value === 'string')
  if (isText) return faultsOfText(Object.fromEntries(entries), path.join('.'))
  return entries.flatMap(([key, value]) => faultsOfTexts(value, [...path, key]))
}

function faultsOfText(text: Readonly<Record<string, string>>, path: string): string[] {
  for (const language of ['zh', 'en']) {
    if (text[language] === undefined) return [`${path}: ${language} is missing`]
    if (text[language].trim() === '') return [`${path}: ${language} is empty`]
  }
  const isSame = parametersOf(text.zh) === parametersOf(text.en)
  return isSame ? [] : [`${path}: the languages name other parameters`]
}

function parametersOf(text = ''): string {
  return [...text.matchAll(/\{(\w+)\}/g)]
    .map(([place]) => place)
    .sort()
    .join(' ')
}
