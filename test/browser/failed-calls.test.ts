import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { addChannel, setOptions } from '../helpers/seed.ts'
import { expectFit, go, looks, openStage, type Stage } from './stage.ts'

/** Failed calls in the log: found by the name of a user, explained to admins, and shown to their owners without the channels. */
let stage: Stage
let requestId = ''
const vendor = createServer((request, response) => {
  request.resume().on('end', () => {
    response.writeHead(503, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ error: { message: 'The vendor has no capacity left', type: 'overloaded' } }))
  })
})

beforeAll(async () => {
  await new Promise<void>((resolve) => vendor.listen(0, '127.0.0.1', resolve))
  stage = await openStage()
  const { server } = stage
  // A server that listens on TCP has an address of this form.
  const url = `http://127.0.0.1:${(vendor.address() as AddressInfo).port}`
  for (const name of ['first-channel', 'second-channel']) await addChannel(server, { url, models: 'gpt-4o-mini', name })
  await addChannel(server, { url, models: 'gpt-4o-mini', name: 'third-channel', priority: -1 })
  await setOptions(server, { RetryTimes: 1, QuotaForNewUser: 500000 })
  const { id } = await server.app.db.selectFrom('users').select('id').where('username', '=', 'user').executeTakeFirstOrThrow()
  await server.call(`POST /api/user/${id}/quota`, { change: 500_000, reason: 'test' })
  const cookie = `session=${await server.app.sessions.create({ userId: id, address: '127.0.0.1', userAgent: 'test' })}`
  const headers = { cookie, 'new-api-user': String(id), 'content-type': 'application/json' }
  const ask = (model: string) =>
    fetch(`${server.url}/pg/chat/completions`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ model, group: 'default', stream: true, messages: [{ role: 'user', content: 'Hello' }] }),
    })
  await ask('no-such-model')
  requestId = (await ask('gpt-4o-mini')).headers.get('x-oneapi-request-id') ?? ''
  await server.app.failedCalls.close()
})
afterAll(async () => {
  vendor.closeAllConnections()
  vendor.close()
  await stage.stop()
})

const shot = async (page: Page, name: string) => {
  if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/${name}.png` })
}

it('a failed call is found from its user in three clicks, and opens to the chain of channels and their candidates', async () => {
  const { page, problems } = await stage.open('root', { language: 'en', width: 1440 })
  await go(page, '/user?keyword=user')
  const row = page
    .getByRole('row')
    .filter({ has: page.getByText('user', { exact: true }) })
    .first()
  await row.getByRole('button', { name: /^More/ }).click()
  await page.getByRole('menuitem', { name: 'View logs' }).click()
  await page.waitForURL(/\/log\?.*username=user/)
  await page.getByRole('switch', { name: 'Failed only' }).check()
  await page.waitForURL(/type=5/)
  await page.getByRole('row').filter({ hasText: 'gpt-4o-mini' }).getByRole('button', { name: 'Show details' }).click()
  const details = page.getByRole('listitem').filter({ hasText: 'The vendor has no capacity left' })
  await details.nth(1).waitFor()
  const candidates = page.getByRole('table', { name: 'Candidate channels' })
  expect(await candidates.first().getByRole('row').filter({ hasText: 'third-channel' }).innerText()).toMatch(
    /-1.*lower priority/s,
  )
  const outcomes = await candidates.last().innerText()
  expect(outcomes).toContain('failed before: 503')
  expect(outcomes).toContain('Selected, failed: 503')
  // The head of the list is sticky while its rows are scrolled, but not that of a table in a row: it would cover the rows below.
  const heads = await candidates.first().getByRole('columnheader').all()
  for (const head of heads) expect(await head.evaluate((cell) => getComputedStyle(cell).position)).toBe('static')
  await expectFit(page, 'en', ['user', 'first-channel', 'second-channel', 'third-channel', 'gpt-4o-mini', 'no-such-model'])
  await shot(page, 'chain-light-en')

  await page.getByRole('button', { name: 'Filter', exact: true }).click()
  await page.getByRole('menuitem', { name: 'Status' }).click()
  await page.getByRole('searchbox', { name: 'Status' }).fill('404')
  await page.getByRole('row').filter({ hasText: 'gpt-4o-mini' }).first().waitFor({ state: 'detached' })
  await page.getByRole('row').filter({ hasText: 'no-such-model' }).waitFor()
  await page.getByRole('button', { name: 'user', exact: true }).first().click()
  await page.getByRole('link', { name: 'Open user' }).waitFor()
  await shot(page, 'user-card')
  await page.getByRole('link', { name: 'Open user' }).click()
  await page.waitForURL(/\/user\/edit\//)
  expect(problems).toEqual([])
})

it.each(
  looks([
    ['zh', 'dark', 390],
    ['zh', 'dark', 1440],
    ['en', 'light', 390],
  ] as const),
)('a request id opens the row of the call for its owner, without channels (%s, %s, %i)', async (language, scheme, width) => {
  const { page, problems } = await stage.open('user', { language, scheme, width })
  await go(page, `/log?from=0&request_id=${requestId}`)
  await page.getByText('/pg/chat/completions').first().waitFor()
  const text = await page.locator('main').innerText()
  expect(text).toContain(requestId)
  for (const hidden of ['no capacity', 'first-channel', 'second-channel', 'third-channel', 'admin_info'])
    expect(text).not.toContain(hidden)
  await shot(page, `owner-${language}-${scheme}-${width}`)
  expect(problems).toEqual([])

  const admin = await stage.open('root', { language, scheme, width })
  await go(admin.page, `/log?from=0&request_id=${requestId}`)
  await admin.page.getByText('The vendor has no capacity left').nth(1).waitFor()
  await admin.page
    .getByRole(width > 600 ? 'row' : 'listitem')
    .filter({ hasText: 'third-channel' })
    .last()
    .waitFor()
  await shot(admin.page, `admin-${language}-${scheme}-${width}`)
  expect(admin.problems).toEqual([])
})
