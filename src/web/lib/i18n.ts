import i18next, { type TOptions } from 'i18next'
import { initReactI18next, useTranslation } from 'react-i18next'
import { fill, type Language, type Text, type TextParams } from '../../contract/text.ts'
import { storedText } from './stored.ts'

/** Interface texts: i18next with Chinese as the default, the choice kept as `i18nextLng`. */

const choice = storedText('i18nextLng', 'zh')

export const languages: readonly { value: Language; name: string; locale: string }[] = [
  { value: 'zh', name: '中文', locale: 'zh-CN' },
  { value: 'en', name: 'English', locale: 'en' },
]

void i18next.use(initReactI18next).init({
  lng: languageFrom(choice.read()),
  fallbackLng: 'zh',
  resources: {},
  // Params stand in single braces, as in the contract; React escapes what it draws.
  interpolation: { prefix: '{', suffix: '}', escapeValue: false },
  react: { useSuspense: false },
})
markDocument()

function languageFrom(text: string): Language {
  return text.toLowerCase().startsWith('en') ? 'en' : 'zh'
}

function markDocument(): void {
  document.documentElement.lang = languages.find(({ value }) => value === currentLanguage())?.locale ?? 'zh-CN'
}

export function currentLanguage(): Language {
  return languageFrom(i18next.language)
}

export async function changeLanguage(language: Language): Promise<void> {
  choice.write(language)
  await i18next.changeLanguage(language)
  markDocument()
}

/** The registered texts of one screen or part; made by `defineTexts`. */
export interface Texts<Key extends string> {
  readonly namespace: string
  readonly keys: Readonly<Record<Key, string>>
}

/** Registers the texts of a screen. A key that one language lacks does not compile. */
export function defineTexts<const Key extends string>(
  namespace: string,
  { zh, en }: { readonly zh: Readonly<Record<Key, string>>; readonly en: Readonly<Record<NoInfer<Key>, string>> },
): Texts<Key> {
  i18next.addResourceBundle('zh', namespace, zh)
  i18next.addResourceBundle('en', namespace, en)
  return { namespace, keys: zh }
}

export type Say<Key extends string> = (key: Key, params?: TextParams) => string

/** The texts in the current language: `const say = useText(texts)`, then `say('title')` or `say('more', { count: 3 })`. */
export function useText<Key extends string>(texts: Texts<Key>): Say<Key> {
  const { t } = useTranslation(texts.namespace)
  return (key: string, params) => t(key, options(params))
}

/** The same outside of React, for messages. */
export function textOf<Key extends string>(texts: Texts<Key>, key: Key, params?: TextParams): string {
  const name: string = key
  return i18next.t(name, { ns: texts.namespace, ...options(params) })
}

// Keys and namespaces are plain words: nothing in them is a separator.
function options(params: TextParams | undefined): TOptions {
  return { keySeparator: false, nsSeparator: false, ...params }
}

/** Draws the texts that the contract carries itself: labels of enums, options, errors. */
export function useLocal(): (text: Text, params?: TextParams) => string {
  const { i18n } = useTranslation()
  const language = languageFrom(i18n.language)
  return (text, params) => fill(text[language], params)
}

export function localOf(text: Text, params?: TextParams): string {
  return fill(text[currentLanguage()], params)
}

export function useLanguage(): Language {
  const { i18n } = useTranslation()
  return languageFrom(i18n.language)
}
