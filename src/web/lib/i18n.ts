import { useSyncExternalStore } from 'react'
import { fill, type Language, type Text, type TextParams } from '../../contract/text.ts'
import { storedText } from './stored.ts'

/**
 * Interface texts, in Chinese unless another language is selected; the choice is stored as `i18nextLng`, the key that other programs
 * read. Every text has Chinese and English. A further language is an overlay of one of the two: a folder of src/web/lib/languages with the
 * texts that users see, by the text of its base. Where it has none, and in what the server says, its base is shown.
 */
type Overlay = Readonly<Record<string, string>>

interface ConsoleLanguage {
  readonly value: string
  readonly name: string
  readonly locale: string
  readonly base: Language
  readonly load?: () => Promise<{ default: Overlay }>
}

const chinese: ConsoleLanguage = { value: 'zh', name: '中文', locale: 'zh-CN', base: 'zh' }

export const languages: readonly ConsoleLanguage[] = [
  chinese,
  { value: 'en', name: 'English', locale: 'en', base: 'en' },
  { value: 'zh-Hant', name: '繁體中文', locale: 'zh-TW', base: 'zh', load: () => import('./languages/zh-hant/index.ts') },
  { value: 'ja', name: '日本語', locale: 'ja', base: 'en', load: () => import('./languages/ja/index.ts') },
]

/** Names of traditional Chinese that other programs store. */
const traditional = /^zh-(hant|tw|hk|mo)\b/

const choice = storedText('i18nextLng', 'zh')
const overlays = new Map<string, Overlay>()
const listeners = new Set<() => void>()
/** What is shown: the choice, as soon as its texts are loaded. */
let shown = chinese

/** Fulfilled when the texts of the chosen language are there. */
export const languageReady = showChosen()
// The choice may be made in another tab.
window.addEventListener('storage', () => void showChosen())

function languageFrom(text: string): ConsoleLanguage {
  const named = text.toLowerCase()
  const value = traditional.test(named) ? 'zh-Hant' : (/^[a-z]+/.exec(named)?.[0] ?? '')
  return languages.find((language) => language.value === value) ?? chinese
}

/** Without its texts, a language is shown as its base. */
async function showChosen(): Promise<void> {
  const language = languageFrom(choice.read())
  if (language.load && !overlays.has(language.value)) {
    const loaded = await language.load().catch(() => undefined)
    if (loaded) overlays.set(language.value, loaded.default)
    if (languageFrom(choice.read()) !== language) return
  }
  shown = language
  document.documentElement.lang = language.locale
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export function useConsoleLanguage(): ConsoleLanguage {
  return useSyncExternalStore(subscribe, () => shown)
}

/** The language of what the server says: Chinese or English. */
export function currentLanguage(): Language {
  return shown.base
}

export function useLanguage(): Language {
  return useConsoleLanguage().base
}

export function changeLanguage(value: string): void {
  choice.write(value)
  void showChosen()
}

/** The texts of one screen or part, each in Chinese and in English; made by `defineTexts`. */
type Texts<Key extends string> = Readonly<Record<Key, readonly [zh: string, en: string]>>

/**
 * The texts of a screen: `defineTexts({ title: ['令牌', 'Tokens'] })`. A text that lacks one of the two languages does not compile.
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
  const language = useConsoleLanguage()
  return (text, params) => textIn(language, text, params)
}

export function localOf(text: Text, params?: TextParams): string {
  return textIn(shown, text, params)
}

function textIn(language: ConsoleLanguage, text: Text, params: TextParams = {}): string {
  const { base, value } = language
  const overlay = overlays.get(value)
  if (!overlay) return fill(text[base], params, base)
  const said = Object.entries(params).map(([name, param]) => [name, typeof param === 'object' ? textIn(language, param) : param])
  return fill(overlay[text[base]] ?? text[base], Object.fromEntries(said), base)
}
