import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { clients } from '../../src/contract/clients/index.ts'
import { addChannel, addToken, setOptions } from '../helpers/seed.ts'
import { go, openStage, readMessage, type Stage } from './stage.ts'

let stage: Stage
beforeAll(async () => {
  stage = await openStage()
  await addChannel(stage.server, { url: stage.upstream.url, models: 'gpt-test,claude-test', type: 43 })
  const prices = JSON.stringify({ 'gpt-test': 1, 'claude-test': 1 })
  await setOptions(stage.server, { ModelRatio: prices })
})
afterAll(() => stage.stop())

it('a new token leads to the settings of a client, and its first call to a row of the log', async () => {
  const { page, problems } = await stage.open('root', { language: 'en' })
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await go(page, '/connect')
  await page.getByText('No token available').waitFor()
  await page.getByRole('link', { name: 'Create token' }).last().click()
  await page.waitForURL('**/token')
  await page.getByRole('button', { name: 'Create token', exact: true }).first().click()
  await page.getByRole('textbox', { name: 'Name' }).fill('laptop')
  await page.getByRole('dialog').getByRole('button', { name: 'Submit' }).click()
  await page.getByRole('button', { name: 'Connect a client' }).click()
  await page.waitForURL('**/connect?token=*')

  const settings = page.getByRole('region', { name: 'Claude Code configuration' })
  const [{ key } = { key: '' }] = await stage.server.call<{ key: string }[]>('GET /api/token/')
  const shown = (await settings.locator('pre').first().textContent()) ?? ''
  expect(shown.split('\n')).toEqual([
    `export ANTHROPIC_BASE_URL=${stage.server.url}`,
    `export ANTHROPIC_AUTH_TOKEN=sk-${key}`,
    'export ANTHROPIC_MODEL=claude-test',
    'export ANTHROPIC_DEFAULT_HAIKU_MODEL=claude-test',
    'claude',
  ])
  await settings.getByText('"claude-haiku-4-5": "claude-test"').waitFor()
  await settings.getByRole('button', { name: 'Copy' }).first().click()
  await readMessage(page, 'en', 'Copied')
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(shown)

  for (const [client, model] of [
    ['Claude Code', 'claude-test'],
    ['Gemini CLI', 'claude-test'],
    ['Codex', 'gpt-test'],
    ['Cline', 'gpt-test'],
  ] as const) {
    await choose(page, page.getByRole('combobox', { name: 'Client' }), client)
    await choose(page, page.getByRole('combobox', { name: 'Model' }), model)
    await page.getByRole('region', { name: `${client} configuration` }).waitFor()
    const call = page.getByRole('region', { name: 'First request' })
    await call.getByRole('button', { name: 'Send request' }).click()
    await call.getByText('Say hello').waitFor()
    await call.getByText(model).waitFor()
  }
  await page.getByRole('link', { name: 'View in log' }).click()
  await page.waitForURL('**/log?request_id=*')
  await page.getByRole('row').filter({ hasText: 'gpt-test' }).first().waitFor()
  expect(problems).toEqual([])
})

it('the reason of a refused call is shown, on a phone and in Chinese', async () => {
  const { page } = await stage.open('root', { language: 'zh', width: 390 })
  const { id } = await addToken(stage.server, { name: 'empty', unlimited_quota: false, remain_quota: 1 })
  await go(page, `/connect?client=cline&token=${id}`)
  await page.getByRole('button', { name: '发送请求' }).click()
  await page.getByText('请求失败').waitFor()
})

const act = "window.hostile=1;fetch('https://canary.test/')"
/** Names that would run, end a string or end an attribute somewhere on the page or in a snippet. */
const hostile = [
  `x"><img src=x onerror="${act}">`,
  `</code></pre><script>${act}</script>`,
  "$(touch /tmp/canary) `id` '; id ; '\" ; id #",
  '"""] }} \\" \\\' $IFS&|!!',
  '{{constructor.constructor("window.hostile=1")()}}',
]

it('[T263] hostile names of models, tokens and the site, and a hostile address, run nothing, and stand whole in every snippet', async () => {
  const { server } = stage
  await addChannel(server, { url: stage.upstream.url, models: hostile.join(','), type: 43 })
  const prices = Object.fromEntries(['gpt-test', 'claude-test', ...hostile].map((name) => [name, 1]))
  await setOptions(server, { ModelRatio: prices, SystemName: '<img src=x onerror=window.hostile=1>' })
  const address = `https://gate.example/'"$(id)\`id\`<img/src=x/onerror=window.hostile=1>`

  const { page } = await stage.open('root', { language: 'en', isOwn: true })
  const reached: string[] = []
  page.on('request', (request) => {
    if (new URL(request.url()).hostname === 'canary.test') reached.push(request.url())
  })
  await page.route('**/api/status', async (route) => {
    const response = await route.fetch()
    const status = await response.json()
    await route.fulfill({ response, json: { ...status, data: { ...status.data, server_address: address } } })
  })
  let texts = 0
  for (const [at, name] of hostile.entries()) {
    const { id, key } = await addToken(server, { name: name.slice(0, 30) })
    // Each client has one of the names, and each name several clients.
    for (const client of clients.filter((_, nth) => nth % hostile.length === at)) {
      await page.goto(`/connect?${new URLSearchParams({ token: String(id), client: client.id, model: name })}`)
      const settings = page.getByRole('region', { name: `${client.name} configuration` })
      await settings.waitFor()
      const steps = client.steps({ address, key, model: name })
      const wanted = steps.flatMap((step) => ('text' in step ? [step.text.trimEnd()] : step.fields.map(({ value }) => value)))
      const shown = await settings.locator('section code').allTextContents()
      expect(shown, `${client.name}: ${name}`).toEqual(wanted)
      expect(await settings.locator('section').locator('script, iframe, [onerror], a[href^="javascript"]').count()).toBe(0)
      texts += shown.length
    }
    expect(await page.evaluate('window.hostile')).toBeUndefined()
  }
  expect(texts).toBeGreaterThan(clients.length)
  expect(reached).toEqual([])
})

async function choose(page: Page, select: Locator, option: string): Promise<void> {
  await select.click()
  await page.getByRole('option', { name: option, exact: true }).click()
}
