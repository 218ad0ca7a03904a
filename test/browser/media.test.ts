import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { pollTasks } from '../../src/server/gateway/tasks/poll.ts'
import { addChannel, setOptions } from '../helpers/seed.ts'
import { png } from '../helpers/task-peer.ts'
import { startVideoPeer } from '../helpers/video-peer.ts'
import { expectFit, go, inBothLanguages, type Language, looks, openStage, type Stage } from './stage.ts'

/** Pictures and clips in the playground, ordered at simulated vendors. */
const painter = 'dall-e-3'
const filmer = 'sora-2'

let stage: Stage
let peer: Awaited<ReturnType<typeof startVideoPeer>>
beforeAll(async () => {
  ;[stage, peer] = await Promise.all([openStage(), startVideoPeer()])
  const { server } = stage
  Object.assign(server.app.upstream, { untrusted: anywhere })
  const rates = [
    { resolution: '720p', sound: 'any', usd: 0.1 },
    { resolution: '1080p', sound: 'any', usd: 0.3 },
  ]
  await setOptions(server, {
    VideoPrice: { [filmer]: { per: 'second', seconds: { usual: 4, longest: 12 }, rates } },
  })
  await addChannel(server, { url: peer.url, models: `${painter},${filmer}`, key: 'video-peer-key-0123456789' })
  peer.program = paint
})
afterAll(async () => {
  await stage.stop()
  await peer.stop()
})

it.each(
  looks([
    { language: 'zh', scheme: 'light', width: 1440, height: 900 },
    { language: 'en', scheme: 'dark', width: 390, height: 844 },
    { language: 'zh', scheme: 'dark', width: 390, height: 844 },
    { language: 'en', scheme: 'light', width: 1440, height: 900 },
  ] as const),
)('in $language, $scheme, at $width, pictures and clips show their price, progress, result and cost', async (look) => {
  const { page, problems } = await stage.open('root', look)
  const say = words[look.language]
  const prompt = 'a lock at dawn'
  await go(page, '/playground?mode=media')
  await chooseModel(page, look, painter)
  const order = page.getByRole('button', { name: say.generate, exact: true })
  expect(await order.isDisabled()).toBe(true)
  await page.getByRole('textbox', { name: say.prompt }).fill(prompt)
  await page.getByText(say.pictureEstimate).waitFor()
  await order.click()
  const painted = page.getByRole('article', { name: `${painter}: ${prompt}` })
  await painted.locator('img').waitFor()
  await painted.getByText(say.pictureCost).waitFor()
  await expectFit(page, look.language, [prompt])

  await chooseModel(page, look, filmer)
  await page.getByRole('radiogroup', { name: say.kind }).getByText(say.clip, { exact: true }).click()
  await page.getByRole('textbox', { name: say.seconds }).fill('5')
  await page.getByRole('combobox', { name: say.resolution }).click()
  await page.getByRole('option', { name: '1080p' }).click()
  await page.getByText(say.clipEstimate).waitFor()
  await order.click()
  const filmed = page.getByRole('article', { name: `${filmer}: ${prompt}` })
  await filmed.getByRole('status').waitFor()
  await filmed.getByText(say.clipCost).waitFor()
  expect(peer.orders().at(-1)?.body).toMatchObject({ seconds: '5', size: '1920x1080' })
  await expectFit(page, look.language, [prompt])

  peer.tell(peer.last(), { state: 'done' })
  await stage.server.app.db.updateTable('videos').set({ ask_at: 1 }).where('ask_at', '>', 0).execute()
  await pollTasks(stage.server.app, new AbortController().signal)
  await filmed.getByRole('link', { name: say.download }).waitFor()
  await expectFit(page, look.language, [prompt])

  peer.program = ({ method }) => (method === 'POST' ? { status: 400, json: { error: { message: 'no such scene' } } } : undefined)
  await order.click()
  await page.getByText('no such scene').waitFor()
  peer.program = paint
  // The peer's bytes are no film, and one order was refused.
  expect(problems.filter((problem) => !/status of 400|mp4|media/i.test(problem))).toEqual([])
})

async function chooseModel(page: Page, { language, width }: { language: Language; width: number }, model: string): Promise<void> {
  const say = words[language]
  if (width < 900) await page.getByRole('button', { name: say.settings }).click()
  await page.getByRole('combobox', { name: new RegExp(`^${say.model}$`) }).click()
  await page.getByRole('option', { name: model, exact: true }).click()
  if (width < 900) await page.keyboard.press('Escape')
}

function paint({ path }: { path: string }) {
  const data = [{ b64_json: Buffer.from(png).toString('base64') }]
  return path === '/v1/images/generations' ? { json: { created: 1, data } } : undefined
}

/** The test's vendors and their files are on loopback. */
const anywhere = {
  allowsPort: () => true,
  allows: () => true,
  resolve: async () => [{ address: '127.0.0.1', family: 4 }],
}

const words = inBothLanguages({
  settings: [/^(设置|dall|sora)/, /^(Settings|dall|sora)/],
  model: ['模型', 'Model'],
  prompt: ['提示词', 'Prompt'],
  generate: ['生成', 'Generate'],
  pictureEstimate: ['约 $0.04', 'About $0.04'],
  pictureCost: ['花费 $0.04', 'cost $0.04'],
  kind: ['生成内容', 'What to make'],
  clip: ['视频', 'Clip'],
  seconds: ['时长（秒）', 'Length in seconds'],
  resolution: ['分辨率', 'Resolution'],
  clipEstimate: ['约 $1.50', 'About $1.50'],
  clipCost: ['花费 $1.50', 'cost $1.50'],
  download: [/下载/, /Download/],
})
