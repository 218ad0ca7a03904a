/** A sentence in both languages of the product. */
export interface Text {
  readonly zh: string
  readonly en: string
}

export type Language = keyof Text

export type TextParams = Readonly<Record<string, string | number>>

/** Puts params into `{name}` places; a place without a param stays as it is. */
export function fill(text: string, params: TextParams = {}): string {
  return text.replace(/\{(\w+)\}/g, (place, name: string) => (name in params ? String(params[name]) : place))
}

/** The language that an `Accept-Language` header asks for; Chinese unless English is named first. */
export function languageOf(header: string | undefined): Language {
  return header?.trim().toLowerCase().startsWith('en') ? 'en' : 'zh'
}
