import { afterAll, beforeAll, expect, it } from 'vitest'
import { noSums, writeCallSums } from '../../src/server/usage/calls/call-sums.ts'
import { addChannel, addToken } from '../helpers/seed.ts'
import { expectFit, go, looks, openStage, readMessage, type Stage } from './stage.ts'

/** The charts of calls over the log and in the overview, and exports of the log. */

const hour = 3600
const shots = process.env.SHOTS
const data = ['gpt-4o', 'main', 'root', 'default', 'Slow answers', 'A channel with quite a long name', 'upstream_failed', '503']

let stage: Stage
/** The last whole hour but one, so that everything lies before now. */
let at: number
let channel: number

beforeAll(async () => {
  stage = await openStage()
  const { server } = stage
  const { db } = server.app
  at = Math.floor(Date.now() / 1000 / hour) * hour - hour
  channel = await addChannel(server, { name: 'A channel with quite a long name', url: 'http://127.0.0.1:9', models: 'gpt-4o' })
  const row = { user_id: 1, username: 'root', token_name: 'main', model_name: 'gpt-4o', group: 'default', channel_id: channel }
  const call = { ...row, type: 2, quota: 4000, content: '', other: '{}' }
  const failed = { ...row, type: 5, quota: 0, error_status: 503, error_code: 'upstream_failed', content: 'no answer' }
  const rows = Array.from({ length: 48 }, (_, index) => ({ ...call, created_at: at - index * 1200, request_id: `r${index}` }))
  await db.insertInto('logs').values(rows).execute()
  const other = '{"status":503,"code":"upstream_failed"}'
  await db
    .insertInto('logs')
    .values({ ...failed, created_at: at + 5, request_id: 'f1', other })
    .execute()
  const { id } = await addToken(server, { name: 'main' })
  const sums = { ...noSums(), count: 41, answered: 40, failed: 1, quota: 160_000 }
  const sides = [
    { side: 'site' as const, key: '' },
    { side: 'token' as const, key: String(id) },
  ]
  const added = [at - 5 * hour, at].flatMap((time) => sides.map((side) => ({ ...side, at: time, sums, errors: [] })))
  await db.transaction().execute((within) => writeCallSums(within, added))
  const incident = { kind: 'incident', title: 'Slow answers', state: 'resolved', impact: 'minor', created_by: 'root' }
  await db
    .insertInto('incidents')
    .values({ ...incident, starts_at: at - 4 * hour, ends_at: at, created_at: at })
    .execute()
})
afterAll(() => stage.stop())

const numberIn = (address: string, name: string) => Number(new URL(address).searchParams.get(name))

it.each(
  looks([
    { language: 'zh', scheme: 'light', width: 1440 },
    { language: 'en', scheme: 'dark', width: 1024 },
  ] as const),
)('a drag over the calls of the log shows their time, in $language, $scheme, $width wide', async (look) => {
  const { page, problems } = await stage.open('root', { ...look, height: 900 })
  await go(page, `/log?from=${at - 20 * hour}`)
  const chart = page.getByRole('slider', { name: { zh: /^调用走势/, en: /^Calls over time/ }[look.language] })
  await chart.locator('path').first().waitFor()
  const box = await chart.boundingBox()
  if (!box) throw new Error('The chart has no place')
  if (shots) await page.screenshot({ path: `${shots}/log-bars-${look.language}-${look.width}.png` })
  await expectFit(page, look.language, data)
  await page.mouse.move(box.x + box.width * 0.5, box.y + 40)
  await page.mouse.down()
  await page.mouse.move(box.x + box.width * 0.7, box.y + 40, { steps: 4 })
  await page.mouse.up()
  await page.waitForURL(/[?&]to=/)
  const [from, to] = [numberIn(page.url(), 'from'), numberIn(page.url(), 'to')]
  expect(from).toBeGreaterThan(at - 20 * hour)
  expect(to).toBeLessThan(at)
  expect((to + 1 - from) % 900).toBe(0)
  expect(problems).toEqual([])
})

it('no type of the log and no entry of the sidebar is wrapped or cut', async () => {
  const row = { user_id: 1, username: 'a-user-with-a-long-name', content: 'Something was changed. '.repeat(20), quota: 5 }
  const rows = [1, 3, 4].map((type) => ({ ...row, type, created_at: at + 60 }))
  const call = {
    ...row,
    type: 2,
    created_at: at + 60,
    model_name: 'claude-3-5-sonnet-20241022-thinking-long',
    channel_id: channel,
  }
  const other = { token_name: 'a token with quite a long name', group: 'a-group-with-a-name', prompt_tokens: 1_234_567 }
  const { db } = stage.server.app
  await db.insertInto('logs').values(rows).execute()
  await db
    .insertInto('logs')
    .values({ ...call, ...other, completion_tokens: 123_456 })
    .execute()
  for (const language of ['zh', 'en'] as const) {
    const { page } = await stage.open('root', { language, width: 1440, height: 900 })
    await go(page, `/log?from=${at + 50}`)
    const table = page.getByRole('table')
    await table.getByText('claude-3-5').waitFor()
    if (shots) await page.screenshot({ path: `${shots}/log-types-${language}.png` })
    const heights = await table.locator('tbody tr').evaluateAll((found) => found.map((one) => one.getBoundingClientRect().height))
    expect(Math.max(...heights) - Math.min(...heights)).toBeLessThan(6)
    await go(page, '/redemption')
    const entries = page.getByRole('navigation').getByRole('link')
    const cut = await entries.evaluateAll((links) =>
      links.flatMap((link) => {
        const label = link.querySelector('span')
        const isCut = (label?.scrollWidth ?? 0) > (label?.clientWidth ?? 0) || link.getBoundingClientRect().height > 40
        return isCut ? [link.textContent] : []
      }),
    )
    expect(cut).toEqual([])
  }
  await db
    .deleteFrom('logs')
    .where('created_at', '=', at + 60)
    .execute()
})

it('the keys move over the calls of the log and choose a time, and channels are found by name', async () => {
  const { page, problems } = await stage.open('root', { language: 'en', width: 1440, height: 900 })
  const chart = page.getByRole('slider', { name: /^Calls over time/ })
  // While the machine is too busy to count rows in time, bars are of whole hours.
  await expect
    .poll(async () => {
      await go(page, `/log?from=${at - 24 * hour}&to=${at + 899}`)
      await chart.focus()
      expect(await chart.getAttribute('aria-valuetext')).toContain('arrow keys')
      await chart.press('End')
      return chart.getAttribute('aria-valuetext')
    })
    .toMatch(/, Answered 1, Failed 1$/)
  await chart.press('Shift+ArrowLeft')
  await chart.press('Enter')
  await page.waitForURL((url) => numberIn(url.href, 'from') === at - 900 && numberIn(url.href, 'to') === at + 899)
  await page.getByText('A channel with quite').first().waitFor()

  await page.getByRole('button', { name: 'Filter', exact: true }).click()
  await page.getByRole('menuitem', { name: 'Channel' }).click()
  const filter = page.getByRole('combobox', { name: 'Channel' })
  await filter.fill('quite')
  await page.getByRole('option', { name: `A channel with quite a long name (#${channel})` }).click()
  await page.waitForURL((url) => numberIn(url.href, 'channel') === channel)
  await filter.fill('4711')
  await page.getByRole('option', { name: '#4711', exact: true }).click()
  await page.waitForURL(/channel=4711/)
  expect(problems).toEqual([])
})

it('an export shows its rows and bytes, has the chosen columns, and can be cancelled', async () => {
  const { page, problems } = await stage.open('root', { language: 'en', width: 1440, height: 900 })
  await go(page, `/log?from=${at - 20 * hour}`)
  await page.getByRole('button', { name: 'Export', exact: true }).click()
  const dialog = page.getByRole('dialog', { name: 'Export logs' })
  await dialog.getByText('49 matching records').waitFor()
  await dialog.getByRole('button', { name: 'None' }).click()
  expect(await dialog.getByRole('button', { name: 'Export', exact: true }).isDisabled()).toBe(true)
  await dialog.getByRole('checkbox', { name: 'model', exact: true }).check()
  if (shots) await page.screenshot({ path: `${shots}/log-export.png` })

  // The file is held back until the dialog has shown that it is on its way.
  const { promise: held, resolve: go_on } = Promise.withResolvers<void>()
  await page.route('**/api/log/export.csv*', async (route) => {
    await held
    await route.continue().catch(() => {})
  })
  await dialog.getByRole('button', { name: 'Export', exact: true }).click()
  await dialog.getByText('0 rows · 0 B').waitFor()
  if (shots) await page.screenshot({ path: `${shots}/log-export-running.png` })
  await dialog.getByRole('button', { name: 'Cancel export' }).click()
  await dialog.getByRole('checkbox', { name: 'model', exact: true }).waitFor()
  expect(await dialog.getByRole('status').count()).toBe(0)
  go_on()
  await page.unroute('**/api/log/export.csv*')

  const downloading = page.waitForEvent('download')
  await dialog.getByRole('button', { name: 'Export', exact: true }).click()
  const file = await downloading
  const text = Buffer.concat(await (await file.createReadStream()).toArray()).toString()
  const [head, ...lines] = text.trim().split('\r\n')
  expect([file.suggestedFilename(), head?.slice(1).split(',').slice(1)]).toEqual(['log.csv', ['model']])
  expect(lines).toHaveLength(49)
  expect(await dialog.getByRole('status').textContent()).toMatch(/^Saved: 49 rows · [\d.]+ KB$/)
  expect(problems).toEqual([])

  await page.route('**/api/log/export.csv*', (route) =>
    route.fulfill({ status: 429, contentType: 'application/json', body: '{"success":false,"message":"slow down"}' }),
  )
  await dialog.getByRole('button', { name: 'Export', exact: true }).click()
  await readMessage(page, 'en', 'slow down')
})

it.each(
  looks([
    { language: 'zh', scheme: 'light', width: 1440 },
    { language: 'en', scheme: 'light', width: 1440 },
    { language: 'en', scheme: 'dark', width: 390 },
  ] as const),
)('a click on the calls of the overview opens their log, in $language, $scheme, $width wide', async (look) => {
  const { page, problems } = await stage.open('admin', { ...look, height: 900 })
  await go(page, '/overview')
  const chart = page.getByRole('slider', { name: { zh: /^调用走势/, en: /^Calls over time/ }[look.language] })
  await chart.locator('path').first().waitFor()
  await page
    .getByRole('listitem')
    .filter({ hasText: { zh: '事件开始', en: 'Incident' }[look.language] })
    .first()
    .waitFor()
  // The owner is beside the token.
  await page.getByRole('listitem').filter({ hasText: 'main' }).getByText('root', { exact: true }).first().waitFor()
  if (shots) await page.screenshot({ path: `${shots}/overview-bars-${look.language}-${look.width}.png`, fullPage: true })
  await expectFit(page, look.language, data)
  await chart.focus()
  await chart.press('End')
  for (let back = 0; back < 6; back++) {
    const text = await chart.getAttribute('aria-valuetext')
    if (/ 40, /.test(text ?? '')) break
    await chart.press('ArrowLeft')
  }
  const steps = Number(await chart.getAttribute('aria-valuemax')) + 1
  const now = Number(await chart.getAttribute('aria-valuenow'))
  const box = await chart.boundingBox()
  if (!box) throw new Error('The chart has no place')
  // Room for the labels of the axis is at the left.
  const left = 30
  await page.mouse.click(box.x + left + ((now + 0.5) / steps) * (box.width - left), box.y + 60)
  await page.waitForURL(
    (url) => url.pathname === '/log' && numberIn(url.href, 'from') === at && numberIn(url.href, 'to') === at + hour - 1,
  )
  expect(problems).toEqual([])
})
