import { afterAll, beforeAll, expect, it } from 'vitest'
import { addToken } from '../helpers/seed.ts'
import { expectFit, go, openStage, type Stage } from './stage.ts'

let stage: Stage
beforeAll(async () => {
  stage = await openStage()
})
afterAll(() => stage.stop())

const words = {
  zh: {
    edit: '编辑',
    toggle: '限制速率',
    requests: '每周期最多请求次数',
    seconds: '统计周期（秒）',
    save: '提交',
    empty: '请至少填写一项限制',
    hostedTools: '模型没有厂商工具时拒绝请求',
  },
  en: {
    edit: 'Edit',
    toggle: 'Rate limit',
    requests: 'Requests per period',
    seconds: 'Period (seconds)',
    save: 'Submit',
    empty: 'Set at least one limit',
    hostedTools: 'Reject unsupported hosted tools',
  },
} as const

it.each(['zh', 'en'] as const)(
  'in %s a token gets limits of its own in the drawer, and loses them by the switch',
  async (language) => {
    const { id } = await addToken(stage.server, { name: `limited-${language}` })
    const { page, problems } = await stage.open('root', { language })
    const say = words[language]
    const open = async () => {
      await go(page, '/token')
      await page
        .getByRole('row', { name: `limited-${language}` })
        .getByRole('button', { name: say.edit })
        .click()
      return page.getByRole('switch', { name: say.toggle })
    }
    const saved = async () => {
      await page.getByRole('button', { name: say.save }).click()
      await page.getByRole('dialog').waitFor({ state: 'detached' })
      return stage.server.call(`GET /api/token/${id}`)
    }

    const toggle = await open()
    await toggle.check({ force: true })
    await page.getByRole('button', { name: say.save }).click()
    await page.getByText(say.empty).waitFor()
    await expectFit(page, language)
    await page.getByRole('textbox', { name: say.requests }).fill('5')
    await page.getByRole('textbox', { name: say.seconds }).fill('3600')
    await page.getByRole('switch', { name: say.hostedTools }).check({ force: true })
    const limits = { limit_seconds: 3600, limit_requests: 5, limit_tokens: 0, limit_concurrency: 0 }
    expect(await saved()).toMatchObject({ ...limits, refuse_hosted_tools: true })

    await (await open()).uncheck({ force: true })
    expect(await saved()).toMatchObject({ limit_requests: 0, refuse_hosted_tools: true })
    expect(problems).toEqual([])
  },
)
