import type { Page } from 'playwright-core'
import { periodAt, totpCode } from '../../src/server/base/lib/secrets/totp.ts'
import { createUser } from '../../src/server/people/accounts/users.ts'
import { serverOfTest } from '../helpers/app.ts'
import { pricePublisher, publishedPrices } from '../helpers/published-prices.ts'
import { addChannel } from '../helpers/seed.ts'
import { notice, type SceneIds, tokenOfTwoAttempts } from './seed-scenes.ts'
import { go, type Language, logIn, type Stage, userPassword, type Who } from './stage.ts'

/** Views without an address: dialogs and expanded parts. Each is opened like a user does, and then checked. */
export interface Scene {
  readonly name: string
  readonly who: Who
  open(ground: Ground): Promise<void>
}

interface Ground {
  readonly page: Page
  readonly stage: Stage
  readonly ids: SceneIds
  readonly language: Language
  readonly narrow: boolean
  /** A page of a user who has just opened this address. */
  readonly enter: (address: string) => Promise<Page>
  /** Takes a screenshot under this name. */
  readonly look: (page: Page, name: string) => Promise<void>
}

const pick = ({ language }: Ground, zh: string, en: string) => (language === 'zh' ? zh : en)
const dialogOf = ({ page }: Ground) => page.getByRole('dialog').last()

function press(ground: Ground, zh: string, en: string): Promise<void> {
  return ground.page
    .getByRole('button', { name: pick(ground, zh, en), exact: true })
    .first()
    .click()
}

/** Chooses an action from the menu of the row with this name. */
async function act(ground: Ground, row: string, zh: string, en: string): Promise<void> {
  await ground.page.getByRole('button', { name: `${pick(ground, '更多操作', 'More actions')}: ${row}` }).click()
  await ground.page.getByRole('menuitem', { name: pick(ground, zh, en), exact: true }).click()
}

async function option({ stage }: Ground, key: string, value: string): Promise<void> {
  await stage.server.call('PUT /api/option/', { key, value })
}

const signedIn: readonly Scene[] = [
  {
    name: 'notice',
    who: 'user',
    async open(ground) {
      await option(ground, 'Notice', notice)
      await go(ground.page, '/')
      await dialogOf(ground).waitFor()
      await option(ground, 'Notice', '')
    },
  },
  {
    name: 'delete-account',
    who: 'user',
    async open(ground) {
      await go(ground.page, '/setting')
      await press(ground, '删除个人账户', 'Delete my account')
      await dialogOf(ground).getByRole('textbox').fill('somebody else')
      await dialogOf(ground).getByRole('button').last().click()
    },
  },
  {
    name: 'fresh-proof',
    who: 'admin',
    async open(ground) {
      const { app } = ground.stage.server
      const { id } = await app.db.selectFrom('users').select('id').where('username', '=', 'admin').executeTakeFirstOrThrow()
      await app.db.updateTable('sessions').set({ authenticated_at: 0 }).where('user_id', '=', id).execute()
      app.bus.publish('user', id)
      await go(ground.page, '/setting')
      await press(ground, '开启', 'Turn on')
      await dialogOf(ground).getByRole('textbox').waitFor()
    },
  },
  {
    name: 'copy-by-hand',
    who: 'user',
    async open(ground) {
      await go(ground.page, '/')
      await ground.page.evaluate(() => {
        navigator.clipboard.writeText = () => Promise.reject(new DOMException('denied', 'NotAllowedError'))
      })
      await ground.page.getByRole('main').getByRole('button', { name: /\/v1$/ }).click()
      await dialogOf(ground).getByRole('textbox').waitFor()
    },
  },
  {
    name: 'attempts-and-bill',
    who: 'root',
    async open(ground) {
      await go(ground.page, `/log?token_name=${tokenOfTwoAttempts}`)
      await press(ground, '展开详情', 'Show details')
      await ground.page.getByText(pick(ground, '等于实际扣费', 'Matches the charged amount')).waitFor()
    },
  },
  {
    name: 'test-models',
    who: 'root',
    async open(ground) {
      await go(ground.page, '/channel?keyword=主力')
      await act(ground, 'OpenAI 主力', '选择模型测试', 'Test with model')
      const dialog = dialogOf(ground)
      await dialog
        .getByRole('button', { name: new RegExp(pick(ground, '^测试', '^Test')) })
        .first()
        .click()
      await dialog
        .getByText(new RegExp(pick(ground, '\\d 秒', '\\d s$')))
        .first()
        .waitFor()
    },
  },
  {
    name: 'keys',
    who: 'root',
    async open(ground) {
      await go(ground.page, '/channel?keyword=Keys')
      await ground.page.getByRole('button', { name: '2/3' }).click()
      await dialogOf(ground).getByText('…2222').waitFor()
    },
  },
  {
    name: 'overrides',
    who: 'root',
    async open(ground) {
      await go(ground.page, `/channel/edit/${ground.ids.rewriting}`)
      await dialogOf(ground)
        .getByText(pick(ground, '请求改写', 'Request changes'), { exact: true })
        .click()
      const path = dialogOf(ground)
        .getByRole('textbox', { name: pick(ground, '字段路径', 'Field path'), exact: false })
        .first()
      await path.scrollIntoViewIfNeeded()
    },
  },
  {
    name: 'tag',
    who: 'root',
    async open(ground) {
      await go(ground.page, '/channel?tags=true')
      await ground.page.getByRole('button', { name: `${pick(ground, '编辑标签', 'Edit tag')}: 主力` }).click()
      await dialogOf(ground)
        .getByText(pick(ground, '添加重定向', 'Add mapping'))
        .waitFor()
    },
  },
  {
    name: 'batch-tag',
    who: 'root',
    async open(ground) {
      await go(ground.page, '/channel?keyword=OpenAI')
      const boxes = ground.page.getByRole('checkbox', { name: pick(ground, '选择此行', 'Select row') })
      for (let row = 0; row < 2; row++) await boxes.nth(row).check()
      await press(ground, '设置标签', 'Set tag')
      await dialogOf(ground).getByRole('button').last().click()
    },
  },
  {
    name: 'price-update-question',
    who: 'root',
    async open(ground) {
      await go(ground.page, '/setting?tab=prices&view=options')
      await press(ground, '查询价格差异', 'Compare prices')
      const row = ground.page.getByRole('checkbox', { name: pick(ground, '选择此行', 'Select row') })
      for (let nth = 0; nth < 3; nth++) await row.nth(nth).check()
      await row.first().scrollIntoViewIfNeeded()
      await ground.look(ground.page, 'price-update')
      await press(ground, '采用所选价格', 'Use selected prices')
      await dialogOf(ground).waitFor()
    },
  },
  {
    name: 'newer-prices',
    who: 'root',
    async open(ground) {
      const changed = {
        'gpt-5.4-mini': { input_mtok: 0.5, output_mtok: 4.5, cache_read_mtok: 0.05 },
        'gpt-5.4-nano': { input_mtok: 0.2, output_mtok: 0 },
        'gpt-5.4': { input_mtok: { base: 2.5, tiers: [{ start: 200_000, price: 30 }] }, output_mtok: 15 },
        'gpt-9': { input_mtok: 2, output_mtok: 12, requests_kcount: 1 },
        'gpt-9-pro': { input_mtok: 2, unknown_measure: 1 },
      }
      const { url } = await pricePublisher(publishedPrices(changed))
      await option(ground, 'PriceDataUrl', url)
      // Refused where no newer data was applied yet.
      await ground.stage.server.raw('POST /api/pricing/data/restore')
      await addChannel(ground.stage.server, { url: ground.stage.upstream.url, models: 'gpt-5.4,gpt-5.4-mini' })
      await go(ground.page, '/setting?tab=prices&view=options')
      await press(ground, '立即检查', 'Check now')
      const applyAll = ground.page.getByRole('button', { name: pick(ground, '全部采用', 'Apply all') })
      await applyAll.scrollIntoViewIfNeeded()
      await ground.look(ground.page, 'newer-prices-changes')
      const row = ground.page.getByRole('checkbox', { name: pick(ground, '选择此行', 'Select row') })
      for (let nth = 0; nth < 2; nth++) await row.nth(nth).check()
      await ground.page.getByRole('button', { name: pick(ground, '采用所选', 'Apply selected') }).click()
      await dialogOf(ground).waitFor()
      await ground.look(ground.page, 'newer-prices-question')
      await dialogOf(ground).getByRole('button').last().click()
      await applyAll.click()
      await dialogOf(ground).getByRole('button').last().click()
      const restore = ground.page.getByRole('button', { name: pick(ground, '恢复自带数据', 'Restore') })
      await restore.scrollIntoViewIfNeeded()
      await ground.look(ground.page, 'newer-prices-applied')
      await restore.click()
      await dialogOf(ground).waitFor()
    },
  },
  {
    name: 'price-batch',
    who: 'root',
    async open(ground) {
      const { page } = ground
      await go(page, '/setting?tab=prices')
      await page.getByRole('searchbox').fill('gpt-4o-')
      await page
        .getByRole(ground.narrow ? 'listitem' : 'row')
        .filter({ hasText: 'gpt-4o-mini' })
        .first()
        .waitFor()
      const rows = page.getByRole('checkbox', { name: pick(ground, '选择此行', 'Select row') })
      for (let nth = 0; nth < 4; nth++) await rows.nth(nth).check()
      await page.getByRole('button', { name: new RegExp(pick(ground, '^批量设置', '^Bulk edit')) }).click()
      const fields = dialogOf(ground).getByRole('textbox')
      await fields.first().fill('2.5')
      await fields.nth(1).fill('10')
    },
  },
]

const comingIn: readonly Scene[] = [
  {
    name: 'first-run-answered',
    who: 'nobody',
    async open({ language, look, enter, ...ground }) {
      const fresh = await serverOfTest('sqlite', { env: { ROOT_PASSWORD: '123456' } })
      const page = await enter(fresh.url)
      const here = { ...ground, page, language, look, enter }
      await logIn(page, { language, username: 'root', password: '123456' })
      await dialogOf(here).getByRole('textbox').first().waitFor()
      await look(page, 'default-password')
      await closeWarning(here)
      await go(page, '/')
      await page.getByText(pick(here, '请先添加渠道。', 'Add a channel first.')).waitFor()
      await look(page, 'first-run')
      await page.getByText(pick(here, '从 new-api 或 one-api 迁移？', 'Moving from new-api or one-api?')).click()
      await look(page, 'first-run-moving')
      await press(here, '查看完整步骤（英文）', 'Show all steps')
      await page.getByRole('heading', { name: 'Step by step' }).waitFor()
      await look(page, 'first-run-moving-guide')
      await page.keyboard.press('Escape')
      await page.getByRole('heading', { name: 'Step by step' }).waitFor({ state: 'detached' })
      await press(here, '不迁移，不再显示', 'Nothing to move: don’t show again')
      await page.getByText('new-api').waitFor({ state: 'detached' })
      await addChannel(fresh, { url: ground.stage.upstream.url, models: 'gpt-4o-mini' })
      await fresh.call('POST /api/token/', { name: 'first', unlimited_quota: true })
      await go(page, '/')
      await press(here, '发送请求', 'Send')
      await page.locator('blockquote').waitFor()
      await look(page, 'first-run-answered')
    },
  },
  {
    name: 'second-factor',
    who: 'nobody',
    async open({ language, look, enter, ...ground }) {
      // Without https, browsers offer passkeys only to this name.
      const page = await enter(ground.stage.server.url.replace('127.0.0.1', 'localhost'))
      const here = { ...ground, page, language, look, enter }
      const username = await makePerson(here)
      await logIn(page, { language, username, password: userPassword })
      await go(page, '/setting')
      await press(here, '添加', 'Add')
      await dialogOf(here).getByRole('textbox').waitFor()
      await look(page, 'passkey')
      await page.keyboard.press('Escape')
      await press(here, '开启', 'Turn on')
      const secret = (await dialogOf(here).locator('code').innerText()).replaceAll(' ', '')
      await look(page, 'two-factor')
      await dialogOf(here)
        .getByRole('textbox')
        .fill(totpCode(secret, periodAt(Date.now() / 1000)))
      await dialogOf(here).getByRole('button').last().click()
      await dialogOf(here).locator('li').first().waitFor()
      await look(page, 'backup-codes')
      await press(here, '我已保存', 'I have saved them')
      await page.context().clearCookies()
      await page.evaluate(() => localStorage.removeItem('user'))
      await go(page, '/login')
      await page.getByRole('textbox').first().fill(username)
      await page.getByRole('textbox').nth(1).fill(userPassword)
      await page.getByRole('main').locator('button[type=submit]').click()
      await page.getByRole('heading', { name: pick(here, '两步验证', 'Two-factor authentication') }).waitFor()
      await look(page, 'second-factor')
    },
  },
]

/** Every scene takes a screenshot at its end. */
export const scenes: readonly Scene[] = [
  ...comingIn,
  ...signedIn.map(({ name, who, open }) => ({
    name,
    who,
    async open(ground: Ground) {
      await open(ground)
      await ground.look(ground.page, name)
    },
  })),
]

/** Closes the warning of the default password, which is on every page. */
async function closeWarning(ground: Ground): Promise<void> {
  await dialogOf(ground).waitFor()
  await ground.page.keyboard.press('Escape')
  await dialogOf(ground).waitFor({ state: 'detached' })
}

/** A new user for each run of the scene, because a second factor is set up only once. */
async function makePerson({ stage: { server } }: Ground): Promise<string> {
  const { app } = server
  const username = `p${Math.random().toString(36).slice(2, 10)}`
  const user = { username, displayName: '', password_hash: await app.passwords.hash(userPassword), role: 1, at: app.now() }
  await app.db.transaction().execute((within) => createUser(within, user))
  return username
}
