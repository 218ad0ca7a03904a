import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import type { Channel } from '../../src/contract/entities/channel.ts'
import { ask } from '../browser/seed-site.ts'
import { go, hasFocus, openStage, readMessage, type Stage, settled } from '../browser/stage.ts'
import { type Gateway, startGateway } from '../helpers/payment-gateway.ts'
import { addChannel, addToken, books, requireBalancedBooks, setOptions } from '../helpers/seed.ts'

/** The key journeys without a mouse, in one language; by mouse they are tested in other files, except for the last one here. */
const gatewayKey = 'merchant-key'
const model = 'gpt-4o-mini'
let stage: Stage
let gateway: Gateway

beforeAll(async () => {
  ;[stage, gateway] = await Promise.all([openStage(), startGateway(gatewayKey)])
})
afterAll(async () => {
  await stage.stop()
  await gateway.close()
})

const tabsMax = 150

/** Presses Tab until this element has the focus, like a user without a pointer, and checks that the focus is visible. */
async function reach(page: Page, target: Locator): Promise<void> {
  const wanted = target.first()
  await wanted.waitFor({ state: 'attached' })
  const before = await wanted.evaluate(lookOf)
  for (let pressed = 0; pressed < tabsMax; pressed++) {
    if (await wanted.evaluate((element) => element === document.activeElement)) {
      if (pressed > 0)
        await expect.poll(() => wanted.evaluate(lookOf), { message: `${target} shows that it has the focus` }).not.toBe(before)
      return
    }
    await page.keyboard.press('Tab')
  }
  throw new Error(`${tabsMax} times Tab did not lead to ${target}`)
}

/** The styles of an element and its surroundings that show the focus. */
function lookOf(element: Element): string {
  const around: Element[] = []
  for (let one: Element | null = element; one && around.length < 5; one = one.parentElement) around.push(one)
  if (element.nextElementSibling) around.push(element.nextElementSibling)
  const looks = around.map((one) => getComputedStyle(one))
  return looks.map(({ outline, boxShadow, borderColor }) => `${outline} ${boxShadow} ${borderColor}`).join('|')
}

async function type(page: Page, target: Locator, text: string): Promise<void> {
  await reach(page, target)
  await page.keyboard.press('ControlOrMeta+a')
  await page.keyboard.type(text)
}

async function press(page: Page, target: Locator): Promise<void> {
  await reach(page, target)
  await page.keyboard.press('Enter')
}

/** Opens a screen by its name in the palette. */
async function open(page: Page, name: string, path: string): Promise<void> {
  await page.keyboard.press('ControlOrMeta+k')
  const palette = page.getByRole('dialog', { name: 'Command palette' })
  await palette.locator('input:focus').waitFor()
  await page.keyboard.type(name)
  await palette.locator('[data-selected]', { hasText: name }).waitFor()
  await page.keyboard.press('Enter')
  await page.waitForURL(`**${path}`)
  await palette.waitFor({ state: 'detached' })
  await settled(page)
}

const box = (page: Page, name: string) => page.getByRole('textbox', { name, exact: true })
const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name, exact: true })

it('from the first run to the first call, with three keys of which one is repaired, to the bill', {
  timeout: 120_000,
}, async () => {
  const { page, problems } = await stage.open('root', { language: 'en' })
  await page.goto('/')
  await press(page, page.getByRole('link', { name: 'Add channel' }))
  const form = page.getByRole('dialog', { name: 'Create channel' })
  await type(page, box(page, 'Name'), 'By keys')
  await type(page, form.getByRole('textbox', { name: 'Base URL' }), stage.upstream.url)
  await reach(page, form.getByRole('radio', { name: 'Single key' }))
  await page.keyboard.press('ArrowRight')
  await type(page, form.getByRole('textbox', { name: /^Keys?/ }), 'upstream-key-1111\nupstream-key-2222\nupstream-key-3333')
  await press(page, form.getByRole('button', { name: 'Remove all models' }))
  await type(page, form.getByRole('textbox', { name: 'Custom model names, comma-separated' }), model)
  await press(page, form.getByRole('button', { name: 'Add', exact: true }))
  await press(page, form.getByRole('button', { name: 'Submit' }))
  await form.waitFor({ state: 'detached' })

  // One key has stopped working; it is found from the list, and put to work again.
  const [channel] = await stage.server.call<Channel[]>('GET /api/channel/search?keyword=By')
  const id = channel?.id ?? 0
  const keys = await stage.server.call<{ id: number; tail: string }[]>(`GET /api/channel/${id}/keys`)
  await stage.server.app.db
    .updateTable('channel_keys')
    .set({ status: 3 })
    .where('id', '=', keys[1]?.id ?? 0)
    .execute()
  await page.reload()
  await settled(page)
  await press(page, button(page, '2/3'))
  const list = page.getByRole('dialog', { name: /By keys/ })
  await press(
    page,
    list
      .getByRole('row')
      .filter({ hasText: '2222' })
      .getByRole('button', { name: /^Enable/ }),
  )
  await list.getByText('3 of 3 keys enabled').waitFor()
  await page.keyboard.press('Escape')
  await list.waitFor({ state: 'detached' })

  await open(page, 'Tokens', '/token')
  await press(page, button(page, /^Create (the first )?token/))
  await type(page, box(page, 'Name'), 'mine')
  await page.keyboard.press('Enter')
  await page.getByRole('dialog', { name: 'Token created' }).waitFor()
  await page.keyboard.press('Escape')
  await open(page, 'Home', '/')
  const guide = page.getByRole('region', { name: 'Getting started' })
  await press(page, guide.getByRole('button', { name: 'Send' }))
  await guide.locator('blockquote').waitFor()
  await press(page, guide.getByRole('link', { name: 'View its cost' }))
  await press(page, page.getByRole('row').filter({ hasText: model }).getByRole('button', { name: 'Show details' }))
  await page.getByText('Matches the charged amount').first().waitFor()
  await requireBalancedBooks(stage.server)
  expect(problems).toEqual([])
})

it('from the invitation to the first chat', { timeout: 90_000 }, async () => {
  await addChannel(stage.server, { url: stage.upstream.url, models: model })
  const aff = await stage.server.call<string>('GET /api/user/aff')
  await setOptions(stage.server, { QuotaForNewUser: 500000 })
  const { page, problems } = await stage.open('nobody', { language: 'en' })
  await page.goto(`/register?aff=${aff}`)
  await type(page, box(page, 'Username'), 'keys-only')
  await type(page, box(page, 'Password'), 'a good pass 9')
  await type(page, box(page, 'Confirm password'), 'a good pass 9')
  await page.keyboard.press('Enter')
  // Registering logs in.
  await page.waitForURL('**/token')
  await settled(page)
  await open(page, 'Playground', '/playground')
  await choose(page, page.getByRole('combobox', { name: 'Model', exact: true }), model)
  await type(page, box(page, 'Message'), 'one two three')
  await page.keyboard.press('Enter')
  await page.getByRole('listitem').getByText('You said: one two three').waitFor()
  expect(problems).toEqual([])
})

it('a code is redeemed, and a top-up is paid at the gateway', { timeout: 90_000 }, async () => {
  const { call, url } = stage.server
  const [code = ''] = await call<string[]>('POST /api/redemption/', { name: 'gift', quota: 100_000, count: 1 })
  const options = { ServerAddress: url, PayAddress: gateway.url, EpayId: '1001', EpayKey: gatewayKey }
  for (const [key, value] of Object.entries(options)) await call('PUT /api/option/', { key, value })

  const { page, problems } = await stage.open('user', { language: 'en' })
  await page.goto('/topup')
  await type(page, box(page, 'Redemption code'), code)
  await page.keyboard.press('Enter')
  await page.getByText('$0.20').first().waitFor()
  await press(page, page.getByRole('dialog').getByRole('button').last())
  await type(page, page.getByRole('textbox', { name: /^Amount|^How much/ }), '20')
  await press(page, button(page, /^Pay|^Go to payment/))
  const paying = page.context().waitForEvent('page')
  await press(page, page.getByRole('dialog').getByRole('button', { name: /Confirm/ }))
  await (await paying).waitForURL(/\/topup\?order=/)
  await page.getByRole('dialog').getByText('$20.00').first().waitFor()
  expect(problems).toEqual([])
})

it('prices of several models are changed together', { timeout: 90_000 }, async () => {
  const { page, problems } = await stage.open('root', { language: 'en' })
  await page.goto('/setting?tab=prices')
  await type(page, page.getByRole('searchbox', { name: 'Search model names' }), 'gpt-4o-mini')
  await page.getByRole('row').filter({ hasText: 'gpt-4o-mini' }).first().waitFor()
  await reach(page, page.getByRole('checkbox', { name: 'Select all on this page' }))
  await page.keyboard.press('Space')
  await press(page, page.getByRole('button', { name: /^Bulk edit/ }))
  const dialog = page.getByRole('dialog')
  await dialog.waitFor()
  await reach(page, dialog.locator('input[type=radio]:checked'))
  await page.keyboard.press('ArrowDown')
  await type(page, dialog.getByRole('textbox').first(), '3')
  await press(page, dialog.getByRole('button', { name: 'Set values' }))
  await dialog.waitFor({ state: 'detached' })
  await press(page, button(page, 'Apply changes'))
  await readMessage(page, 'en', 'Saved')
  const options = await stage.server.call<{ key: string; value: string }[]>('GET /api/option/')
  const table = (key: string) => JSON.parse(options.find((option) => option.key === key)?.value ?? '{}')['gpt-4o-mini']
  expect([table('ModelRatio'), table('CompletionRatio'), table('ModelPrice')]).toContain(3)
  expect(problems).toEqual([])
})

/** Both input methods: the same buttons and fields. */
const hands = {
  keyboard: { press, type },
  mouse: {
    press: (_page: Page, target: Locator) => target.first().click(),
    type: (_page: Page, target: Locator, text: string) => target.first().fill(text),
  },
} as const

it.each(['keyboard', 'mouse'] as const)(
  'by %s, a charge is found in the log and explained: its sums, its way over channels, who pays',
  {
    timeout: 90_000,
  },
  async (hand) => {
    const { press, type } = hands[hand]
    const { server, upstream } = stage
    const [disputed, busyKey] = [`disputed-by-${hand}`, `upstream-key-busy-${hand}`]
    const asked = 'gpt-4o'
    await setOptions(server, { RetryTimes: 2 })
    upstream.program(asked, ({ headers }) => ({ status: headers.authorization === `Bearer ${busyKey}` ? 429 : 200 }))
    const busy = await addChannel(server, { url: upstream.url, models: asked, name: `Busy ${hand}`, key: busyKey, priority: 100 })
    await addChannel(server, { url: upstream.url, models: asked, name: `Steady ${hand}` })
    onTestFinished(() => server.call('PUT /api/channel/', { id: busy, status: 2 }))
    for (const name of ['somebody else', disputed, 'somebody else'])
      await ask(server, { ...(await addToken(server, { name })), model: asked, stream: true })
    const charged = (await books(server)).logs.find(({ token_name }) => token_name === disputed)

    const { page, problems } = await stage.open('root', { language: 'en' })
    await go(page, '/log')
    await press(page, page.getByRole('button', { name: 'Filter', exact: true }))
    await press(page, page.getByRole('menuitem', { name: 'Token name', exact: true }))
    await type(page, page.getByRole('searchbox', { name: 'Token name', exact: true }), disputed)
    await page.keyboard.press('Enter')
    await page.waitForURL(/token_name=disputed/)
    const row = page.getByRole('row').filter({ hasText: disputed })
    await page.getByText('1–1 of 1').or(page.getByText('1-1 of 1')).waitFor()
    await press(page, row.getByRole('button', { name: 'Show details' }))
    await page.getByText('Matches the charged amount').waitFor()
    const bill = page.getByRole('row', { name: /^Charged/ }).getByRole('cell')
    expect(await bill.last().textContent()).toBe(charged?.quota.toLocaleString('en-US'))
    await page
      .getByRole('listitem')
      .filter({ hasText: `Busy ${hand}` })
      .getByText('429', { exact: true })
      .first()
      .waitFor()

    await press(page, row.getByRole('button', { name: 'root', exact: true }))
    const card = page.getByRole('region', { name: 'User information' })
    await card.getByText('Requests').waitFor()
    await page.keyboard.press('Escape')
    await card.waitFor({ state: 'detached' })
    await hasFocus(row.getByRole('button', { name: 'root', exact: true }))

    await press(page, page.getByRole('listitem').getByRole('link', { name: `Busy ${hand}` }))
    await page.waitForURL(`**/channel/edit/${busy}`)
    await expect
      .poll(() => page.getByRole('dialog').getByRole('textbox', { name: 'Name', exact: true }).inputValue())
      .toBe(`Busy ${hand}`)
    await requireBalancedBooks(server)
    expect(problems).toEqual([])
  },
)

/** Opens a select, moves to an option with the arrow keys, and chooses it. */
async function choose(page: Page, target: Locator, option: string): Promise<void> {
  await reach(page, target)
  await page.keyboard.press('ArrowDown')
  const wanted = page.getByRole('option', { name: option, exact: true })
  await wanted.waitFor()
  for (let pressed = 0; pressed < 20; pressed++) {
    if ((await wanted.getAttribute('data-combobox-selected')) === 'true') break
    await page.keyboard.press('ArrowDown')
  }
  await page.keyboard.press('Enter')
}
