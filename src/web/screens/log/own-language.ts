import type { Language } from '../../../contract/text.ts'

const between = ' / '
const chinese = /\p{Script=Han}/u
// A reason in Chinese may follow.
const english = /^[^\p{L}]*[A-Za-z]/u

/**
 * Of a row's text the half in the reader's language. The server writes `中文 / English`, where names and reasons stand in both halves,
 * in whatever language; what is not of that form is shown as it is.
 */
export function inOwnLanguage(text: string, language: Language): string {
  const parts = text.split(between)
  const half = parts.length / 2
  const [zh, en] = [parts.slice(0, half).join(between), parts.slice(half).join(between)]
  if (!Number.isInteger(half) || !chinese.test(zh) || !english.test(en)) return text
  return language === 'zh' ? zh : en
}
