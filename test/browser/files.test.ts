import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { addChannel, addToken, setOptions } from '../helpers/seed.ts'
import { answered, dueNow, follow, prices, request, sdks, upload } from '../relay/batch-stage.ts'
import { batchVendor } from '../relay/batch-vendor.ts'
import { model } from '../relay/stage.ts'
import { expectFit, go, inBothLanguages, looks, openStage, readMessage, type Stage } from './stage.ts'

/** Files at vendors and batches of them, as their owner uses them in the console. */
let stage: Stage
beforeAll(async () => {
  stage = await openStage()
  await setOptions(stage.server, prices)
})
afterAll(() => stage.stop())

/** A vendor with a file of requests, beside an upload that is still on its way. */
async function storeFiles() {
  const { server } = stage
  const vendor = await batchVendor()
  const channelId = await addChannel(server, { url: vendor.url, models: model })
  onTestFinished(() => server.call(`DELETE /api/channel/${channelId}`))
  const { key } = await addToken(server)
  await server.app.db.deleteFrom('files').execute()
  await upload(sdks(server, key).openai, [request('a'), request('b')])
  const arriving = {
    id: 'file-arriving',
    dialect: 'openai' as const,
    bytes: 5_000_000,
    filename: 'large.pdf',
    purpose: 'user_data',
  }
  await server.app.keptFiles.begin({ userId: 1, tokenId: 0 }, arriving)
  return vendor
}

const words = inBothLanguages({
  start: ['发起批处理', 'Start a batch'],
  input: ['请求文件', 'File of requests'],
  ordered: ['已提交', 'was ordered'],
  running: ['执行中', 'Running'],
  ended: ['已结束', 'Ended'],
  results: ['下载结果', 'Download the results'],
  download: ['下载', 'Download'],
  delete: ['删除文件', 'Delete the file'],
  deleted: ['文件已删除', 'The file was deleted'],
  stored: ['可用', 'Stored'],
  more: ['更多', 'More'],
  none: ['没有用途为 batch 的文件', 'You have no file of purpose batch'],
  noFiles: ['还没有文件', 'No files yet'],
})

const data = ['in.jsonl', 'large.pdf', 'batch', 'user_data', 'root', 'OpenAI']

it.each(
  looks([
    { language: 'zh', scheme: 'dark', width: 390 },
    { language: 'en', scheme: 'light', width: 1440 },
    { language: 'zh', scheme: 'light', width: 1440 },
    { language: 'en', scheme: 'dark', width: 390 },
  ] as const),
)('in $language at $width a batch is started from a stored file, and its results are downloaded', async (look) => {
  const { language } = look
  const { server } = stage
  const vendor = await storeFiles()
  const { page, problems } = await stage.open('root', look)
  const say = words[language]
  const rowOf = (text: string) => page.locator('tr, li').filter({ hasText: text }).first()

  await go(page, '/file')
  await rowOf('in.jsonl').getByText(say.stored).waitFor()
  await rowOf('large.pdf').getByText('4.8 MB').waitFor()
  await expectFit(page, language, data)
  const file = page.waitForEvent('download')
  await page.getByRole('button', { name: `${say.download}: in.jsonl` }).click()
  expect((await file).suggestedFilename()).toBe('in.jsonl')

  await go(page, '/batch')
  await page.getByRole('button', { name: say.start }).first().click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('combobox', { name: say.input }).click()
  await page.getByRole('option', { name: /in\.jsonl/ }).click()
  await expectFit(page, language, data)
  await dialog.getByRole('button', { name: say.start }).click()
  await readMessage(page, language, say.ordered)
  await page.getByText(say.running).first().waitFor()

  const theirs = [...vendor.batches.values()].at(-1)
  if (!theirs) throw new Error('The vendor has no batch')
  vendor.end(theirs, { reply: (body) => answered(body) })
  await dueNow(server)
  await follow(server)
  const { id } = await server.app.db.selectFrom('batches').select('id').orderBy('created_at', 'desc').executeTakeFirstOrThrow()
  await go(page, `/batch?id=${id}`)
  await page.getByText(say.ended).first().waitFor()
  await expectFit(page, language, data)
  await page.getByRole('button', { name: new RegExp(`${say.more}.*${id}`) }).click()
  const results = page.waitForEvent('download')
  await page.getByRole('menuitem', { name: say.results }).click()
  expect((await results).suggestedFilename()).toBe(`${id}.results.jsonl`)

  await go(page, '/file?name=in.jsonl')
  await page.getByRole('button', { name: new RegExp(`${say.more}.*in.jsonl`) }).click()
  await page.getByRole('menuitem', { name: say.delete }).click()
  await page.getByRole('dialog').getByRole('button', { name: say.delete }).click()
  await readMessage(page, language, say.deleted)
  expect((await server.app.keptFiles.list(1, { dialect: 'openai', limit: 9, purpose: 'batch' })).length).toBe(0)
  expect(problems).toEqual([])
})

it('a user sees no files of others, and is told how to get a file of requests', async () => {
  const { page, problems } = await stage.open('user', { language: 'en' })
  const say = words.en
  await go(page, '/file')
  await page.getByText(say.noFiles).waitFor()
  await page.getByText('0 of 1,000 files').waitFor()
  await expectFit(page, 'en')
  await go(page, '/batch')
  await page.getByRole('button', { name: say.start }).first().click()
  await page.getByRole('dialog').getByText(say.none).waitFor()
  expect(problems).toEqual([])
})
