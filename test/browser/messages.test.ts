import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { addChannel } from '../helpers/seed.ts'
import { expectFit, go, type Language, looks, openStage, readMessage, type Stage } from './stage.ts'

/** The console's messages for missing, wrong and refused values. */

const question = 'one two three four'
const models = { good: 'gpt-4o-mini', refusing: 'gpt-4o', cut: 'gpt-4.1' } as const

let stage: Stage
beforeAll(async () => {
  stage = await openStage()
  await addChannel(stage.server, { url: stage.upstream.url, models: Object.values(models).join() })
  stage.upstream.program(models.refusing, { status: 400 })
  stage.upstream.program(models.cut, { cutAfterEvents: 3 })
})
afterAll(() => stage.stop())

describe.each(looks(['zh', 'en'] as const))('in %s', (language) => {
  const words = wordsOf(language)

  it('the login reports missing and wrong values, and throttles repeated attempts', async () => {
    const { page } = await stage.open('nobody', { language })
    await go(page, '/login')
    const submit = page.getByRole('main').getByRole('button', { name: words.logIn, exact: true })
    await submit.click()
    await page.getByText(words.loginEmpty).waitFor()
    await page.getByRole('textbox', { name: words.username }).fill(`guess-${language}`)
    await submit.click()
    await page.getByText(words.loginEmpty).waitFor()
    await expectFit(page, language)

    await page.getByRole('textbox', { name: words.password }).fill('not the password')
    await submit.click()
    await readMessage(page, language, words.loginWrong)
    const refusal = page.getByRole('alert')
    while (!(await refusal.getByText(words.tooMany).isVisible())) {
      await submit.click()
      await refusal.first().waitFor()
    }
  })

  it('settings that were not changed, or hold no JSON, are not saved', async () => {
    const { page, problems } = await stage.open('root', { language })
    await go(page, '/setting?tab=operation&section=groups')
    const groups = page.getByRole('region', { name: words.groups })
    expect(await groups.getByRole('link', { name: words.toPrices }).getAttribute('href')).toBe('/setting?tab=prices')
    const save = page.getByRole('main').getByRole('button', { name: words.save, exact: true })
    expect(await save.count()).toBe(0)
    await groups.getByRole('radiogroup', { name: words.usableGroups }).getByText('JSON').click()
    const usable = groups.getByRole('textbox', { name: words.usableGroups })
    const before = await usable.inputValue()
    await usable.fill('{"default": ')
    expect(await groups.getByText(words.invalidJson).count()).toBe(0)
    await usable.blur()
    await groups.getByText(words.invalidJson).waitFor()
    await save.click()
    await readMessage(page, language, words.checkInput)
    await expectFit(page, language)

    await usable.fill(`{"default": "Everybody ${language}"}`)
    await save.click()
    await readMessage(page, language, words.saved)
    await usable.fill(before)
    await save.click()
    await readMessage(page, language, words.saved)
    expect(problems).toEqual([])
  })

  it('a group in use is removed only after its consequences are confirmed', async () => {
    const { server } = stage
    const { GroupRatio: before } = server.app.options.current
    const put = (ratios: object) =>
      server.call('PUT /api/option/', { key: 'GroupRatio', value: JSON.stringify(ratios), confirmed: true })
    await put({ ...before, retired: 3 })
    await addChannel(server, { url: stage.upstream.url, models: models.good, group: 'retired' })
    const { page, problems } = await stage.open('root', { language })
    await go(page, '/setting?tab=operation&section=groups')
    const groups = page.getByRole('region', { name: words.groups })
    await groups.getByRole('radiogroup', { name: words.groupRatio }).getByText('JSON').click()
    await groups.getByRole('textbox', { name: words.groupRatio }).fill(JSON.stringify(before))
    const save = page.getByRole('main').getByRole('button', { name: words.save, exact: true })
    await save.click()
    const question = page.getByRole('dialog', { name: words.groupsInUse })
    await question.getByText(words.retired).waitFor()
    await expectFit(page, language, ['retired'])
    await question.getByRole('button', { name: words.cancel }).click()
    await question.waitFor({ state: 'detached' })
    expect(server.app.options.current.GroupRatio.retired).toBe(3)

    await save.click()
    await question.getByRole('button', { name: words.remove }).click()
    await readMessage(page, language, words.saved)
    expect(server.app.options.current.GroupRatio).toEqual(before)
    expect(problems).toEqual([])
  })

  it('a channel needs a name, a key and models', async () => {
    const { page, problems } = await stage.open('root', { language })
    await go(page, '/channel/add')
    const form = page.getByRole('dialog')
    await form.getByRole('button', { name: words.clearModels }).click()
    await form.getByRole('button', { name: words.submit }).click()
    await form.getByText(words.channelName).first().waitFor()
    await form.getByText(words.channelModels).waitFor()
    await form.getByRole('radiogroup', { name: words.mapping }).getByText('JSON').click()
    await form.getByRole('textbox', { name: words.mapping }).fill('{')
    await form.getByRole('textbox', { name: words.mapping }).blur()
    await form.getByText(words.invalidJson).waitFor()
    await expectFit(page, language)
    expect(problems).toEqual([])
  })

  it('a token needs a name, and leaving a form that was filled in asks first', async () => {
    const { page, problems } = await stage.open('root', { language })
    await go(page, '/token')
    await page.getByRole('button', { name: words.addToken }).first().click()
    const form = page.getByRole('dialog', { name: words.newToken })
    await form.getByRole('button', { name: words.submit }).click()
    await form.getByText(words.tokenName).waitFor()
    await expectFit(page, language)
    await form.getByRole('textbox', { name: words.name, exact: true }).fill('half done')
    await page.keyboard.press('Escape')
    await page.getByRole('dialog', { name: words.discardTitle }).getByRole('button', { name: words.discard }).click()
    await form.waitFor({ state: 'detached' })
    expect(problems).toEqual([])
  })

  it('a text that the browser refuses to copy is offered for manual copying', async () => {
    const { page, problems } = await stage.open('root', { language, isOwn: true })
    await page.addInitScript(() => {
      navigator.clipboard.writeText = () => Promise.reject(new DOMException('denied', 'NotAllowedError'))
    })
    await go(page, '/')
    await page
      .getByRole('main')
      .getByRole('button', { name: `${stage.server.url}/v1` })
      .click()
    const dialog = page.getByRole('dialog', { name: words.copyFailed })
    const text = dialog.getByRole('textbox')
    expect(await text.inputValue()).toBe(`${stage.server.url}/v1`)
    await expect
      .poll(() => text.evaluate((field: HTMLTextAreaElement) => field.value.slice(field.selectionStart, field.selectionEnd)))
      .toBe(`${stage.server.url}/v1`)
    await expectFit(page, language)
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    expect(problems).toEqual([])
  })

  it('the playground shows why there is no answer, and retries on demand', async () => {
    const { page } = await stage.open('root', { language })
    await go(page, '/playground')
    await ask(page, words, models.refusing)
    const answer = page.getByRole('listitem').last()
    await answer.getByText(words.requestFailed).waitFor()
    await answer.getByText('Simulated status 400').waitFor()
    await expectFit(page, language, [question, 'Simulated status 400'])

    await ask(page, words, models.cut)
    await answer.getByText(words.requestFailed).waitFor()
    await expectFit(page, language, [question, 'Simulated status 400'])

    await choose(page, words.model, models.good)
    await answer.getByRole('button', { name: words.retry }).first().click()
    await answer.getByText(`You said: ${question}`).waitFor()
    await page.getByRole('status').getByText(words.answered).waitFor()
  })

  it('an empty balance is reported in the playground', async () => {
    const { page } = await stage.open('user', { language })
    await go(page, '/playground')
    await ask(page, words, models.good)
    const answer = page.getByRole('listitem').last()
    await answer.getByText(words.quota).waitFor()
    await expectFit(page, language, [question])
  })

  const refusals = [
    { status: 429, body: '', says: words.tooMany },
    { status: 500, body: '', says: words.internal },
    { status: 405, body: '', says: words.demo },
    { status: 418, body: JSON.stringify({ success: false, message: 'teapot' }), says: words.other },
  ]
  it('a failed call explains its status', async () => {
    const { page } = await stage.open('root', { language })
    await go(page, '/log')
    for (const { status, body, says } of refusals) {
      await page.route('**/api/log/?*', (route) => route.fulfill({ status, body }), { times: 1 })
      await page.getByRole('button', { name: words.refresh }).click()
      await readMessage(page, language, says)
    }
  })

  it('an unreachable server is reported, even when the status does not load', async () => {
    const { page } = await stage.open('root', { language })
    // The response is repeated until it is read, because a component that unmounts aborts its request.
    await page.route('**/api/status', (route) => route.fulfill({ status: 500 }))
    // The message disappears after some seconds, which may be before everything else is loaded.
    await page.goto('/about', { waitUntil: 'commit' })
    await readMessage(page, language, words.noStatus)
    await page.unroute('**/api/status')
    await page.route('**/api/user/self/groups', (route) => route.abort('connectionrefused'))
    await page.goto('/playground', { waitUntil: 'commit' })
    await readMessage(page, language, words.unreachable)
    await page.getByRole('main').getByRole('alert').getByText(words.unreachable).waitFor()
    await page.unroute('**/api/user/self/groups')
    await page.getByRole('button', { name: words.tryAgain }).click()
    await page.getByRole('combobox', { name: words.group, exact: true }).waitFor()
  })
})

it('password login is turned off only after confirmation', async () => {
  const { page, problems } = await stage.open('root', { language: 'zh' })
  await go(page, '/setting?tab=system&section=login')
  const login = page.getByRole('region', { name: '配置登录注册' })
  const passwords = login.getByRole('switch', { name: /^允许通过密码进行登录/ })
  await passwords.press('Space')
  await page.getByRole('main').getByRole('button', { name: '保存', exact: true }).click()
  const question = page.getByRole('dialog', { name: '确定关闭密码登录？' })
  await question.getByRole('button', { name: '取消' }).click()
  await question.waitFor({ state: 'detached' })
  expect(await passwords.isChecked()).toBe(false)
  expect(await stage.server.call('GET /api/status')).toMatchObject({ password_login_enabled: true })
  expect(problems).toEqual([])
})

async function ask(page: Page, words: Words, model: string): Promise<void> {
  await choose(page, words.model, model)
  await page.getByRole('textbox', { name: words.input }).fill(question)
  await page.getByRole('button', { name: words.send, exact: true }).click()
}

async function choose(page: Page, name: string, option: string): Promise<void> {
  await page.getByRole('combobox', { name, exact: true }).click()
  await page.getByRole('option', { name: option, exact: true }).click()
}

type Words = ReturnType<typeof wordsOf>

/** The texts of the language; both languages of a text are on one line, to be compared. */
function wordsOf(language: Language) {
  const pick = (zh: string, en: string) => (language === 'zh' ? zh : en)
  return {
    username: pick('用户名/邮箱', 'Username or email'),
    password: pick('密码', 'Password'),
    logIn: pick('登录', 'Log in'),
    loginEmpty: pick('请输入用户名和密码', 'Please enter username and password'),
    loginWrong: pick('用户名或密码错误，或用户已被封禁', 'Wrong username or password, or the user is banned'),
    tooMany: pick('请求次数过多，请稍后再试', 'Too many requests, try again later'),
    internal: pick('服务器内部错误，请联系管理员', 'Internal server error, contact the admin'),
    demo: pick('本站仅用于演示，无服务端', 'This site is demo only, no server'),
    other: pick('错误：teapot', 'Error: teapot'),
    unreachable: pick('无法连接至服务器', 'Unable to reach the server'),
    noStatus: pick('加载状态失败', 'Failed to load the site status'),
    refresh: pick('刷新', 'Refresh'),
    tryAgain: pick('重试', 'Try again'),
    groups: pick('分组设置', 'Group settings'),
    toPrices: pick('前往模型倍率设置', 'Go to model prices'),
    groupRatio: pick('分组倍率', 'Group ratio'),
    groupsInUse: pick('确定移除仍在使用的分组？', 'Remove groups in use?'),
    retired: pick('retired（用户 0、令牌 0、渠道 ', 'retired (users 0, tokens 0, channels '),
    remove: pick('移除分组', 'Remove groups'),
    cancel: pick('取消', 'Cancel'),
    usableGroups: pick('用户可选分组', 'User-selectable groups'),
    save: pick('保存', 'Save'),
    saved: pick('保存成功', 'Saved'),
    invalidJson: pick('不是合法的 JSON 字符串', 'Not a valid JSON string'),
    checkInput: pick('请检查输入', 'Check your input'),
    submit: pick('提交', 'Submit'),
    name: pick('名称', 'Name'),
    clearModels: pick('清除所有模型', 'Remove all models'),
    mapping: pick('模型重定向', 'Model mapping'),
    channelName: pick('请填写渠道名称和渠道密钥！', 'Please enter channel name and key'),
    channelModels: pick('请至少选择一个模型！', 'Please choose at least one model'),
    addToken: pick('添加令牌', 'Create token'),
    newToken: pick('创建新的令牌', 'Create token'),
    tokenName: pick('请输入令牌名称', 'A token name of 1 to'),
    discardTitle: pick('放弃未保存的修改？', 'Discard unsaved changes?'),
    discard: pick('放弃修改', 'Discard changes'),
    copyFailed: pick('无法复制到剪贴板，请手动复制', 'Could not copy to the clipboard. Copy it manually.'),
    group: pick('分组', 'Group'),
    model: pick('模型', 'Model'),
    input: pick('输入消息', 'Message'),
    send: pick('发送', 'Send'),
    retry: pick('重新回答', 'Regenerate'),
    answered: pick('回答完毕', 'Response complete'),
    requestFailed: pick('请求失败', 'The request failed'),
    quota: pick('用户额度不足', 'Insufficient quota'),
  }
}
