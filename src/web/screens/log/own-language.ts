import type { Language } from '../../../contract/text.ts'

const between = ' / '
const chinese = /\p{Script=Han}/u
// A reason in Chinese may follow.
const english = /^[^\p{L}]*[A-Za-z]/u

/**
 * The half of a row's text in the reader's language. The server writes `中文 / English`, with names and reasons in both halves; other
 * texts are shown as they are.
 */
export function inOwnLanguage(text: string, language: Language): string {
  const parts = text.split(between)
  const half = parts.length / 2
  const [zh, en] = [parts.slice(0, half).join(between), parts.slice(half).join(between)]
  if (!Number.isInteger(half) || !chinese.test(zh) || !english.test(en)) return text
  return language === 'zh' ? zh : en
}
