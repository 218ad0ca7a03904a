import { readFile } from 'node:fs/promises'
import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Organisation, OrganisationMember } from '../../src/contract/entities/organisation.ts'
import { addChannel, requireBalancedBooks } from '../helpers/seed.ts'
import {
  expectFit,
  go,
  inBothLanguages,
  looks,
  openStage,
  readMessage,
  type Stage,
  settled,
  shoot,
  userPassword,
} from './stage.ts'

/** The life of an organisation in the browser: from founding it to handing it over. */
const model = 'gpt-4o-mini'

let stage: Stage
beforeAll(async () => {
  stage = await openStage()
  await addChannel(stage.server, { url: stage.upstream.url, models: model })
})
afterAll(() => stage.stop())

const words = inBothLanguages({
  found: ['创建组织', 'Found organisation'],
  foundFirst: ['创建第一个组织', 'Found the first organisation'],
  name: ['名称', 'Name'],
  quota: ['额度', 'Quota'],
  submit: ['提交', 'Submit'],
  open: ['以组织身份查看', 'Open as it sees itself'],
  overview: ['概况', 'Overview'],
  members: ['成员', 'Members'],
  teams: ['团队', 'Teams'],
  budgets: ['预算', 'Budgets'],
  permissions: ['成员权限', 'Permissions'],
  webhooks: ['Webhook', 'Webhooks'],
  addWebhook: ['添加 Webhook', 'Add webhook'],
  url: [/^地址/, /^URL/],
  history: ['操作记录', 'History'],
  invite: ['邀请', 'Invite'],
  done: ['完成', 'Done'],
  login: ['登录', 'Log in'],
  username: ['用户名/邮箱', 'Username or email'],
  password: ['密码', 'Password'],
  accept: ['接受邀请', 'Accept'],
  pays: [/^付款账户：/, /^Paying account: /],
  personal: ['个人账户', 'Personal account'],
  firstTeam: ['添加第一个团队', 'Create the first team'],
  teamMembers: ['成员', 'Members'],
  addMember: ['添加成员', 'Add member'],
  add: ['添加', 'Add'],
  addBudgetTo: ['为 R&D 添加预算', 'Add budget for R&D'],
  amount: ['金额', 'Amount'],
  team: ['团队', 'Team'],
  addToken: ['添加令牌', 'Create token'],
  expand: ['更多操作', 'More actions'],
  raise: ['申请提高：R&D', 'Ask for more: R&D'],
  reason: ['原因', 'Reason'],
  send: ['发送申请', 'Send request'],
  sent: ['已发送申请', 'Request sent'],
  grant: ['批准', 'Grant'],
  granted: ['已批准', 'Granted'],
  newOwner: ['转让给', 'New owner'],
  offer: ['提出转让', 'Offer'],
  offered: ['已提出转让', 'Transfer offered'],
  acceptTransfer: ['接受转让', 'Accept'],
  isOwner: ['你现在是所有者', 'You are an owner now'],
  otherPayer: ['当前组织没有此页面', 'Not available for this organisation'],
  usePersonal: ['切换到个人账户', 'Use personal account'],
  exportCsv: ['导出 CSV', 'Export CSV'],
  byModel: ['模型', 'Model'],
  addRestriction: ['添加限制', 'Add restriction'],
  days: ['令牌最长有效天数', 'Days that a token lives'],
})

it.each(
  looks([
    { language: 'en', width: 1440, scheme: 'light' },
    { language: 'zh', width: 390, scheme: 'dark' },
    { language: 'zh', width: 1440, scheme: 'dark' },
    { language: 'en', width: 390, scheme: 'light' },
  ] as const),
)(
  'is founded, invites, sets a budget that refuses and is raised, and changes its owner ($language, $width, $scheme)',
  async (look) => {
    const { language, width } = look
    const say = words[language]
    const name = `Acme ${language} ${width}`
    const data = [name, 'R&D', `@${name}`]
    const { page: root, problems } = await stage.open('root', look)
    const tabOf = (page: Page, label: string) => page.getByRole('tab', { name: label, exact: true })

    // Founded by the operator, who opens it as it sees itself.
    await go(root, '/organisations')
    await root
      .getByRole('button', { name: new RegExp(`^(${say.found}|${say.foundFirst})$`) })
      .first()
      .click()
    await root.getByRole('textbox', { name: say.name }).fill(name)
    await root.getByRole('textbox', { name: say.quota }).fill('20')
    await expectFit(root, language, data)
    await root.getByRole('button', { name: say.submit, exact: true }).click()
    await root.getByText(name).first().waitFor()
    await root.getByRole('dialog').waitFor({ state: 'detached' })
    await expectFit(root, language, data)
    await shoot(root, 'organisations', look)
    await rowOf(root, name)
      .getByRole('button', { name: `${say.open}: ${name}` })
      .click()
    await root.waitForURL('**/organisation')
    await root.getByRole('button', { name: say.pays }).first().waitFor()
    await expectFit(root, language, data)
    await shoot(root, 'organisation', look)
    // As a member sees it: without the screens of the site.
    await go(root, '/channel')
    await root.getByText(say.otherPayer).waitFor()
    await go(root, '/organisation')
    const acme = (await stage.server.call<{ items: Organisation[] }>('GET /api/organisation/?p=1&page_size=100')).items.find(
      (each) => each.name === name,
    ) as Organisation

    // Invited by a link, to which the login returns.
    await tabOf(root, say.members).click()
    await root.getByRole('button', { name: say.invite, exact: true }).click()
    await expectFit(root, language, data)
    await root.getByRole('dialog').getByRole('button', { name: say.invite, exact: true }).click()
    const link = root.getByText(/\/invitation\?token=/)
    const address = new URL((await link.textContent()) ?? '')
    await root.getByRole('button', { name: say.done, exact: true }).click()
    await expectFit(root, language, data)
    const { page: user, problems: problemsOfUser } = await stage.open('nobody', { ...look, isOwn: true })
    await go(user, address.pathname + address.search)
    await expectFit(user, language, data)
    await shoot(user, 'invitation-visitor', look)
    await user.getByRole('main').getByRole('link', { name: say.login, exact: true }).click()
    await user.getByRole('textbox', { name: say.username }).fill('user')
    await user.getByRole('textbox', { name: say.password }).fill(userPassword)
    await user.getByRole('main').getByRole('button', { name: say.login, exact: true }).click()
    await user.getByRole('button', { name: say.accept, exact: true }).waitFor()
    expect(user.url()).toContain('/invitation?token=')
    await expectFit(user, language, data)
    await shoot(user, 'invitation', look)
    await user.getByRole('button', { name: say.accept, exact: true }).click()
    await user.waitForURL('**/organisation')
    await user.getByRole('button', { name: say.pays }).first().waitFor()
    await expectFit(user, language, data)

    // A team with the member, and a budget of nothing.
    await tabOf(root, say.teams).click()
    await root.getByRole('button', { name: say.firstTeam }).first().click()
    await root.getByRole('textbox', { name: say.name }).fill('R&D')
    await root.getByRole('button', { name: say.submit, exact: true }).click()
    await root.getByRole('dialog').waitFor({ state: 'detached' })
    await root.getByRole('button', { name: `${say.teamMembers}: R&D` }).click()
    const members = root.getByRole('dialog')
    await members.getByRole('combobox', { name: say.addMember }).click()
    await root.getByRole('option', { name: 'user', exact: true }).click()
    await members.getByRole('button', { name: say.add, exact: true }).click()
    await members.getByRole('switch').waitFor()
    await expectFit(root, language, data)
    await root.keyboard.press('Escape')
    await tabOf(root, say.budgets).click()
    await root.getByRole('button', { name: say.addBudgetTo }).click()
    await root.getByRole('textbox', { name: say.amount }).fill('0')
    await expectFit(root, language, data)
    await root.getByRole('button', { name: say.submit, exact: true }).click()
    await root.getByRole('dialog').waitFor({ state: 'detached' })

    // A token of the team, whose call is refused.
    await go(user, '/token')
    await user.getByRole('button', { name: say.addToken }).first().click()
    await user.getByRole('textbox', { name: say.name }).fill(`bot-${language}`)
    await user.getByRole('combobox', { name: say.team, exact: true }).click()
    await user.getByRole('option', { name: 'R&D' }).click()
    await expectFit(user, language, [...data, `bot-${language}`])
    await shoot(user, 'organisation-token', look)
    await user.getByRole('button', { name: say.submit, exact: true }).click()
    await user.getByRole('button', { name: say.done, exact: true }).click()
    const key = await keyOf(user, acme.id)
    const ask = () =>
      fetch(`${stage.server.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer sk-${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model, max_tokens: 7, messages: [{ role: 'user', content: 'hello' }] }),
      })
    const refused = await ask()
    expect([refused.status, await refused.text()]).toEqual([429, expect.stringContaining('budget_exceeded')])

    // The member asks for more; the owner grants it with one press.
    await go(user, '/organisation?tab=budgets')
    await user.getByRole('button', { name: say.raise }).click()
    await user.getByRole('textbox', { name: say.amount }).fill('1')
    await user.getByRole('textbox', { name: say.reason }).fill('A test')
    await expectFit(user, language, [...data, 'A test'])
    await user.getByRole('button', { name: say.send }).click()
    await readMessage(user, language, say.sent)
    await expectFit(user, language, [...data, 'A test'])
    await shoot(user, 'organisation-budgets-member', look)
    // A mailed link names the organisation, whichever account pays in the tab.
    await root.evaluate(() => sessionStorage.clear())
    await go(root, `/organisation?organisation=${acme.id}&tab=budgets`)
    await root.getByRole('button', { name: say.grant, exact: true }).waitFor()
    expect(root.url()).toMatch(/\/organisation\?tab=budgets$/)
    await shoot(root, 'organisation-raise', look)
    await expectFit(root, language, [...data, 'A test'])
    await root.getByRole('button', { name: say.grant, exact: true }).click()
    await readMessage(root, language, say.granted)
    expect((await ask()).status).toBe(200)
    await go(root, '/organisation?tab=budgets')
    await expectFit(root, language, [...data, 'A test'])
    await shoot(root, 'organisation-budgets', look)
    await go(user, '/log')
    await user.getByText(`bot-${language}`).first().waitFor()
    await requireBalancedBooks(stage.server)

    // What the month has cost.
    await go(root, '/topup?tab=months')
    await root.getByRole('rowheader', { name: `R&D · ${model}` }).waitFor()
    await expectFit(root, language, [...data, model])
    await shoot(root, 'organisation-month', look)
    await root.emulateMedia({ media: 'print' })
    expect(await root.getByRole('banner').isVisible()).toBe(false)
    await shoot(root, 'organisation-month-printed', look)
    await root.emulateMedia({ media: null })

    // What each team and model has cost; a model leads to its calls.
    await go(root, '/organisation?tab=usage')
    await rowOf(root, 'R&D').first().waitFor()
    await expectFit(root, language, data)
    await shoot(root, 'organisation-usage', look)
    const [file] = await Promise.all([
      root.waitForEvent('download'),
      root.getByRole('button', { name: say.exportCsv, exact: true }).click(),
    ])
    expect(await readFile(await file.path(), 'utf8')).toMatch(/\r\n\d+,R&D,1,/)
    await root.getByText(say.byModel, { exact: true }).click()
    await root.getByRole('link', { name: model, exact: true }).waitFor()
    await expectFit(root, language, [...data, model])
    await root.getByRole('link', { name: model, exact: true }).click()
    await root.waitForURL((address) => address.pathname === '/log' && address.searchParams.get('model_name') === model)
    await root.getByText(`bot-${language}`).first().waitFor()

    // What members may do.
    await go(root, '/organisation?tab=allowances')
    await root.getByRole('button', { name: say.addRestriction }).first().click()
    await root.getByRole('textbox', { name: say.days }).fill('90')
    await expectFit(root, language, data)
    await root.getByRole('button', { name: say.submit, exact: true }).click()
    await root.getByRole('dialog').waitFor({ state: 'detached' })
    await root.getByText('90').first().waitFor()
    await expectFit(root, language, data)
    await shoot(root, 'organisation-permissions', look)
    await tabOf(root, say.webhooks).click()
    await root.getByRole('button', { name: say.addWebhook }).click()
    await root.getByRole('textbox', { name: say.name }).fill('hook')
    await root.getByRole('textbox', { name: say.url }).fill('https://example.com/hook')
    await expectFit(root, language, [...data, 'hook', 'https://example.com/hook'])
    await root.getByRole('button', { name: say.submit, exact: true }).click()
    await root.getByRole('dialog').waitFor({ state: 'detached' })
    await expectFit(root, language, [...data, 'hook', 'example.com'])
    await shoot(root, 'organisation-webhooks', look)
    await tabOf(root, say.history).click()
    await settled(root)
    await shoot(root, 'organisation-history', look)

    // Handed over.
    await go(root, '/organisation')
    await root.getByRole('combobox', { name: say.newOwner }).click()
    await root.getByRole('option', { name: 'user', exact: true }).click()
    await root.getByRole('button', { name: say.offer, exact: true }).click()
    await root.getByRole('dialog').getByRole('button', { name: say.offer, exact: true }).click()
    await readMessage(root, language, say.offered)
    await expectFit(root, language, data)
    await go(user, '/organisation')
    await user.getByRole('button', { name: say.acceptTransfer, exact: true }).click()
    await readMessage(user, language, say.isOwner)
    await tabOf(user, say.history).waitFor()
    await expectFit(user, language, data)
    const { items } = await stage.server.call<{ items: OrganisationMember[] }>(`GET /api/organisation/${acme.id}/members`)
    expect(items.map(({ username, role }) => `${username} ${role}`).sort()).toEqual(['root admin', 'user owner'])

    // Another page of the person alone says so, and leads back.
    await go(user, '/playground')
    await user.getByText(say.otherPayer).waitFor()
    await expectFit(user, language, data)
    await user.getByRole('button', { name: say.usePersonal }).click()
    await user.getByText(say.otherPayer).waitFor({ state: 'detached' })
    await user.getByRole('button', { name: say.pays }).first().click()
    await user.getByRole('menuitem', { name }).waitFor()
    await expectFit(user, language, data)
    await shoot(user, 'payer-menu', look)
    expect(problems).toEqual([])
    expect(problemsOfUser).toEqual([])
  },
)

it('shows each role what it may do, and is left when its user belongs to it no more', async () => {
  const founded: Organisation = await stage.server.call('POST /api/organisation/', { name: 'Roles', quota: 5_000_000 })
  const path = `/api/organisation/${founded.id}`
  const invited = await stage.server.call<{ secret: string }>(`POST ${path}/invitations`, { role: 'billing' })
  const { page, problems } = await stage.open('user', { language: 'en' })
  await go(page, `/invitation?token=${invited.secret}`)
  await page.getByRole('button', { name: 'Accept', exact: true }).click()
  await page.waitForURL('**/organisation')

  // The billing role has no keys and no log.
  const entries = page.getByRole('navigation', { name: 'Main navigation' }).getByRole('link')
  await expect
    .poll(async () => (await entries.allTextContents()).map((text) => text.trim()))
    .toEqual(['Budgets', 'Dashboard', 'Wallet', 'Organisation', 'Settings'])
  await expectFit(page, 'en', ['Roles'])
  await go(page, '/topup')
  await page.getByText('$10.00').first().waitFor()
  await expectFit(page, 'en', ['Roles'])
  await go(page, '/token')
  await page.getByText('Not available for this organisation').waitFor()

  // A member has tokens and a log.
  const { items } = await stage.server.call<{ items: OrganisationMember[] }>(`GET ${path}/members`)
  const member_id = items.find(({ username }) => username === 'user')?.id ?? 0
  await stage.server.call(`PUT ${path}/members`, { member_id, role: 'member' })
  await go(page, '/organisation?tab=members')
  await expect
    .poll(async () => (await entries.allTextContents()).map((text) => text.trim()))
    .toEqual(expect.arrayContaining(['Tokens', 'Logs', 'Organisation']))
  await page.getByRole('cell', { name: 'Member', exact: true }).waitFor()
  expect(await page.getByRole('button', { name: 'Invite', exact: true }).count()).toBe(0)

  await stage.server.call(`DELETE ${path}/members/${member_id}`)
  await go(page, '/token')
  await readMessage(page, 'en', 'You no longer belong to the organisation. Your personal account pays now.')
  await page.getByRole('link', { name: 'Playground' }).waitFor()
  expect(problems.filter((problem) => !problem.includes(' 404 ') && !problem.includes(' 403 '))).toEqual([])
})

/** The row or the card with this name. */
function rowOf(page: Page, name: string): Locator {
  return page.getByRole('row', { name }).or(page.getByRole('listitem').filter({ hasText: name }))
}

/** The key of the only token that the user of this page has in an organisation. */
function keyOf(page: Page, organisation: number): Promise<string> {
  return page.evaluate(async (id) => {
    const user = JSON.parse(localStorage.getItem('user') ?? '{}').id
    const headers = { 'new-api-user': String(user), 'x-organisation-id': String(id) }
    const { data } = await (await fetch('/api/token/?p=0&paged=true', { headers })).json()
    return data.items[0].key
  }, organisation)
}
