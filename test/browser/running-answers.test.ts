import { afterAll, beforeAll, expect, it } from 'vitest'
import { addChannel, addToken } from '../helpers/seed.ts'
import { expectFit, go, inBothLanguages, looks, openStage, readMessage, type Stage, shoot } from './stage.ts'

/** Streams that go on, in the log: who sees them, watches them and stops them. */
const model = 'gpt-4o'
const data = [model, 'traveller', 'root', 'word']

let stage: Stage
beforeAll(async () => {
  stage = await openStage()
  await addChannel(stage.server, { url: stage.upstream.url, models: model })
  stage.upstream.program(model, { words: 5000, pauseMs: 20 })
})
afterAll(() => stage.stop())

const words = inBothLanguages({
  running: ['正在生成 1 个应答', '1 answer is being written'],
  watch: ['查看', 'Watch'],
  stop: ['停止', 'Stop'],
  stopped: ['应答已停止，按已生成的部分计费', 'Answer stopped. What it has is charged.'],
  gone: ['调用方已断开', 'its caller is gone'],
  over: ['应答已结束', 'The answer is over'],
  close: ['关闭', 'Close'],
})

it.each(
  looks([
    { language: 'en', scheme: 'dark', width: 390 },
    { language: 'zh', scheme: 'light', width: 1440 },
  ] as const),
)('an answer whose caller is gone is watched and stopped in the log ($language, $scheme, $width)', async (look) => {
  const { server } = stage
  const say = words[look.language]
  const { key } = await addToken(server, { name: 'traveller', resumable: true })
  const leave = new AbortController()
  const asked = { model, stream: true, messages: [{ role: 'user', content: `for ${look.language}` }] }
  const response = await fetch(`${server.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(asked),
    signal: leave.signal,
  })
  await response.body?.getReader().read()
  leave.abort()

  const { page, problems } = await stage.open('root', look)
  await go(page, '/log')
  await page.getByText(say.running).first().waitFor()
  await page.getByText(say.gone, { exact: false }).waitFor()
  await expectFit(page, look.language, data)
  await shoot(page, 'running', look)
  await page.getByRole('button', { name: say.watch, exact: true }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText(/word5\b/).waitFor()
  const before = (await dialog.locator('pre').textContent())?.length ?? 0
  await expect.poll(async () => (await dialog.locator('pre').textContent())?.length ?? 0).toBeGreaterThan(before)
  await dialog.getByRole('button', { name: say.close }).click()
  await page.getByRole('button', { name: say.stop, exact: true }).click()
  await readMessage(page, look.language, say.stopped)
  await page.getByText(say.running).first().waitFor({ state: 'detached' })
  expect(problems).toEqual([])
})
