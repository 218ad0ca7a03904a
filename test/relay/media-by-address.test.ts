import { expect, it } from 'vitest'
import { anyDatabase } from '../helpers/databases.ts'
import { addChannel, books, requireBalancedBooks, setOptions } from '../helpers/seed.ts'
import { openLoopback } from './direct-stage.ts'
import { httpUpstream, settledCharges, stage } from './stage.ts'

const model = 'gemini-2.0-flash'
const seen = {
  candidates: [{ content: { parts: [{ text: 'seen' }], role: 'model' }, finishReason: 'STOP' }],
  usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 1, totalTokenCount: 11 },
}

anyDatabase('media by address', (_fresh, kind) => {
  /** A site with images, and vendors whose first `failing` calls fail. The site answers once `together` requests are waiting. */
  async function open({ failing = 0, together = 1, image = (_path: string): string => 'PNG' } = {}) {
    const waiting: (() => void)[] = []
    const site = { fetched: [] as string[], running: 0, most: 0, asked: [] as string[] }
    const url = await httpUpstream((request, response) => {
      if (request.method === 'POST') {
        const chunks: Buffer[] = []
        request.on('data', (chunk: Buffer) => chunks.push(chunk))
        request.once('end', () => {
          site.asked.push(Buffer.concat(chunks).toString())
          const status = site.asked.length <= failing ? 503 : 200
          response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(seen))
        })
        return
      }
      site.fetched.push(request.url ?? '')
      site.most = Math.max(site.most, ++site.running)
      response.once('close', () => site.running--)
      waiting.push(() => response.writeHead(200, { 'content-type': 'image/png' }).end(image(request.url ?? '')))
      if (waiting.length >= together) for (const answer of waiting.splice(0)) setImmediate(answer)
    })
    const staged = await stage(kind, url, { channel: { type: 24, models: model } })
    await addChannel(staged.server, { url, type: 24, models: model, name: 'second' })
    await setOptions(staged.server, { ModelRatio: { [model]: 1 }, RetryTimes: 1 })
    openLoopback(staged.server)
    const ask = (paths: string[]) =>
      staged.ask({
        model,
        messages: [{ role: 'user', content: paths.map((path) => ({ type: 'image_url', image_url: { url: url + path } })) }],
      })
    return { ...staged, site, ask }
  }

  it('each address is fetched once for all attempts, and three at a time', async () => {
    const { server, site, ask } = await open({ failing: 1, together: 3 })
    const paths = Array.from({ length: 12 }, (_, at) => `/${at}`)
    const answer = await ask([...paths, '/0'])
    expect([answer.status, site.asked.length]).toEqual([200, 2])
    expect([...site.fetched].sort()).toEqual([...paths].sort())
    expect(site.most).toBe(3)
    for (const body of site.asked) expect(body.split(Buffer.from('PNG').toString('base64')).length).toBe(14)
    await settledCharges(server)
    expect(server.app.mediaMemory.held).toBe(0)
    await requireBalancedBooks(server)
  })

  it('the first file that cannot be fetched stops the others; nothing is held or charged', async () => {
    const { server, site, ask } = await open({ image: (path) => (path === '/0' ? '' : 'PNG') })
    const answer = await ask(Array.from({ length: 20 }, (_, at) => `/${at}`))
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining('the address answered with status 200')])
    expect([site.fetched.length < 20, site.asked.length]).toEqual([true, 0])
    expect(await settledCharges(server)).toEqual([])
    expect([server.app.mediaMemory.held, (await books(server)).holds]).toEqual([0, []])
    expect(await ask(Array.from({ length: 21 }, (_, at) => `/${at}`))).toMatchObject({
      status: 400,
      text: expect.stringContaining('at most 20 addresses'),
    })
  })

  it('a request without room for its files is refused with a retry-after; nothing is held or charged', async () => {
    const { server, ask } = await open()
    const others = Array.from({ length: 4 }, () => server.app.mediaMemory.open())
    for (const share of others) {
      share.take(server.app.mediaMemory.limits.shareBytesMax)
      share.settle()
    }
    Object.assign(server.app.mediaMemory.limits, { waitMs: 1 })
    const busy = await ask(['/0'])
    expect([busy.status, busy.headers.get('retry-after')]).toEqual([503, '2'])
    others[0]?.release()
    expect((await ask(['/0'])).status).toBe(200)
    await settledCharges(server)
    await requireBalancedBooks(server)
  })
})
