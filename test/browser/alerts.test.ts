import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { sendDeliveries } from '../../src/server/people/notify/send-deliveries.ts'
import { jobNamed } from '../../src/server/watch/jobs/table.ts'
import { loopbackIsPublic, type Receiver, startReceiver } from '../helpers/receiver.ts'
import { addChannel } from '../helpers/seed.ts'
import { expectFit, go, looks, openStage, readMessage, type Stage } from './stage.ts'

/**
 * Alerts in the console: a destination is added and tested, a rule fires, is silenced and recovers; and the quality checks that it
 * watches.
 */
let stage: Stage
let receiver: Receiver
let channel: number

beforeAll(async () => {
  ;[stage, receiver] = await Promise.all([openStage(), startReceiver()])
  Object.assign(stage.server.app.upstream, { untrusted: loopbackIsPublic() })
  channel = await addChannel(stage.server, { url: stage.upstream.url, models: 'gpt-4o-mini', name: 'east' })
})
afterAll(async () => {
  await stage.stop()
  await receiver.stop()
})

const signal = new AbortController().signal
const evaluate = () => jobNamed('evaluate-alerts').run(stage.server.app, signal, () => {})
const setStatus = (status: number) =>
  stage.server.app.db.updateTable('channels').set({ status }).where('id', '=', channel).execute()
const shot = async (page: Page, name: string) => {
  if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/alerts-${name}.png`, fullPage: true })
}

it('a webhook is added and tested, and a rule fires, is silenced and recovers', async () => {
  const { page, problems } = await stage.open('admin', { language: 'en', width: 1440 })
  await go(page, '/alerts?tab=webhooks')
  await page.getByRole('button', { name: 'Add webhook' }).first().click()
  await page.getByRole('textbox', { name: 'Name' }).fill('on-call')
  await page.getByRole('textbox', { name: 'URL' }).fill(`${receiver.url}/hook`)
  await page.getByRole('textbox', { name: 'Signing secret' }).fill('canary-secret-0123456789')
  await page.getByRole('combobox', { name: 'Events' }).click()
  await page.getByRole('option', { name: /order\.paid/ }).click()
  await page.getByRole('option', { name: /channel\.disabled/ }).click()
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Submit' }).click()
  await readMessage(page, 'en', '“on-call” added')
  await page.getByRole('button', { name: 'Send test: on-call' }).click()
  await readMessage(page, 'en', 'Delivered (status 200: ok)')
  expect(receiver.calls).toHaveLength(1)
  expect(await page.content()).not.toContain('canary-secret')

  await go(page, '/alerts')
  await page.getByRole('button', { name: 'Edit: Channel disabled automatically' }).click()
  await page.getByRole('switch', { name: 'Enable rule' }).check()
  await page.getByRole('combobox', { name: 'Destinations' }).click()
  await page.getByRole('option', { name: 'on-call' }).click()
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Preview' }).click()
  await page.getByText('Would not have fired in the last 7 days.').waitFor()
  await page.getByRole('button', { name: 'Submit' }).click()
  await readMessage(page, 'en', 'saved')

  await setStatus(3)
  await evaluate()
  await sendDeliveries(stage.server.app, signal)
  expect(receiver.calls.map(({ body }) => JSON.parse(body).type)).toEqual(['test', 'alert.fired'])
  await go(page, '/alerts')
  await page.getByText('1 firing').waitFor()
  await page.getByRole('button', { name: 'Add silence' }).click()
  await page.getByRole('combobox', { name: 'Subject' }).click()
  await page.getByRole('option', { name: 'east' }).click()
  await page.getByRole('button', { name: '4 hours' }).click()
  await page.getByRole('button', { name: 'Submit' }).click()
  await readMessage(page, 'en', 'Silenced')
  await page.getByRole('cell', { name: `channel:${channel}`, exact: true }).waitFor()
  await page.getByRole('button', { name: 'End silence' }).click()
  await page.getByText('No active silences').waitFor()

  await setStatus(1)
  await evaluate()
  await sendDeliveries(stage.server.app, signal)
  expect(receiver.calls.map(({ body }) => JSON.parse(body).type).at(-1)).toBe('alert.recovered')
  await go(page, '/alerts?tab=history')
  await page.getByRole('row').filter({ hasText: 'east' }).getByText('Resolved').waitFor()
  await go(page, '/alerts?tab=webhooks')
  await page.getByRole('row').filter({ hasText: 'alert.recovered' }).getByRole('button', { name: 'Send again' }).click()
  await readMessage(page, 'en', 'Queued')
  expect(problems).toEqual([])
})

it.each(
  looks([
    ['zh', 'light', 390],
    ['en', 'light', 1440],
    ['zh', 'dark', 1440],
    ['en', 'dark', 390],
  ] as const),
)('every tab and form fits (%s, %s, %i)', async (language, scheme, width) => {
  await setStatus(3)
  await evaluate()
  const { page, problems } = await stage.open('root', { language, scheme, width })
  const data = [
    'on-call',
    'east',
    'Slack',
    'Telegram',
    'Webhook',
    'mail.test',
    'order.paid',
    'alert.fired',
    'alert.recovered',
    'channel.disabled',
  ]
  for (const tab of ['rules', 'history', 'destinations', 'webhooks']) {
    await go(page, `/alerts?tab=${tab}`)
    await expectFit(page, language, data)
    await shot(page, `${tab}-${language}-${scheme}-${width}`)
  }
  const add = page.getByRole('button', { name: language === 'zh' ? '添加 Webhook' : 'Add webhook' }).first()
  await add.click()
  await page.getByRole('textbox', { name: language === 'zh' ? '名称' : 'Name' }).waitFor()
  await expectFit(page, language, data)
  await shot(page, `form-${language}-${scheme}-${width}`)

  await go(page, '/alerts')
  const rule = language === 'zh' ? '消费突增' : 'Spend spike'
  await page.getByRole('button', { name: new RegExp(`${language === 'zh' ? '设置' : 'Edit'}: ${rule}`) }).click()
  await page.getByRole('button', { name: language === 'zh' ? '预览' : 'Preview' }).click()
  await page.getByText(language === 'zh' ? '过去 7 天内没有可用的数据。' : 'No data for the last 7 days.').waitFor()
  await expectFit(page, language, data)
  await shot(page, `rule-${language}-${scheme}-${width}`)
  expect(problems).toEqual([])
})

const say = (content: string) =>
  stage.upstream.program('*', {
    body: {
      ...{ id: 'c', object: 'chat.completion', created: 1, model: 'gpt-4o-mini' },
      choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content } }],
      usage: { prompt_tokens: 20, completion_tokens: 3, total_tokens: 23 },
    },
  })

it('a quality check is added in two clicks, run, shows what a channel answers wrongly, and fires', async () => {
  await setStatus(1)
  say('391')
  const { page, problems } = await stage.open('admin', { language: 'en', width: 1440 })
  await go(page, '/quality')
  await page.getByRole('button', { name: 'Add check' }).first().click()
  await page.getByRole('button', { name: 'Long context' }).click()
  await page.getByRole('button', { name: 'Arithmetic' }).click()
  await page.getByRole('textbox', { name: 'Latest runs to count' }).fill('1')
  await page.getByRole('button', { name: 'Submit' }).click()
  await readMessage(page, 'en', '“Arithmetic” added')
  await page.getByRole('button', { name: 'Run now: Arithmetic' }).click()
  await page.getByRole('row').filter({ hasText: 'Arithmetic' }).getByText('OK').waitFor()

  say('It is 392.')
  await page.getByRole('link', { name: 'Arithmetic' }).click()
  await page.getByRole('button', { name: 'Run now' }).click()
  await page.getByRole('row').filter({ hasText: 'east' }).getByText('Below threshold').waitFor()
  const failed = page.getByRole('row').filter({ hasText: 'Different answer' }).first()
  await failed.getByRole('button').first().click()
  await page.getByRole('listitem').filter({ hasText: '391' }).waitFor()
  await page.getByText('It is 392.', { exact: true }).waitFor()

  await stage.server.call('PUT /api/alert/rule/quality-check', {
    ...{ enabled: true, params: {}, scope: [], destinations: [], repeat_seconds: 0, notify_recovery: true },
  })
  await evaluate()
  await go(page, '/alerts?tab=history')
  await page.getByRole('row').filter({ hasText: 'Arithmetic' }).getByText('Firing').waitFor()
  expect(problems).toEqual([])
})

it.each(
  looks([
    ['en', 'light', 1440],
    ['zh', 'dark', 1440],
    ['zh', 'light', 390],
    ['en', 'dark', 390],
  ] as const),
)('quality checks fit (%s, %s, %i)', async (language, scheme, width) => {
  const check = { name: 'Tools', models: ['gpt-4o-mini'], prompt: 'Call.', interval_minutes: 15, enabled: false }
  const expectations = [
    { kind: 'tool', name: 'get_weather', arguments: '{"city":"Paris"}' },
    { kind: 'json', members: ['a.b'] },
  ]
  const { id } = await stage.server.call<{ id: number }>('POST /api/quality_check/', { ...check, expectations })
  await stage.server.call(`POST /api/quality_check/${id}/run`)
  await jobNamed('run-quality-checks').run(stage.server.app, signal, () => {})
  const { page, problems } = await stage.open('root', { language, scheme, width })
  const data = ['Arithmetic', 'Tools', 'east', 'gpt-4o-mini', 'get_weather', 'Paris', 'JSON', 'Token']
  await go(page, '/quality')
  await expectFit(page, language, data)
  await shot(page, `quality-${language}-${scheme}-${width}`)
  await go(page, `/quality/${id}`)
  await expectFit(page, language, data)
  await page
    .getByRole('region', { name: language === 'zh' ? '结果' : 'Results', exact: true })
    .first()
    .getByRole('button', { name: language === 'zh' ? /展开|详情/ : /Expand|Details|Show/ })
    .first()
    .click()
  await page.getByText('It is 392.', { exact: true }).waitFor()
  await expectFit(page, language, [...data, 'It is 392.'])
  await shot(page, `quality-view-${language}-${scheme}-${width}`)
  await page.getByRole('button', { name: language === 'zh' ? '编辑' : 'Edit' }).click()
  await page.getByRole('textbox', { name: language === 'zh' ? '名称' : 'Name' }).waitFor()
  await expectFit(page, language, [...data, 'Call.'])
  await shot(page, `quality-form-${language}-${scheme}-${width}`)
  expect(problems).toEqual([])
})
