/** A sentence in both languages of the product. */
export interface Text {
  readonly zh: string
  readonly en: string
}

export type Language = keyof Text

export type TextParams = Readonly<Record<string, string | number | Text>>

/** Replaces `{name}` placeholders by params, a `Text` by its text in the given language; a placeholder without a param stays unchanged. */
export function fill(text: string, params: TextParams = {}, language: Language = 'en'): string {
  return text.replace(/\{(\w+)\}/g, (place, name: string) => {
    const param = Object.hasOwn(params, name) ? params[name] : undefined
    if (param === undefined) return place
    return typeof param === 'object' ? param[language] : String(param)
  })
}

/** The language that an `Accept-Language` header asks for; Chinese unless English is named first. */
export function languageOf(header: string | undefined): Language {
  return header?.trim().toLowerCase().startsWith('en') ? 'en' : 'zh'
}
