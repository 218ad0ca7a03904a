/** A sentence in both languages of the product. */
export interface Text {
  readonly zh: string
  readonly en: string
}

export type Language = keyof Text

export type TextParams = Readonly<Record<string, string | number | Text>>

/**
 * Replaces `{name}` placeholders by params, a `Text` by its text in the given language, and `{name|word|words}` by the form of the
 * word for that number: `{count} {count|key|keys}`. A placeholder without a param stays unchanged.
 */
export function fill(text: string, params: TextParams = {}, language: Language = 'en'): string {
  return text.replace(placeholder, (place, name: string, one?: string, other?: string) => {
    const param = Object.hasOwn(params, name) ? params[name] : undefined
    if (param === undefined) return place
    if (one !== undefined && other !== undefined) return isOne(param, language) ? one : other
    return typeof param === 'object' ? param[language] : String(param)
  })
}

const placeholder = /\{(\w+)(?:\|([^|{}]*)\|([^|{}]*))?\}/g

/** The number may be formatted with thousands separators. */
function isOne(param: TextParams[string], language: Language): boolean {
  return pluralRules[language].select(Number(String(param).replaceAll(',', ''))) === 'one'
}

const pluralRules = { zh: new Intl.PluralRules('zh'), en: new Intl.PluralRules('en') } as const

/** The language that an `Accept-Language` header asks for; Chinese unless English is named first. */
export function languageOf(header: string | undefined): Language {
  return header?.trim().toLowerCase().startsWith('en') ? 'en' : 'zh'
}

/**
 * Both languages in one text, as the log and the statistics store sentences: `中文 / English`, with names and reasons in both halves;
 * a text that is the same in both is written once.
 */
export function inBothLanguages({ zh, en }: Text): string {
  return zh === en ? en : zh + between + en
}

/** The half of such a text in the reader's language. Other texts are returned unchanged. */
export function inOwnLanguage(text: string, language: Language): string {
  const parts = text.split(between)
  const half = parts.length / 2
  const [zh, en] = [parts.slice(0, half).join(between), parts.slice(half).join(between)]
  if (!Number.isInteger(half) || !chinese.test(zh) || !english.test(en)) return text
  return language === 'zh' ? zh : en
}

const between = ' / '
const chinese = /\p{Script=Han}/u
// Only the beginning is tested: a reason in Chinese may follow.
const english = /^[^\p{L}]*[A-Za-z]/u
