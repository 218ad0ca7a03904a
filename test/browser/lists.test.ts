import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { expectFit, go, hasFocus, openStage, readMessage, type Stage } from './stage.ts'

/** Features of every list: saved views, bulk actions, exports, and pages at any depth. */
let stage: Stage
beforeAll(async () => {
  stage = await openStage()
  for (const username of ['ada', 'bob', 'eve'])
    await stage.server.call('POST /api/user/', { username, display_name: '', password: 'plain-person-1' })
})
afterAll(() => stage.stop())

const openViews = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()
const rowOf = (page: Page, text: string) => page.getByRole('row').filter({ hasText: text })

it('a view is kept with the account: in another browser the list opens with it, and it can be renamed and deleted', async () => {
  const first = await stage.open('root', { language: 'en' })
  await go(first.page, '/user?keyword=a&sort=-quota')
  await openViews(first.page, 'Choose columns')
  await first.page.getByRole('checkbox', { name: 'Invitations' }).uncheck()
  await first.page.keyboard.press('Escape')
  await openViews(first.page, 'Saved views')
  await first.page.getByText('No saved views yet.').waitFor()
  await first.page.getByRole('menuitem', { name: 'Save this view…' }).click()
  const dialog = first.page.getByRole('dialog', { name: 'Save this view' })
  // Only the keyboard is used: the name has the focus, and Enter saves.
  await dialog.locator('input:focus').waitFor()
  await first.page.keyboard.type('Names with a')
  await dialog.getByRole('checkbox').check()
  await expectFit(first.page, 'en', ['Names with a'])
  await dialog.getByRole('textbox').press('Enter')
  await readMessage(first.page, 'en', 'View saved')
  expect(first.problems).toEqual([])

  const { page, problems } = await stage.open('root', { language: 'zh', width: 1440, scheme: 'dark' })
  await go(page, '/user')
  await page.waitForURL(/keyword=a.*sort=-quota/)
  await rowOf(page, 'ada').waitFor()
  // The previous rows may stay for a moment.
  await rowOf(page, 'bob').waitFor({ state: 'detached' })
  expect(await page.getByRole('columnheader', { name: '邀请' }).count()).toBe(0)
  // An explicit address overrides the default view.
  await go(page, '/user?keyword=bob')
  await rowOf(page, 'bob').waitFor()
  expect(page.url()).not.toContain('sort')
  await openViews(page, '已保存的视图')
  await page.getByRole('menuitem', { name: 'Names with a' }).click()
  await page.waitForURL(/keyword=a&/)

  await openViews(page, '已保存的视图')
  await page.getByRole('menuitem', { name: '管理视图…' }).click()
  const manage = page.getByRole('dialog', { name: '管理视图' })
  await manage.getByRole('textbox').fill('含 a 的用户')
  await manage.getByRole('textbox').press('Enter')
  await readMessage(page, 'zh', '视图已保存')
  await manage.getByRole('button', { name: '取消默认: 含 a 的用户' }).click()
  await readMessage(page, 'zh', '视图已保存')
  await expectFit(page, 'zh')
  await manage.getByRole('button', { name: '删除: 含 a 的用户' }).click()
  await page.getByRole('dialog', { name: '删除此视图？' }).getByRole('button', { name: '删除' }).click()
  await readMessage(page, 'zh', '已删除视图“含 a 的用户”')
  await manage.waitFor({ state: 'detached' })
  expect(await stage.server.call('GET /api/user/self/views')).toEqual([])
  expect(problems).toEqual([])
})

it('several users are changed at once, each refusal is reported, and all are exported', async () => {
  const { page, problems } = await stage.open('root', { language: 'zh' })
  await go(page, '/user')
  for (const name of ['ada', 'bob']) await rowOf(page, name).getByRole('checkbox').check()
  const bulk = page.getByRole('region', { name: '已选 2 项' })
  await bulk.getByRole('button', { name: '设置分组' }).click()
  const dialog = page.getByRole('dialog', { name: '设置所选 2 个用户的分组' })
  await dialog.getByRole('combobox', { name: '分组' }).click()
  await page.getByRole('option', { name: 'vip', exact: true }).click()
  await dialog.getByRole('button', { name: '保存' }).click()
  await readMessage(page, 'zh', '已更改 2 个用户')
  await dialog.waitFor({ state: 'detached' })
  await rowOf(page, 'bob').getByText('vip').waitFor()

  for (const name of ['eve', 'root']) await rowOf(page, name).getByRole('checkbox').check()
  await page.getByRole('button', { name: '封禁', exact: true }).click()
  await page.getByRole('dialog', { name: '封禁所选的 2 个用户？' }).getByRole('button', { name: '封禁' }).click()
  const results = page.getByRole('dialog', { name: '2 个用户中已更改 1 个' })
  await results.getByText('无法禁用、删除或降级超级管理员').waitFor()
  await expectFit(page, 'zh')
  await results.getByRole('button', { name: '知道了' }).click()
  await rowOf(page, 'eve').getByText('已封禁').waitFor()

  const downloading = page.waitForEvent('download')
  await page.getByRole('button', { name: '导出 CSV' }).click()
  const file = await downloading
  expect(file.suggestedFilename()).toBe('users.csv')
  expect(await readFile(await file.path(), 'utf8')).toMatch(/^\uFEFFid,username,.*\r\n6,eve,/)

  await rowOf(page, 'eve').getByRole('checkbox').check()
  await page.getByRole('button', { name: '注销', exact: true }).click()
  await page.getByRole('dialog', { name: '确定要注销所选的 1 个用户？' }).getByRole('button', { name: '注销' }).click()
  await readMessage(page, 'zh', '已更改 1 个用户')
  await rowOf(page, 'eve').getByText('已注销').waitFor()
  expect(problems).toEqual([])
})

it('tokens are sorted by their column headings, which the address stores, and exported as filtered, without their keys', async () => {
  for (const name of ['first', 'second', 'other'])
    await stage.server.call('POST /api/token/', { name, unlimited_quota: true, group: name === 'other' ? '' : 'auto' })
  const { page, problems } = await stage.open('root', { language: 'en' })
  await go(page, '/token?group=auto')
  const names = page.getByRole('row').locator('td:nth-child(2)')
  await expect.poll(() => names.allTextContents()).toEqual(['second', 'first'])
  const byName = page.getByRole('columnheader', { name: 'Name' })
  for (const order of ['descending', 'ascending'] as const) {
    await byName.getByRole('button').click()
    await expect.poll(() => byName.getAttribute('aria-sort')).toBe(order)
  }
  await page.reload()
  await expect.poll(() => names.allTextContents()).toEqual(['first', 'second'])
  expect(new URL(page.url()).searchParams.get('sort')).toBe('name')
  const downloading = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Export CSV' }).click()
  const file = await downloading
  const text = await readFile(await file.path(), 'utf8')
  const [head, ...lines] = text.trim().split('\r\n')
  expect([file.suggestedFilename(), head]).toEqual(['tokens.csv', expect.stringContaining('created (Asia/Shanghai)')])
  expect(lines.map((line) => line.split(',')[1])).toEqual(['second', 'first'])
  expect(problems).toEqual([])
})

it('a refused export shows the reason', async () => {
  const { page } = await stage.open('root', { language: 'en' })
  await go(page, '/user')
  await page.route('**/api/user/export.csv*', (route) =>
    route.fulfill({ status: 429, contentType: 'application/json', body: '{"success":false,"message":"slow down"}' }),
  )
  await page.getByRole('button', { name: 'Export CSV' }).click()
  await readMessage(page, 'en', 'slow down')
})

it('the log continues after the last row at any depth, and jumps to any page', async () => {
  const at = Math.floor(stage.server.app.now() / 1000)
  const rows = Array.from({ length: 95 }, (_, nth) => ({
    ...{ type: 4, user_id: 1, username: 'root', quota: 0 },
    ...{ created_at: at - Math.floor(nth / 3), content: `row ${nth}.` },
  }))
  await stage.server.app.db.insertInto('logs').values(rows).execute()
  const { page, problems } = await stage.open('root', { language: 'en', width: 1440 })
  const asked: string[] = []
  page.on('request', (request) => request.url().includes('/api/log/?') && asked.push(new URL(request.url()).search))
  // The rows are of the last minute: without an explicit time, a day that has just begun would leave some out.
  await go(page, `/log?type=4&from=${at - 3600}`)
  const goTo = (name: string) => page.getByRole('button', { name, exact: true }).click()
  const shows = (nth: number) => page.getByText(`row ${nth}.`, { exact: true }).first().waitFor()

  await shows(0)
  await goTo('Next page')
  await shows(13)
  await goTo('Page 3')
  await shows(23)
  await goTo('Previous page')
  await shows(13)
  await page.getByText('11–20 of 95').waitFor()
  // The first page was counted; the following pages continued after its end, and going back sent no request twice.
  expect(asked.map((search) => new URLSearchParams(search).has('before'))).toEqual([false, true, true])
  await goTo('Page 10')
  await shows(94)
  await page.getByText('91–95 of 95').waitFor()
  expect(asked.at(-1)).not.toContain('before=')

  // With a hundred low rows, the head stays in view at any scroll position. Other lists keep their number of rows.
  const size = page.getByRole('combobox', { name: 'Rows per page' })
  await size.selectOption('100')
  await page.getByText('1–95 of 95').waitFor()
  const last = page.getByRole('row').last()
  await last.scrollIntoViewIfNeeded()
  await page.mouse.move(700, 400)
  await page.mouse.wheel(0, 20_000)
  const head = page.getByRole('columnheader', { name: 'Model', exact: true })
  await expect.poll(() => page.evaluate(() => scrollY + innerHeight >= document.documentElement.scrollHeight - 1)).toBe(true)
  const isSeen = head.evaluate((element) => {
    const { left, top, width, height } = element.getBoundingClientRect()
    return element.contains(document.elementFromPoint(left + width / 2, top + height / 2))
  })
  expect(await isSeen).toBe(true)
  expect((await last.boundingBox())?.height).toBe(32)
  await go(page, '/user')
  expect(await size.inputValue()).toBe('100')
  expect(problems).toEqual([])
})

it('Esc closes the calendar alone and then the time range, and the focus returns to each opener', async () => {
  const { page, problems } = await stage.open('root', { language: 'en' })
  await go(page, '/log')
  const span = page.getByRole('search').getByRole('button', { name: 'Today' })
  await span.click()
  const calendar = page.getByRole('button', { name: 'Open calendar: Start time' })
  await calendar.click()
  const hours = page.getByRole('spinbutton', { name: 'Hours' })
  await hours.waitFor()
  await hours.press('Escape')
  await hours.waitFor({ state: 'detached' })
  await hasFocus(calendar)
  await calendar.press('Escape')
  await calendar.waitFor({ state: 'detached' })
  await hasFocus(span)
  expect(problems).toEqual([])
})
