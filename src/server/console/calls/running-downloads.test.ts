import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { expect, it, onTestFinished } from 'vitest'
import { type Signed, startConsole } from '../../../../test/helpers/console.ts'
import { parseLine, type Routes } from '../../../contract/route.ts'
import { allRoutes } from '../../../contract/routes/index.ts'

const downloads = Object.entries(allRoutes as Routes).flatMap(([line, { text }]) => (text?.fileName === undefined ? [] : [line]))

/** A console on which every download runs until its caller leaves or `end` is called, and the number of those that run. */
async function consoleOfTest() {
  const { promise: over, resolve: end } = Promise.withResolvers<void>()
  let running = 0
  async function* pieces() {
    running++
    try {
      yield 'a line\n'
      await over
    } finally {
      running--
    }
  }
  const handlers = Object.fromEntries(downloads.map((line) => [line, () => pieces()]))
  const console = await startConsole('sqlite', { handlers })
  onTestFinished(async () => {
    end()
    await console.stop()
  })
  const address = await console.server.listen({ port: 0, host: '127.0.0.1' })
  return {
    console,
    running: () => running,
    end,
    async download(line: string, as: Signed): Promise<{ status: number; text: () => Promise<string>; leave: () => void }> {
      const request = get(address + parseLine(line).path, { headers: as.headers, agent: false })
      const [response] = (await once(request, 'response')) as [IncomingMessage]
      return {
        status: response.statusCode ?? 0,
        text: async () => Buffer.concat(await response.toArray()).toString(),
        leave: () => void request.destroy(),
      }
    },
  }
}

it('[T262] of every list: two of a user run at a time, and one more is refused with a clear error', async () => {
  expect(downloads.length).toBeGreaterThan(12)
  const { console, download, running } = await consoleOfTest()
  const root = await console.addUser('chief', { role: 100 })
  const both = [await download('GET /api/log/export.csv', root), await download('GET /api/token/export.csv', root)]
  expect(both.map(({ status }) => status)).toEqual([200, 200])
  for (const line of downloads) {
    const { status, text } = await download(line, root)
    expect([line, status, JSON.parse(await text()).code]).toEqual([line, 429, 'downloads_busy'])
  }
  expect(running()).toBe(2)
})

it('end with their file or with their caller, and leave room for the next', async () => {
  const { console, download, running, end } = await consoleOfTest()
  const user = await console.addUser('reader')
  const line = 'GET /api/log/self/export.csv'
  const [first, second] = [await download(line, user), await download(line, user)]
  first.leave()
  await expect.poll(async () => (await download(line, user)).status).toBe(200)
  end()
  await second.text()
  await expect.poll(running).toBe(0)
  for (let time = 0; time < 5; time++) {
    const { status, text } = await download(line, user)
    expect([status, await text()]).toEqual([200, 'a line\n'])
  }
})

it('of all users: eight run at a time on a node, whoever asks', async () => {
  const { console, download } = await consoleOfTest()
  const line = 'GET /api/log/self/export.jsonl'
  for (const name of ['one', 'two', 'three', 'four']) {
    const user = await console.addUser(name)
    for (let time = 0; time < 2; time++) expect((await download(line, user)).status).toBe(200)
  }
  expect((await download(line, await console.addUser('five'))).status).toBe(429)
})
