import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { User } from '../../src/contract/entities/user.ts'
import { addChannel, requireBalancedBooks, setOptions } from '../helpers/seed.ts'
import { type SmtpServer, startSmtpServer } from '../helpers/smtp-server.ts'
import { expectFit, go, inBothLanguages, logIn, looks, openStage, readMessage, type Stage, userPassword } from './stage.ts'

/** Registration, login, password reset and account settings. */
const model = 'gpt-4o-mini'
const question = 'one two three four'

let stage: Stage
let smtp: SmtpServer
beforeAll(async () => {
  stage = await openStage()
  smtp = await startSmtpServer({ security: 'none' })
  await addChannel(stage.server, { url: stage.upstream.url, models: model })
  const options = {
    SMTPServer: '127.0.0.1',
    SMTPPort: String(smtp.port),
    SMTPAccount: 'robot@site.test',
    ServerAddress: stage.server.url,
    EmailVerificationEnabled: 'true',
    QuotaForInvitee: '500000',
    QuotaForInviter: '1000000',
  }
  await setOptions(stage.server, options)
})
afterAll(async () => {
  await stage.stop()
  await smtp.stop()
})

const words = inBothLanguages({
  email: ['邮箱', 'Email'],
  getCode: ['获取验证码', 'Get code'],
  code: ['邮箱验证码', 'Verification code'],
  codeSent: ['验证码发送成功，请检查你的邮箱！', 'Code sent. Check your inbox.'],
  again: [/重新发送 \(\d+\)/, /Resend \(\d+\)/],
  name: ['用户名', 'Username'],
  password: ['密码', 'Password'],
  repeat: ['确认密码', 'Confirm password'],
  register: ['注册', 'Register'],
  short: ['密码长度不得小于 8 位！', 'Password length must not be less than 8'],
  differ: ['两次输入的密码不一致', 'The two passwords do not match'],
  wrongCode: ['验证码错误或已过期', 'The verification code is wrong or has expired'],
  registered: ['注册成功！', 'Account created'],
  playgroundGroup: ['分组', 'Group'],
  playgroundModel: ['模型', 'Model'],
  settings: ['设置', 'Settings'],
  input: ['输入消息', 'Message'],
  send: ['发送', 'Send'],
  reset: ['发送重置链接', 'Send link'],
  resetSent: ['重置邮件发送成功，请检查邮箱！', 'Email sent. Check your inbox.'],
  retry: [/重试 \(\d+\)/, /Retry \(\d+\)/],
  confirmReset: ['重置密码', 'Reset password'],
  newPassword: ['新密码', 'New password'],
  copied: ['密码已重置，新密码已复制到剪贴板', 'Password reset. The new password is copied to the clipboard.'],
})

const codeIn = (text: string) => /\b\d{6}\b/.exec(text)?.[0] ?? ''

describe.each(
  looks([
    { language: 'en', width: 390 },
    { language: 'zh', width: 1440 },
  ] as const),
)('in $language, $width wide', ({ language, width }) => {
  it('an invited user registers with a mailed code, and chats', async () => {
    const say = words[language]
    const email = `${language}@example.com`
    const username = `guest-${language}`
    const before = await rootUser()
    const { page, problems } = await stage.open('nobody', { language, width, height: 900 })

    await go(page, `/register?aff=${before.aff_code}`)
    await expectFit(page, language, [before.aff_code])
    const field = (name: string) => page.getByRole('textbox', { name, exact: true })
    const submit = page.getByRole('main').getByRole('button', { name: say.register, exact: true })
    await field(say.name).fill(username)
    await field(say.password).fill('short')
    await field(say.repeat).fill('other')
    await submit.click()
    await page.getByText(say.short).waitFor()
    await page.getByText(say.differ).waitFor()
    await expectFit(page, language, [before.aff_code])

    await field(say.password).fill('a good pass 9')
    await field(say.repeat).fill('a good pass 9')
    await field(say.email).fill(email)
    await page.getByRole('button', { name: say.getCode }).click()
    await readMessage(page, language, say.codeSent)
    expect(await page.getByRole('button', { name: say.again }).isDisabled()).toBe(true)
    await field(say.code).fill('000000')
    await submit.click()
    await page.getByText(say.wrongCode).waitFor()
    await field(say.code).fill(codeIn((await smtp.mailTo(email)).text))
    await submit.click()
    await readMessage(page, language, say.registered)
    await page.waitForURL('**/token')

    const [made] = (await stage.server.call<{ items: User[] }>(`GET /api/user/search?keyword=${username}`)).items
    expect(made).toMatchObject({ email, inviter_id: before.id, quota: 500_000 })
    expect((await rootUser()).aff_quota).toBe(before.aff_quota + 1_000_000)

    await go(page, '/playground')
    if (width === 390) await page.getByRole('button', { name: new RegExp(`^(${say.settings}$|gpt-)`) }).click()
    await choose(page, page.getByRole('combobox', { name: say.playgroundGroup, exact: true }), 'default')
    await choose(page, page.getByRole('combobox', { name: say.playgroundModel, exact: true }), model)
    if (width === 390) await page.keyboard.press('Escape')
    await page.getByRole('textbox', { name: say.input }).fill(question)
    await page.getByRole('button', { name: say.send, exact: true }).click()
    await page.getByRole('listitem').getByText(`You said: ${question}`).waitFor()
    expect(problems).toEqual([])
    await requireBalancedBooks(stage.server)
  })
})

it('a user who forgot the password sets a new one by a mailed link, which is valid once', async () => {
  const say = words.en
  const email = 'lost@example.com'
  await addUser('lost', email)
  const { page, problems } = await stage.open('nobody', { language: 'en', scheme: 'dark' })
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await go(page, '/login')
  await page.getByRole('link', { name: 'Forgot your password? Reset it' }).click()
  // The previous screen, which may stay for a moment, has a field for usernames and addresses.
  await page.getByRole('textbox', { name: say.email, exact: true }).fill(email)
  await expectFit(page, 'en')
  await page.getByRole('button', { name: say.reset }).click()
  await readMessage(page, 'en', say.resetSent)
  expect(await page.getByRole('button', { name: say.retry }).isDisabled()).toBe(true)
  await expectFit(page, 'en', [email])

  const link = /https?:\/\/\S+\/user\/reset\?[^\s"<]+/.exec((await smtp.mailTo(email)).text)?.[0] ?? ''
  await go(page, link)
  expect(await page.getByRole('textbox', { name: say.email }).inputValue()).toBe(email)
  await page.getByRole('button', { name: say.confirmReset }).click()
  await readMessage(page, 'en', say.copied)
  const password = await page.getByRole('textbox', { name: say.newPassword }).inputValue()
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(password)
  await expectFit(page, 'en', [email])
  await logIn(page, { language: 'en', username: email, password })
  // The password was sent by mail, so a dialog asks for a new one.
  await page.getByRole('dialog').waitFor()

  const again = await stage.open('nobody', { language: 'en' })
  await go(again.page, link)
  await again.page.getByRole('button', { name: say.confirmReset }).click()
  await again.page.getByText('The reset link is invalid or has expired').waitFor()
  expect(problems).toEqual([])
})

it('an admin finds a user, changes group and quota, bans and unbans', async () => {
  const { id } = await addUser('zoe', 'zoe@example.com')
  const { page, problems } = await stage.open('root', { language: 'zh' })
  await go(page, '/user')
  await expectFit(page, 'zh', ['Root User'])
  await page.getByRole('searchbox', { name: '搜索 ID、用户名、显示名称或邮箱' }).fill('zoe@')
  await page.waitForURL(/keyword=zoe/)
  const row = page.getByRole('row', { name: /zoe/ })
  await row.getByRole('button', { name: '编辑: zoe' }).click()
  await page.waitForURL(new RegExp(`/user/edit/${id}\\?keyword=zoe`))
  const form = page.getByRole('dialog', { name: `编辑用户 #${id}` })
  await form.getByRole('textbox', { name: '显示名称' }).fill('Zoë')
  await choose(page, form.getByRole('combobox', { name: '分组' }), 'vip')
  await expectFit(page, 'zh', ['Root User'])

  await form.getByRole('button', { name: '调整额度' }).click()
  const dialog = page.getByRole('dialog', { name: '调整 zoe 的额度' })
  await dialog.getByRole('button', { name: '确认调整' }).click()
  await dialog.getByText('请填写原因').waitFor()
  await dialog.getByRole('button', { name: '+$10', exact: true }).click()
  await dialog.getByRole('button', { name: '−$1', exact: true }).click()
  await dialog.getByText('新额度 $0.00 + $9.00 = $9.00').waitFor()
  await dialog.getByRole('textbox', { name: '原因' }).fill('补偿')
  await expectFit(page, 'zh', ['Root User'])
  await dialog.getByRole('button', { name: '确认调整' }).click()
  await readMessage(page, 'zh', '额度已调整')
  await form.getByText('$9.00').waitFor()
  // The entered values are still there.
  expect(await form.getByRole('textbox', { name: '显示名称' }).inputValue()).toBe('Zoë')
  await form.getByRole('button', { name: '提交' }).click()
  await readMessage(page, 'zh', '用户信息更新成功！')
  const saved = () => stage.server.call<User>(`GET /api/user/${id}`)
  expect(await saved()).toMatchObject({ display_name: 'Zoë', group: 'vip', quota: 4_500_000 })

  await act(page, row, '封禁')
  expect((await saved()).status).toBe(2)
  await page.getByRole('combobox', { name: '状态' }).click()
  await page.getByRole('option', { name: '已激活' }).click()
  await page.getByText('没有符合条件的结果').waitFor()
  await page.getByRole('button', { name: '重置' }).first().click()
  await row.getByRole('button', { name: '更多操作: zoe' }).click()
  await page.getByRole('menuitem', { name: '启用' }).click()
  await readMessage(page, 'zh', '操作成功完成！')
  expect((await saved()).status).toBe(1)
  await act(page, row, '注销')
  await row.getByText('已注销').waitFor()
  expect(await row.getByRole('button').count()).toBe(0)
  await expectFit(page, 'zh', ['Root User'])
  expect(problems).toEqual([])
})

it('an admin adds a user who can call at once, and gets a text to send', async () => {
  const { page, problems } = await stage.open('root', { language: 'en', scheme: 'dark', width: 390 })
  await go(page, '/user/add')
  const form = page.getByRole('dialog', { name: 'Add a user' })
  await form.getByRole('textbox', { name: 'Username' }).fill('hopper')
  await form.getByRole('button', { name: 'Generate' }).click()
  const password = await form.getByLabel('Password', { exact: false }).first().inputValue()
  expect(password).toMatch(/^[a-zA-Z2-9]{16}$/)
  await choose(page, form.getByRole('combobox', { name: 'Group' }), 'vip')
  await form.getByRole('button', { name: '$10', exact: true }).first().click()
  await form.getByRole('textbox', { name: 'Daily budget' }).fill('1.5')
  await expectFit(page, 'en', ['hopper', 'default', 'vip'])
  await form.getByRole('button', { name: 'Submit' }).click()

  const done = page.getByRole('dialog', { name: 'User hopper is ready' })
  const text = await done.getByRole('textbox', { name: 'Text for the user' }).inputValue()
  await expectFit(page, 'en', ['hopper', 'default', 'vip', 'New API'])
  expect(text).toContain(`Username: hopper\nPassword: ${password}`)
  expect(text).toContain('Daily budget: $1.50')
  const [, base = '', key = ''] = /API base URL: (\S+)\nAPI key: (\S+)/.exec(text) ?? []
  expect((await fetch(`${base}/models`, { headers: { authorization: `Bearer ${key}` } })).status).toBe(200)
  const { items } = await stage.server.call<{ items: User[] }>('GET /api/user/search?keyword=hopper')
  expect(items).toMatchObject([{ group: 'vip', role: 1 }])
  expect(items[0]?.quota).toBeGreaterThanOrEqual(5_000_000)
  await done.getByRole('button', { name: 'Done' }).click()
  await page.getByText('hopper').first().waitFor()
  expect(problems).toEqual([])
})

it('a user transfers invitation bonuses, gets a webhook notice, binds an address, ends other sessions and deletes the account', async () => {
  const { app } = stage.server
  const { id } = await addUser('leaver', 'leaver@example.com')
  await app.db
    .updateTable('users')
    .set({ aff_quota: 1_500_000, aff_history_quota: 2_000_000, aff_count: 2 })
    .where('id', '=', id)
    .execute()
  const { page, problems } = await stage.open('nobody', { language: 'en' })
  await logIn(page, { language: 'en', username: 'leaver', password: userPassword })
  await app.sessions.create({ userId: id, address: '203.0.113.7', userAgent: 'Mozilla/5.0 (Windows NT 10.0) Firefox/130.0' })
  await go(page, '/setting')
  await page.getByText('Firefox · Windows').waitFor()
  await expectFit(page, 'en')
  const dialog = page.getByRole('dialog')

  await page.getByRole('button', { name: 'Transfer' }).click()
  await dialog.getByRole('textbox', { name: 'Amount' }).fill('0.99')
  await dialog.getByRole('button', { name: 'Transfer' }).click()
  await dialog.getByText('The transfer amount is at least $1.00').waitFor()
  await dialog.getByRole('button', { name: 'Max' }).click()
  await expectFit(page, 'en')
  await dialog.getByRole('button', { name: 'Transfer' }).click()
  await readMessage(page, 'en', 'Transfer successful')
  await page.getByText('$3.00').waitFor()

  const notices = page.getByRole('region', { name: 'Notification settings' })
  await notices.getByText('Webhook', { exact: true }).click()
  await notices.getByRole('textbox', { name: 'Webhook URL' }).fill('http://plain.test')
  await notices.getByRole('button', { name: 'Save settings' }).click()
  await notices.getByText('The webhook URL must begin with https://').waitFor()
  await notices.getByRole('textbox', { name: 'Webhook URL' }).fill('https://hook.test/path')
  await notices.getByRole('button', { name: '$10.00' }).click()
  await notices.getByRole('button', { name: 'Save settings' }).click()
  await readMessage(page, 'en', 'Notification settings updated')
  await expectFit(page, 'en')

  const email = page.getByRole('region', { name: 'Email' })
  await email.getByRole('button', { name: 'Change' }).click()
  await dialog.getByRole('textbox', { name: 'Email address' }).fill('moved@example.com')
  await dialog.getByRole('button', { name: 'Get code' }).click()
  await readMessage(page, 'en', 'Code sent. Check your inbox.')
  await dialog.getByRole('textbox', { name: 'Verification code' }).fill(codeIn((await smtp.mailTo('moved@example.com')).text))
  await dialog.getByRole('button', { name: 'Save', exact: true }).click()
  await readMessage(page, 'en', 'Email address saved')
  await email.getByText('moved@example.com').waitFor()

  await page.getByRole('button', { name: 'Log out all other sessions' }).click()
  await dialog.getByRole('button', { name: 'Log out all other sessions' }).click()
  await readMessage(page, 'en', 'All other sessions logged out')
  await page.getByText('Firefox · Windows').waitFor({ state: 'detached' })

  // The last authentication is made to be long ago, so that the password is required again.
  await app.db.updateTable('sessions').set({ authenticated_at: 0 }).where('user_id', '=', id).execute()
  app.bus.publish('user', id)
  await page.getByRole('button', { name: 'Delete my account' }).click()
  const typed = dialog.getByRole('textbox', { name: /Enter your account name/ })
  await typed.fill('Leaver')
  await dialog.getByRole('button', { name: 'Delete', exact: true }).click()
  await dialog.getByText('Enter your account name to confirm deletion').waitFor()
  await typed.fill('leaver')
  await dialog.getByRole('button', { name: 'Delete', exact: true }).click()
  const proof = page.getByRole('dialog', { name: 'Confirm your password' })
  await proof.getByRole('textbox', { name: 'Current password' }).fill(userPassword)
  await proof.getByRole('button', { name: 'Verify' }).click()
  await readMessage(page, 'en', 'Account deleted')
  await page.waitForURL('**/login')
  expect(await page.evaluate(() => localStorage.getItem('user'))).toBeNull()
  expect(problems).toEqual([])
})

it('the header shows self-use mode and demonstration mode, and offers no registration in self-use mode', async () => {
  const { page } = await stage.open('nobody', { language: 'en' })
  const banner = page.getByRole('banner')
  await go(page, '/about')
  await banner.getByRole('link', { name: 'Register' }).waitFor()
  await setOptions(stage.server, { SelfUseModeEnabled: true })
  await go(page, '/about')
  await banner.getByText('Self-use mode').waitFor()
  expect(await banner.getByRole('link', { name: 'Register' }).count()).toBe(0)
  await setOptions(stage.server, { SelfUseModeEnabled: false, DemoSiteEnabled: true })
  await go(page, '/about')
  await banner.getByText('Demo site').waitFor()
  await setOptions(stage.server, { DemoSiteEnabled: false })
})

it('[T024] a public form requires the human check, and each solution is sent only once', async () => {
  const set = (key: string, value: string) => stage.server.call('PUT /api/option/', { key, value })
  await set('TurnstileSiteKey', 'site-key')
  await set('TurnstileSecretKey', 'secret-key')
  await set('TurnstileCheckEnabled', 'true')
  const { page } = await stage.open('nobody', { language: 'en' })
  await page.route('https://challenges.cloudflare.com/**', (route) =>
    route.fulfill({ contentType: 'text/javascript', body: fakeTurnstile }),
  )
  const sent: (string | null)[] = []
  await page.route('**/api/user/login**', (route) => {
    sent.push(new URL(route.request().url()).searchParams.get('turnstile'))
    return route.fulfill({ json: { success: false, code: 'human_check_failed', message: 'The human check failed, try again' } })
  })

  await go(page, '/login')
  await page.getByRole('textbox', { name: 'Username or email' }).fill('ada')
  await page.getByRole('textbox', { name: 'Password' }).fill('a good pass 9')
  const submit = page.getByRole('main').getByRole('button', { name: 'Log in', exact: true })
  for (const token of ['login-1', 'login-2']) {
    await page.getByRole('button', { name: 'solve' }).waitFor()
    await submit.click()
    await readMessage(page, 'en', 'Retry in a few seconds, Turnstile is checking')
    await page.getByRole('button', { name: 'solve' }).click()
    await submit.click()
    await readMessage(page, 'en', 'The human check failed, try again')
    expect(sent.at(-1)).toBe(token)
  }
  expect(sent).toHaveLength(2)
  for (const form of ['register', 'reset']) {
    await go(page, `/${form}`)
    await page.getByRole('button', { name: 'solve' }).and(page.getByTitle(form)).waitFor()
  }
  await set('TurnstileCheckEnabled', 'false')
})

/** Draws a button in place of the check; each click solves the check for the form that it was drawn for. */
const fakeTurnstile = `{
  let solved = 0
  window.turnstile = {
    render(place, { action, callback }) {
      const button = Object.assign(document.createElement('button'), { type: 'button', textContent: 'solve', title: action })
      button.onclick = () => callback(action + '-' + ++solved)
      place.replaceChildren(button)
      return 'id'
    },
    remove() {},
  }
}`

it('[T048] a redirect target in the address cannot lead out of the console', async () => {
  const { page, problems } = await stage.open('user', { language: 'en' })
  for (const target of ['//evil.test', '/\\evil.test', 'https://evil.test', 'javascript:alert(1)']) {
    const next = encodeURIComponent(target)
    await page.goto(`/login?redirect=${next}&next=${next}&return_to=${next}&url=${next}`)
    await page.waitForURL(/\/token$/)
  }
  expect(problems).toEqual([])
})

/** Chooses an action from the menu of a row, and confirms it. */
async function act(page: Page, row: Locator, name: string): Promise<void> {
  await row.getByRole('button', { name: '更多操作: zoe' }).click()
  await page.getByRole('menuitem', { name }).click()
  await page.getByRole('dialog').getByRole('button', { name, exact: true }).click()
  await readMessage(page, 'zh', '操作成功完成！')
}

async function choose(page: Page, select: Locator, option: string): Promise<void> {
  await select.click()
  await page.getByRole('option', { name: new RegExp(`^${option}(?: |$)`) }).click()
}

function rootUser(): Promise<User> {
  return stage.server.call<User>('GET /api/user/self')
}

async function addUser(username: string, email: string): Promise<{ id: number }> {
  const user = await stage.server.call<User>('POST /api/user/', { username, password: userPassword })
  await stage.server.app.db.updateTable('users').set({ email }).where('id', '=', user.id).execute()
  return user
}
