import type { Browser } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import { openPage, seriousViolations, sharedBrowser } from '../helpers/browser.ts'

describe('the browser helper of the tests', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await sharedBrowser()
  })

  it('opens pages in the wanted language, scheme and width', async () => {
    const { page, close } = await openPage(browser, { language: 'en', scheme: 'dark', width: 390 })
    const seen = await page.evaluate(() => [navigator.language, matchMedia('(prefers-color-scheme: dark)').matches, innerWidth])
    expect(seen).toEqual(['en-US', true, 390])
    await close()
  })

  it('collects console errors and exceptions, and reports inaccessible parts by axe', async () => {
    const { page, problems, close } = await openPage(browser)
    await page.setContent('<html lang="en"><title>t</title><main><h1>Hello</h1><button></button></main></html>')
    expect(await seriousViolations(page)).toEqual([expect.stringContaining('button-name')])
    await page.evaluate(() => {
      console.error('wrong')
      setTimeout(() => {
        throw new Error('thrown')
      })
    })
    await expect.poll(() => problems).toEqual([expect.stringContaining('wrong'), 'exception: thrown'])
    await close()
  })
})
