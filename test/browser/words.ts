import type { Page } from 'playwright-core'
import type { Language } from './stage.ts'

/**
 * Words on the page that are no words of its language: Chinese characters in English, English sentences in Chinese, keys of texts
 * instead of texts, places of params that were not filled. `data` are words that people or programs chose, in whatever language.
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

/** Names that a fresh site has given its groups and chat pages, the names of languages, and places that a help text explains. */
const siteData = ['默认分组', 'vip分组', 'AMA 问天', '中文', '{key}', '{address}', '{model}']

const textKey = /^[a-z]+(?:[A-Z][a-z0-9]*)+$/
const unfilled = /\{\w*[A-Za-z]\w*\}/
const foreign = { en: /[\u3000-\u9fff\uff00-\uffef]/, zh: /[a-z]{2,} [a-z]{2,} [a-z]{2,}/ } as const

function isStray(text: string, language: Language): boolean {
  return textKey.test(text.trim()) || unfilled.test(text) || foreign[language].test(text)
}

/** Everything that a reader sees or hears: the title, texts in sight, and names and hints of elements. */
function wordsOf(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const words = new Set([document.title])
    const spoken = ['aria-label', 'title', 'placeholder', 'alt', 'aria-description', 'aria-valuetext']
    for (const element of document.body.querySelectorAll('*')) {
      // Code is code in every language, and what names its own language is in that one.
      if (element.closest('script, style, code, pre, kbd, [lang]:not(html)') || !element.checkVisibility()) continue
      for (const name of spoken) words.add(element.getAttribute(name) ?? '')
      // What stands in a field was typed by somebody.
      if (element.matches('textarea')) continue
      for (const node of element.childNodes) if (node.nodeType === Node.TEXT_NODE) words.add(node.textContent ?? '')
    }
    words.delete('')
    return [...words]
  })
}
