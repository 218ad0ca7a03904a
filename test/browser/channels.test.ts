import OpenAI from 'openai'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { Channel, ChannelKey } from '../../src/contract/entities/channel.ts'
import { seconds } from '../../src/server/base/lib/time/clock.ts'
import { addChannel, addToken, setOptions } from '../helpers/seed.ts'
import { startFakeUpstream } from '../helpers/upstream.ts'
import { expectFit, go, hasFocus, inBothLanguages, looks, openStage, readMessage, type Stage } from './stage.ts'

/** Channel operations of admins other than adding: failing keys, tags, changes to requests, upstream models. */
let stage: Stage
beforeAll(async () => {
  stage = await openStage()
  await setOptions(stage.server, { AutomaticDisableChannelEnabled: true })
})
afterEach(async () => {
  stage.upstream.program(model, {})
  const channels = await stage.server.call<Channel[]>('GET /api/channel/search')
  for (const { id } of channels) await stage.server.call(`DELETE /api/channel/${id}`)
})
afterAll(() => stage.stop())

const model = 'gpt-4o-mini'

const wordsOf = inBothLanguages({
  newChannel: ['创建新的渠道', 'Create channel'],
  editChannel: ['更新渠道信息', 'Edit channel'],
  name: ['名称', 'Name'],
  baseUrl: ['代理站地址', 'Base URL'],
  key: ['密钥', 'Key'],
  keyLines: [
    '填了多个密钥，请在上方选择“多密钥渠道”或“批量创建”',
    'You entered multiple keys. Select “Multiple keys” or “Batch create” above.',
  ],
  together: ['多密钥渠道', 'Multiple keys'],
  keyMode: ['密钥使用方式', 'Key selection'],
  inTurn: ['轮流', 'Round robin'],
  clearModels: ['清除所有模型', 'Remove all models'],
  customModels: ['输入自定义模型名称，用逗号分隔', 'Custom model names, comma-separated'],
  fill: ['填入', 'Add'],
  submit: ['提交', 'Submit'],
  channelMade: ['渠道创建成功！', 'Channel created'],
  channelSaved: ['渠道更新成功！', 'Channel updated'],
  keysOf: [(name: string) => `“${name}”的密钥`, (name: string) => `Keys of “${name}”`],
  autoDisabled: ['自动禁用', 'Auto-disabled'],
  enable: ['启用', 'Enable'],
  enabled: ['已启用', 'Enabled'],
  inUse: [
    (enabled: number, count: number) => `${enabled} / ${count} 个密钥可用`,
    (enabled: number, count: number) => `${enabled} of ${count} keys enabled`,
  ],
  addKeys: ['添加密钥（一行一个）', 'Add keys (one per line)'],
  addCount: [(count: number) => `添加 ${count} 个`, (count: number) => `Add ${count}`],
  added: [(count: number) => `已添加 ${count} 个密钥`, (count: number) => `${count} ${count === 1 ? 'key' : 'keys'} added`],
  remove: ['删除', 'Delete'],
  removeTitle: ['删除此密钥？', 'Delete this key?'],
  editTag: ['编辑标签', 'Edit tag'],
  editTagTitle: [(tag: string) => `编辑标签“${tag}”`, (tag: string) => `Edit tag “${tag}”`],
  priority: ['优先级', 'Priority'],
  channelPriority: ['渠道优先级', 'Priority'],
  addMapping: ['添加重定向', 'Add mapping'],
  mappingFrom: ['请求的模型', 'Requested model'],
  mappingTo: ['发给上游的模型', 'Upstream model'],
  circle: ['循环：', 'Loop:'],
  circleError: ['模型重定向存在循环：a', 'The model mapping has a loop at a'],
  tagSaved: [(count: number) => `标签更新成功，已修改 ${count} 个渠道`, (count: number) => `Tag updated on ${count} channels`],
  disableAll: ['禁用全部', 'Disable all'],
  changed: [(count: number) => `已更改 ${count} 个渠道`, (count: number) => `${count} channels updated`],
  setTag: ['设置标签', /^Set (the )?tag$/],
  tag: ['标签', 'Tag'],
  tagRequired: ['标签不能为空！', 'Enter a tag'],
  connection: ['连接与兼容', 'Connection and compatibility'],
  lackingField: ['上游没有的接口', 'Unsupported endpoints'],
  lacks: [(endpoints: string) => `上游没有 ${endpoints}`, (endpoints: string) => `Upstream does not support ${endpoints}`],
  rewrite: ['请求改写', 'Request changes'],
  prompt: ['系统提示词', 'System prompt'],
  addRule: ['添加规则', 'Add rule'],
  path: ['字段路径', 'Field path'],
  pathFault: ['不能改写 model 与 stream', 'cannot change model or stream'],
  value: [/^值/, /^Value/],
  addHeader: ['添加请求头', 'Add header'],
  headerName: ['名称 请求头 1', 'Name header 1'],
  testAll: ['测试所有渠道', 'Test all channels'],
  jobs: ['正在进行的任务', 'Running jobs'],
  testDone: [/测试所有渠道：完成/, /Test all channels: completed/],
  passed: [(count: number) => `通过 ${count}`, (count: number) => `${count} passed`],
  moreOfAll: ['更多操作: 渠道', 'More actions: Channels'],
  refresh: ['刷新', 'Refresh'],
  changes: ['上游模型变化', 'Upstream model changes'],
  noChanges: ['没有待处理的变化', 'No pending changes'],
  check: ['立即检查', 'Check now'],
  apply: [(count: number) => `应用所选 ${count} 项`, (count: number) => `Apply ${count}`],
  applied: [(name: string) => `“${name}”的模型已更新`, (name: string) => `Models of “${name}” updated`],
  ruleOfReasoning: [/^送回思考内容/, /^Send reasoning back/],
  ruleOfStreams: [/^只在流式请求中思考/, /^Think in streams only/],
  ruleByName: ['默认（按模型名）', 'Default (by model name)'],
  ruleOn: ['打开', 'On'],
  ruleOff: ['关闭', 'Off'],
  allSettings: ['全部设置', 'All settings'],
  settingJson: ['渠道额外设置（JSON）', 'Extra settings (JSON)'],
  concurrency: ['最多同时进行的请求', 'Concurrent requests'],
  atLeastOne: ['不能小于 1', 'at least 1'],
})

describe.each(looks(['zh', 'en'] as const))('in %s', (language) => {
  const words = wordsOf[language]
  const channelOf = (id: number) => stage.server.call<Channel>(`GET /api/channel/${id}`)

  async function ask(name: string): Promise<void> {
    const { key: apiKey } = await addToken(stage.server, { name })
    const client = new OpenAI({ apiKey, baseURL: `${stage.server.url}/v1`, maxRetries: 0 })
    await client.chat.completions.create({ model, messages: [{ role: 'user', content: 'hello' }] })
  }

  it('an admin adds a channel with three keys, and repairs the refused one', async () => {
    const name = `keys-${language}`
    const refused = `upstream-key-${language}-2222`
    const { page, problems } = await stage.open('root', { language, scheme: language === 'zh' ? 'light' : 'dark' })
    await go(page, '/channel/add')
    const form = page.getByRole('dialog', { name: words.newChannel })
    await form.getByRole('textbox', { name: words.name, exact: true }).fill(name)
    await form.getByRole('textbox', { name: words.baseUrl }).fill(stage.upstream.url)
    await form
      .getByRole('textbox', { name: words.key, exact: true })
      .fill(`upstream-key-${language}-1111\n${refused}\nupstream-key-${language}-3333`)
    await form.getByRole('button', { name: words.clearModels }).click()
    await form.getByRole('textbox', { name: words.customModels }).fill(model)
    await form.getByRole('button', { name: words.fill, exact: true }).click()

    // Several keys without a choice of how to use them are refused.
    await form.getByRole('button', { name: words.submit }).click()
    await form.getByText(words.keyLines).waitFor()
    await form.getByText(words.together, { exact: true }).click()
    await choose(page, form.getByRole('combobox', { name: words.keyMode }), words.inTurn)
    await expectFit(page, language, [name])
    await form.getByRole('button', { name: words.submit }).click()
    await readMessage(page, language, words.channelMade)

    const { id } = (await stage.server.call<Channel[]>(`GET /api/channel/search?keyword=${name}`))[0] ?? { id: 0 }
    stage.upstream.program(model, ({ headers }) => ({ status: headers.authorization === `Bearer ${refused}` ? 401 : 200 }))
    await expect
      .poll(async () => {
        await ask(name).catch(() => {})
        return (await channelOf(id)).keys_enabled
      })
      .toBe(2)

    await go(page, `/channel?keyword=${name}`)
    await page.getByRole('button', { name: '2/3' }).click()
    const keys = page.getByRole('dialog', { name: words.keysOf(name) })
    const bad = keys.getByRole('row').filter({ hasText: '…2222' })
    await bad.getByText(words.autoDisabled).waitFor()
    await bad.getByText('401').waitFor()
    await expectFit(page, language, [name, (await bad.textContent()) ?? '', 'Simulated status 401'])
    await bad.getByRole('button', { name: words.enable }).click()
    await bad.getByText(words.enabled, { exact: true }).waitFor()
    await keys.getByText(words.inUse(3, 3)).waitFor()

    await keys.getByRole('textbox', { name: words.addKeys }).fill(`upstream-key-${language}-3333\nupstream-key-${language}-4444`)
    await keys.getByRole('button', { name: words.addCount(2) }).click()
    await readMessage(page, language, words.added(1))
    await bad.getByRole('button', { name: words.remove }).click()
    // Esc answers the question, and leaves the list of keys open.
    await page.getByRole('dialog', { name: words.removeTitle }).waitFor()
    await expectFit(page, language, [name])
    await page.keyboard.press('Escape')
    await page.getByRole('dialog', { name: words.removeTitle }).waitFor({ state: 'detached' })
    await hasFocus(bad.getByRole('button', { name: words.remove }))
    await bad.getByRole('button', { name: words.remove }).click()
    await page.getByRole('dialog', { name: words.removeTitle }).getByRole('button', { name: words.remove }).click()
    await keys.getByText(words.inUse(3, 3)).waitFor()
    const tails = (await stage.server.call<ChannelKey[]>(`GET /api/channel/${id}/keys`)).map(({ tail }) => tail)
    expect(tails).toEqual(['…1111', '…3333', '…4444'])
    expect(problems).toEqual([])
  })

  it('an admin changes all channels of a tag, and tags others', async () => {
    const tag = `tag-${language}`
    const add = (name: string, more = {}) => addChannel(stage.server, { url: stage.upstream.url, models: model, name, ...more })
    const [one, two] = [await add(`${tag}-1`, { tag, priority: 3 }), await add(`${tag}-2`, { tag })]
    const three = await add(`${tag}-3`)
    const { page, problems } = await stage.open('root', { language, scheme: language === 'zh' ? 'dark' : 'light' })

    await go(page, `/channel?tags=true&keyword=${tag}`)
    await page.getByRole('button', { name: `${words.editTag}: ${tag}` }).click()
    const form = page.getByRole('dialog', { name: words.editTagTitle(tag) })
    await form.getByRole('textbox', { name: words.priority }).fill('7')
    await form.getByRole('button', { name: words.addMapping }).click()
    await form.getByRole('textbox', { name: words.mappingFrom }).first().fill('a')
    await form.getByRole('textbox', { name: words.mappingTo }).first().fill('a')
    await form.getByText(words.circle).waitFor()
    await form.getByRole('button', { name: words.submit }).click()
    await form.getByText(words.circleError).waitFor()
    await form.getByRole('textbox', { name: words.mappingTo }).first().fill('b')
    await expectFit(page, language, [tag])
    await form.getByRole('button', { name: words.submit }).click()
    await readMessage(page, language, words.tagSaved(2))
    for (const id of [one, two])
      expect(await channelOf(id)).toMatchObject({ priority: 7, model_mapping: JSON.stringify({ a: 'b' }, null, 2), tag })

    await page.getByRole('button', { name: `${words.disableAll}: ${tag}` }).click()
    await readMessage(page, language, words.changed(2))
    expect((await channelOf(one)).status).toBe(2)
    await expectFit(page, language, [tag])

    await go(page, `/channel?keyword=${tag}-3`)
    await page
      .getByRole('row', { name: `${tag}-3` })
      .getByRole('checkbox')
      .check()
    await page.getByRole('button', { name: words.setTag }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: words.setTag }).click()
    await dialog.getByText(words.tagRequired).waitFor()
    await dialog.getByRole('combobox', { name: words.tag }).fill(`${tag}-new`)
    await expectFit(page, language, [tag])
    await dialog.getByRole('button', { name: words.setTag }).click()
    await dialog.waitFor({ state: 'detached' })
    expect((await channelOf(three)).tag).toBe(`${tag}-new`)
    expect(problems).toEqual([])
  })

  it('an admin overrides a parameter, and it reaches the upstream', async () => {
    const name = `override-${language}`
    const id = await addChannel(stage.server, { url: stage.upstream.url, models: model, name })
    const { page, problems } = await stage.open('root', { language, width: 390, height: 844 })
    await go(page, `/channel/edit/${id}`)
    const form = page.getByRole('dialog', { name: words.editChannel })
    await form.getByText(words.rewrite, { exact: true }).click()
    await form.getByRole('textbox', { name: words.prompt }).fill('Be brief.')
    await form.getByRole('button', { name: words.addRule }).click()
    const path = form.getByRole('textbox', { name: words.path })
    await path.fill('model')
    await form.getByText(words.pathFault).waitFor()
    await path.fill('temperature')
    await form.getByText(words.pathFault).waitFor({ state: 'detached' })
    await form.getByRole('textbox', { name: words.value }).fill('0.25')
    await form.getByRole('button', { name: words.addHeader }).click()
    await form.getByRole('textbox', { name: words.headerName }).fill('x-team')
    await form.getByRole('textbox', { name: words.value }).last().fill('blue {api_key}')
    await expectFit(page, language, [name, '{api_key}'])
    await form.getByRole('button', { name: words.submit }).click()
    await readMessage(page, language, words.channelSaved)

    expect(JSON.parse((await channelOf(id)).setting)).toEqual({
      system_prompt: 'Be brief.',
      param_override: [{ set: 'temperature', to: 0.25 }],
      header_override: { 'x-team': 'blue {api_key}' },
    })
    await ask(name)
    const sent = stage.upstream.journal.at(-1)
    expect(sent?.json).toMatchObject({
      temperature: 0.25,
      messages: [{ role: 'system', content: 'Be brief.' }, { role: 'user' }],
    })
    expect(sent?.headers['x-team']).toBe('blue upstream-key-0123456789')
    expect(problems).toEqual([])
  })

  it('an admin switches rules of model families on and off, and back to their default', async () => {
    const name = `rules-${language}`
    const id = await addChannel(stage.server, { url: stage.upstream.url, models: model, name })
    const { page, problems } = await stage.open('root', { language, width: 390, height: 844 })
    for (const [choices, saved] of [
      [
        { reasoning: words.ruleOn, streams: words.ruleOff },
        { model_rules: { replay_reasoning: true, think_in_streams_only: false } },
      ],
      [{ reasoning: words.ruleByName }, { model_rules: { think_in_streams_only: false } }],
    ] as const) {
      await go(page, `/channel/edit/${id}`)
      const form = page.getByRole('dialog', { name: words.editChannel })
      await form.getByText(words.connection, { exact: true }).click()
      for (const [field, choice] of Object.entries(choices)) {
        await form.getByRole('combobox', { name: field === 'streams' ? words.ruleOfStreams : words.ruleOfReasoning }).click()
        await page.getByRole('option', { name: choice, exact: true }).click()
      }
      await expectFit(page, language, [name])
      await form.getByRole('button', { name: words.submit }).click()
      await readMessage(page, language, words.channelSaved)
      expect(JSON.parse((await channelOf(id)).setting)).toEqual(saved)
    }
    expect(problems).toEqual([])
  })

  it("an admin tests all channels, and applies the upstream's new models", async () => {
    const name = `models-${language}`
    const models = [model, 'old-model']
    const upstream = await startFakeUpstream({ models })
    const id = await addChannel(stage.server, { url: upstream.url, models: models.join(','), name })
    const { page, problems } = await stage.open('root', { language })
    await go(page, '/channel')
    // The models of each channel type are stored for the next visit.
    await expect.poll(() => page.evaluate(() => localStorage.getItem('channel_models'))).toContain('"deepseek-chat"')
    await page.getByRole('button', { name: words.testAll }).click()
    const strip = page.getByRole('region', { name: words.jobs })
    await strip.getByText(words.testDone).waitFor()
    await strip.getByText(words.passed(1)).waitFor()
    // The button was disabled meanwhile, and lost the focus.
    await hasFocus(page.getByRole('button', { name: words.testAll }))
    await expectFit(page, language, [name])
    await strip.getByRole('button').click()
    await strip.waitFor({ state: 'detached' })

    await page.getByRole('button', { name: words.moreOfAll }).click()
    const readAgain = page.waitForResponse('**/api/channel/search?*')
    await page.getByRole('menuitem', { name: words.refresh }).click()
    await readAgain
    await page.getByRole('button', { name: words.moreOfAll }).click()
    await page.getByRole('menuitem', { name: words.changes }).click()
    const dialog = page.getByRole('dialog', { name: words.changes })
    await dialog.getByText(words.noChanges).waitFor()
    const check = async () => {
      const before = (await lastCheck())?.started_at ?? 0
      // The start of a run is stored in whole seconds.
      await expect.poll(() => seconds(stage.server.app.now())).toBeGreaterThan(before)
      await dialog.getByRole('button', { name: words.check }).click()
      // Other runs ended earlier: only the new one counts.
      const hasEnded = (run: Run | undefined) => run !== undefined && run.started_at > before && run.outcome === 'ok'
      await expect.poll(async () => hasEnded(await lastCheck())).toBe(true)
    }
    interface Run {
      name: string
      started_at: number
      outcome: string
    }
    const lastCheck = async () =>
      (await stage.server.call<Run[]>('GET /api/channel/jobs')).find(({ name }) => name === 'check-models')
    await check()
    models.splice(1, 1, 'new-model')
    await check()
    const change = dialog.getByRole('region', { name })
    await change.getByRole('checkbox', { name: 'old-model' }).uncheck()
    await expectFit(page, language, [name])
    await change.getByRole('button', { name: words.apply(1) }).click()
    await readMessage(page, language, words.applied(name))
    expect((await channelOf(id)).models).toBe(`${model},old-model,new-model`)
    // The changes that were not applied are still pending, and shown in the row of the channel.
    await page.keyboard.press('Escape')
    await hasFocus(page.getByRole('button', { name: words.moreOfAll }))
    await page.getByRole('row', { name }).getByRole('button', { name: '−1' }).waitFor()
    // The code of the dialog is loaded by now, so the dialog opens before the menu has closed.
    await page.getByRole('button', { name: words.moreOfAll }).click()
    await page.getByRole('menuitem', { name: words.changes }).click()
    await change.waitFor()
    await page.keyboard.press('Escape')
    await hasFocus(page.getByRole('button', { name: words.moreOfAll }))
    expect(problems).toEqual([])
    await upstream.stop()
  })

  it('an admin sees the endpoints found missing at an upstream, and sets others', async () => {
    const name = `lacking-${language}`
    const id = await addChannel(stage.server, { url: stage.upstream.url, models: model, name })
    const since = Math.floor(Date.now() / 1000) - 60
    const lacking = JSON.stringify({ responses: since })
    await stage.server.app.db.updateTable('channels').set({ lacking }).where('id', '=', id).execute()
    const { page, problems } = await stage.open('root', { language })
    await go(page, '/channel')
    const tag = page.getByRole('row', { name }).getByText(words.lacks('/v1/responses'))
    await tag.hover()
    await page
      .getByRole('tooltip')
      .getByText(`/v1/responses${language === 'zh' ? '：' : ': '}`)
      .waitFor()
    await expectFit(page, language, [name])

    await go(page, `/channel/edit/${id}`)
    const form = page.getByRole('dialog', { name: words.editChannel })
    await form.getByText(words.connection, { exact: true }).click()
    await form.getByRole('combobox', { name: words.lackingField }).press('ArrowDown')
    await page.getByRole('option', { name: 'embeddings' }).click()
    await form.getByRole('combobox', { name: words.lackingField }).press('Tab')
    await form.getByRole('button', { name: words.submit }).click()
    await readMessage(page, language, words.channelSaved)
    const saved = await channelOf(id)
    // The models of a changed channel are requested again.
    expect([JSON.parse(saved.setting), saved.lacking]).toEqual([{ lacks_endpoints: ['embeddings'] }, []])
    expect(problems).toEqual([])
  })

  it('an invalid setting opens its panel, and is not sent', async () => {
    const name = `faults-${language}`
    const id = await addChannel(stage.server, { url: stage.upstream.url, models: model, name })
    const { page } = await stage.open('root', { language })
    await go(page, `/channel/edit/${id}`)
    const form = page.getByRole('dialog', { name: words.editChannel })
    await form.getByText(words.allSettings, { exact: true }).click()
    await form.getByRole('textbox', { name: words.settingJson }).fill('{"max_concurrency": 0, "other": 1}')
    await form.getByRole('button', { name: words.submit }).click()
    const field = form.getByRole('textbox', { name: words.concurrency })
    await form.getByText(words.atLeastOne).waitFor()
    await hasFocus(field)
    await expectFit(page, language, [name])
    await field.fill('4')
    await form.getByRole('button', { name: words.submit }).click()
    await readMessage(page, language, words.channelSaved)
    expect(JSON.parse((await channelOf(id)).setting)).toEqual({ max_concurrency: 4, other: 1 })
  })

  it('a form opened by its own address is shown alone, and the list is loaded when it closes', async () => {
    const name = `alone-${language}`
    const id = await addChannel(stage.server, { url: stage.upstream.url, models: model, name })
    const { page } = await stage.open('root', { language })
    await go(page, `/channel/edit/${id}`)
    const form = page.getByRole('dialog', { name: words.editChannel })
    const priority = form.getByRole('textbox', { name: words.channelPriority })
    await priority.fill('12a3')
    expect(await priority.inputValue()).toBe('123')
    await priority.press('ArrowUp')
    expect(await priority.inputValue()).toBe('124')
    await priority.fill('-5000')
    await expectFit(page, language, [name])
    expect(await page.locator('main').getByRole('table').count()).toBe(0)
    await priority.press('Enter')
    await readMessage(page, language, words.channelSaved)
    await page.getByRole('table').getByText(name).waitFor()
    expect(await channelOf(id)).toMatchObject({ priority: -999 })
  })
})

it('a new channel is saved and tested in one step, with the models that its upstream lists, and its row is on top', async () => {
  const { server, upstream } = stage
  for (const name of ['old-1', 'old-2']) await addChannel(server, { url: upstream.url, models: model, name, priority: 9 })
  const preset = 'gpt-6-luna'
  const { page, problems } = await stage.open('root', { language: 'en' })
  await page.route('**/api/channel/fetch_models', (route) =>
    route.fulfill({ json: { success: true, message: '', data: [preset, 'another'] } }),
  )
  await go(page, '/channel')
  await page.getByRole('button', { name: 'Add channel' }).click()
  const form = page.getByRole('dialog', { name: 'Create channel' })
  await form.getByRole('textbox', { name: 'Name', exact: true }).fill('fresh')
  await form.getByRole('textbox', { name: 'Base URL' }).fill(upstream.url)
  await form.getByRole('textbox', { name: 'Key', exact: true }).fill('sk-test')
  await form.getByRole('button', { name: 'Save and test' }).click()
  await readMessage(page, 'en', 'the others were left out')
  await readMessage(page, 'en', '“fresh” passed the test')
  const first = page.getByRole('row').nth(1)
  await first.getByText('fresh').waitFor()
  expect(await first.getAttribute('data-lit')).toBe('true')
  const [added] = await server.call<Channel[]>('GET /api/channel/search?keyword=fresh')
  expect(added).toMatchObject({ models: preset, response_time: expect.any(Number) })

  // Grouped by tag, the channel is in the group without a tag.
  await page.getByRole('switch', { name: 'Group by tag' }).press('Space')
  await page.getByRole('button', { name: 'Show or hide the rows: No tag' }).waitFor()
  await expectFit(page, 'en', ['fresh', 'old-1', 'old-2'])
  await page.getByRole('checkbox', { name: 'Select all on this page' }).check()
  await page.getByRole('button', { name: 'Test one after another' }).click()
  await readMessage(page, 'en', '3 channels passed the test')
  expect(problems).toEqual([])
})

async function choose(page: Page, select: ReturnType<Page['getByRole']>, option: string): Promise<void> {
  await select.click()
  await page.getByRole('option', { name: option }).click()
}
