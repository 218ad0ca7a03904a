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

/** The texts of one screen or part, each in Chinese and in English; made by `defineTexts`. */
type Texts<Key extends string> = Readonly<Record<Key, readonly [zh: string, en: string]>>

/**
 * The texts of a screen: `defineTexts({ title: ['令牌', 'Tokens'] })`. A text that lacks one of the two languages does not compile.
 * Only `translations` reads the pairs, so that further languages can be overlays of the same keys.
 */
export function defineTexts<const Key extends string>(texts: Texts<Key>): Texts<Key> {
  return texts
}

function translations<Key extends string>(texts: Texts<Key>, key: Key): Text {
  const [zh, en] = texts[key]
  return { zh, en }
}

export type Say<Key extends string> = (key: Key, params?: TextParams) => string

/** The texts in the current language: `const say = useText(texts)`, then `say('title')` or `say('more', { count: 3 })`. */
export function useText<Key extends string>(texts: Texts<Key>): Say<Key> {
  const local = useLocal()
  return (key, params) => local(translations(texts, key), params)
}

/** A text in the current language outside of React, for messages. */
export function textOf<Key extends string>(texts: Texts<Key>, key: Key, params?: TextParams): string {
  return localOf(translations(texts, key), params)
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
