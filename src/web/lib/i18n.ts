import { fill, type Language, type Text, type TextParams } from '../../contract/text.ts'
import { storedText } from './stored.ts'

/** Interface texts, in Chinese unless English is selected; the choice is stored as `i18nextLng`, the key that other programs read. */

const choice = storedText('i18nextLng', 'zh')

export const languages: readonly { value: Language; name: string; locale: string }[] = [
  { value: 'zh', name: '中文', locale: 'zh-CN' },
  { value: 'en', name: 'English', locale: 'en' },
]

markDocument()
// The choice may be made in another tab.
window.addEventListener('storage', markDocument)

function languageFrom(text: string): Language {
  return text.toLowerCase().startsWith('en') ? 'en' : 'zh'
}

function markDocument(): void {
  document.documentElement.lang = languages.find(({ value }) => value === currentLanguage())?.locale ?? 'zh-CN'
}

export function currentLanguage(): Language {
  return languageFrom(choice.read())
}

export function useLanguage(): Language {
  return languageFrom(choice.use())
}

export function changeLanguage(language: Language): void {
  choice.write(language)
  markDocument()
}

/** The texts of one screen or part; made by `defineTexts`. */
export type Texts<Key extends string> = Readonly<Record<Language, Readonly<Record<Key, string>>>>

/** The texts of a screen. A key that one language lacks does not compile. */
export function defineTexts<const Key extends string>(texts: {
  readonly zh: Readonly<Record<Key, string>>
  readonly en: Readonly<Record<NoInfer<Key>, string>>
}): Texts<Key> {
  return texts
}

export type Say<Key extends string> = (key: Key, params?: TextParams) => string

/** The texts in the current language: `const say = useText(texts)`, then `say('title')` or `say('more', { count: 3 })`. */
export function useText<Key extends string>(texts: Texts<Key>): Say<Key> {
  const language = useLanguage()
  return (key, params) => fill(texts[language][key], params, language)
}

/** A text in the current language outside of React, for messages. */
export function textOf<Key extends string>(texts: Texts<Key>, key: Key, params?: TextParams): string {
  const language = currentLanguage()
  return fill(texts[language][key], params, language)
}

/** Returns texts of the contract in the current language: labels of enums, options, errors. */
export function useLocal(): (text: Text, params?: TextParams) => string {
  const language = useLanguage()
  return (text, params) => fill(text[language], params, language)
}

export function localOf(text: Text, params?: TextParams): string {
  const language = currentLanguage()
  return fill(text[language], params, language)
}
