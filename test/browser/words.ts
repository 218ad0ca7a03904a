import type { Page } from 'playwright-core'
import type { Language } from './stage.ts'

/**
 * Texts on the page that are not in its language: Chinese characters in English, English sentences in Chinese, keys of texts instead
 * of texts, unfilled placeholders. `data` are user-defined texts, in any language.
 */
export async function strayWords(page: Page, language: Language, data: readonly string[]): Promise<string[]> {
  const words = await wordsOf(page)
  const known = [...data, ...siteData].toSorted((one, other) => other.length - one.length)
  return words.filter((text) =>
    isStray(
      known.reduce((rest, word) => rest.replaceAll(word, ''), text),
      language,
    ),
  )
}

/** Names that a fresh site gives its groups and chat pages, the names of languages, and placeholders that a help text explains. */
const siteData = ['默认分组', 'vip分组', 'AMA 问天', '中文', '{key}', '{address}', '{model}']

const textKey = /^[a-z]+(?:[A-Z][a-z0-9]*)+$/
const unfilled = /\{\w*[A-Za-z]\w*\}/
const foreign = { en: /[\u3000-\u9fff\uff00-\uffef]/, zh: /[a-z]{2,} [a-z]{2,} [a-z]{2,}/ } as const

function isStray(text: string, language: Language): boolean {
  return textKey.test(text.trim()) || unfilled.test(text) || foreign[language].test(text)
}

/** Everything that a reader sees or hears: the title, visible texts, and names and hints of elements. */
function wordsOf(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const words = new Set([document.title])
    const spoken = ['aria-label', 'title', 'placeholder', 'alt', 'aria-description', 'aria-valuetext']
    for (const element of document.body.querySelectorAll('*')) {
      // Code is the same in every language, and names of languages are in their own.
      if (element.closest('script, style, code, pre, kbd, [lang]:not(html)') || !element.checkVisibility()) continue
      for (const name of spoken) words.add(element.getAttribute(name) ?? '')
      // The value of a field is user input.
      if (element.matches('textarea')) continue
      for (const node of element.childNodes) if (node.nodeType === Node.TEXT_NODE) words.add(node.textContent ?? '')
    }
    words.delete('')
    return [...words]
  })
}
