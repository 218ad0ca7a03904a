import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import type { Organisation } from '../../src/contract/entities/organisation.ts'
import type { SignedInUser } from '../../src/contract/entities/user.ts'
import { startOpenIdProvider, trustingProvider } from '../helpers/openid-provider.ts'
import { expectFit, go, inBothLanguages, looks, openStage, readMessage, type Stage, shoot } from './stage.ts'

/** The login of an organisation in the browser: its settings, and a person who enters by it. The provider is a real one. */
let stage: Stage
beforeAll(async () => {
  // The certificate of the provider is for tests only.
  stage = await openStage({ flags: ['--ignore-certificate-errors'], upstream: trustingProvider })
  await stage.server.call('PUT /api/option/', { key: 'ServerAddress', value: stage.server.url })
})
afterAll(() => stage.stop())

const words = inBothLanguages({
  open: ['以组织身份查看', 'Open as it sees itself'],
  tab: ['登录', 'Signing in'],
  edit: ['编辑', 'Edit'],
  issuer: ['颁发者', 'Issuer'],
  clientId: ['客户端 ID', 'Client ID'],
  secret: ['客户端密钥', 'Client secret'],
  groups: ['分组声明', 'Group claim'],
  creates: ['为新人员创建账户', 'Create accounts'],
  enabled: ['启用', 'Enabled'],
  submit: ['提交', 'Submit'],
  saved: ['已保存', 'Saved'],
  domainAdd: ['添加域名', 'Add domain'],
  domain: ['邮箱域名', 'Mail domain'],
  confirm: ['确认', 'Confirm'],
  confirmed: ['已确认', 'Confirmed'],
  ruleAdd: ['添加规则', 'Add rule'],
  group: ['目录分组', 'Group of the directory'],
  role: ['角色', 'Role'],
  admin: ['管理员', 'Admin'],
  scimCreate: ['创建令牌', 'Create token'],
  scimReplace: ['更换令牌', 'Replace token'],
  done: ['完成', 'Done'],
  organisationLogin: ['通过组织登录', 'Log in with your organisation'],
  name: ['工作邮箱或组织名称', 'Work email or organisation'],
  continue: ['继续', 'Continue'],
  unknown: [/没有找到该组织的登录方式/, /No organisation with a login of its own/],
})

it.each(
  looks([
    { language: 'zh', width: 1440, scheme: 'light' },
    { language: 'en', width: 390, scheme: 'dark' },
    { language: 'en', width: 1440, scheme: 'dark' },
    { language: 'zh', width: 390, scheme: 'light' },
  ] as const),
)('is set up by its owner, and a person enters by address, name and link ($language, $width, $scheme)', async (look) => {
  const { language, width } = look
  const say = words[language]
  const domain = `firm-${language}-${width}.example`
  const acme = await stage.server.call<Organisation>('POST /api/organisation/', { name: `Acme ${language} ${width}` })
  const provider = await startOpenIdProvider([`${stage.server.url}/oauth/sso/${acme.id}`])
  onTestFinished(() => provider.stop())
  const username = `grace-${width}${language}`
  provider.people.set('p-1', { name: 'Grace Hopper', preferred_username: username, groups: ['chiefs'] })
  const data = [acme.name, provider.issuer, provider.client.client_id, domain, 'chiefs', 'Grace Hopper', 'SCIM']
  const { page: root, problems } = await stage.open('root', look)

  await go(root, '/organisations')
  await root.getByRole('button', { name: `${say.open}: ${acme.name}` }).click()
  await root.waitForURL('**/organisation')
  await root.getByRole('tab', { name: say.tab, exact: true }).click()
  await expectFit(root, language, data)
  await root.getByRole('button', { name: say.edit, exact: true }).click()
  const form = root.getByRole('dialog')
  await form.getByRole('textbox', { name: say.issuer }).fill(provider.issuer)
  await form.getByRole('textbox', { name: say.clientId }).fill(provider.client.client_id)
  await form.getByLabel(say.secret).fill(provider.client.client_secret)
  await form.getByRole('textbox', { name: say.groups }).fill('groups')
  for (const name of [say.creates, say.enabled]) await form.getByRole('switch', { name }).click({ force: true })
  await expectFit(root, language, data)
  await form.getByRole('button', { name: say.submit, exact: true }).click()
  await readMessage(root, language, say.saved)

  await root.getByRole('button', { name: say.domainAdd }).click()
  await root.getByRole('textbox', { name: say.domain }).fill(domain)
  await root.getByRole('button', { name: say.submit, exact: true }).click()
  await readMessage(root, language, say.saved)
  await root.getByRole('button', { name: `${say.confirm}: ${domain}` }).click()
  await root.getByRole('dialog').getByRole('button', { name: say.confirm, exact: true }).click()
  await root.getByText(say.confirmed, { exact: true }).waitFor()
  await readMessage(root, language, say.saved)

  await root.getByRole('button', { name: say.ruleAdd }).click()
  await root.getByRole('textbox', { name: say.group }).fill('chiefs')
  await root.getByRole('combobox', { name: say.role }).click()
  await root.getByRole('option', { name: say.admin, exact: true }).click()
  await root.getByRole('button', { name: say.submit, exact: true }).click()
  await readMessage(root, language, say.saved)

  await root.getByRole('button', { name: new RegExp(`^(${say.scimCreate}|${say.scimReplace})$`) }).click()
  await expectFit(root, language, data)
  await root.getByRole('button', { name: say.done, exact: true }).click()
  await root.getByRole('button', { name: say.scimReplace }).waitFor()
  await expectFit(root, language, data)
  await shoot(root, 'organisation-login', look)
  expect(problems).toEqual([])

  const { page, problems: problemsOfPerson } = await stage.open('nobody', { ...look, isOwn: true })
  provider.visitor = 'p-1'
  await go(page, '/login')
  await page.getByRole('link', { name: say.organisationLogin }).click()
  await page.getByRole('textbox', { name: say.name }).fill('nobody@nowhere.example')
  await page.getByRole('button', { name: say.continue, exact: true }).click()
  await readMessage(page, language, say.unknown)
  await page.getByRole('textbox', { name: say.name }).fill(`grace@${domain}`)
  await expectFit(page, language, data)
  await shoot(page, 'sso', look)
  await page.getByRole('button', { name: say.continue, exact: true }).click()
  await page.waitForURL('**/token')
  const self = await page.evaluate(() => localStorage.getItem('user'))
  expect(JSON.parse(self ?? '{}') as SignedInUser).toMatchObject({ username, display_name: 'Grace Hopper' })

  // The address that a firm gives to its people.
  const { page: again } = await stage.open('nobody', { ...look, isOwn: true })
  await again.goto(`/sso/${encodeURIComponent(acme.name)}`)
  await again.waitForURL('**/token')
  expect(problemsOfPerson).toEqual([])
})
