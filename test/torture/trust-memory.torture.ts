import type { ServerResponse } from 'node:http'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { freshDatabase, type TestDatabase } from '../helpers/databases.ts'
import { type ServerProcess, startProcess } from '../helpers/process.ts'
import { memoryGrowth as memoryGrowthOfProcess } from '../helpers/process-memory.ts'
import { setOptions } from '../helpers/seed.ts'
import { httpUpstream, requestBytes, speak, upstreamKey } from '../relay/stage.ts'
import { bodyOf, type FormatPair, formatPairs, paths, post, readAnswer, streams, wholeOf } from '../relay/trust-stage.ts'

// The memory cost of the cases of docs/reference/trust-cases.md, measured on a separate server process.

const mb = 1024 * 1024

/** Writes the chunk repeatedly with back-pressure. */
function writeEndlessly(response: ServerResponse, piece: Buffer): void {
  while (!response.destroyed)
    if (!response.write(piece)) return void response.once('drain', () => writeEndlessly(response, piece))
}

describe.runIf(process.platform === 'linux')('memory', () => {
  let database: TestDatabase
  let server: ServerProcess
  let key = ''

  beforeAll(async () => {
    database = await freshDatabase('sqlite')
    // Without a limit, Node lets garbage pile up as long as the machine has room.
    server = await startProcess(database, { NODE_OPTIONS: '--max-old-space-size=192' })
    const priced = ['line', 'bomb', 'endless', 'much', 'speech'].flatMap((name) => [name, `${name}-openai`, `${name}-anthropic`])
    const ratios = JSON.stringify(Object.fromEntries(priced.map((name) => [name, 1])))
    await setOptions(server, { ModelRatio: ratios })
    key = `sk-${(await server.call<{ key: string }>('POST /api/token/', { name: 'test', unlimited_quota: true })).key}`
  })

  afterAll(async () => {
    await server.kill('SIGKILL')
    await database.drop()
  })

  const addChannel = (speaks: FormatPair['speaks'], url: string, model: string) =>
    server.call('POST /api/channel/', {
      name: model,
      type: speaks === 'anthropic' ? 14 : 1,
      key: upstreamKey,
      base_url: url,
      models: model,
    })

  const memoryGrowth = (work: () => Promise<unknown>) => memoryGrowthOfProcess(server.pid, work)

  it('[T101] [T104] endless lines, endless answers and bombs grow no server by more than 64 MB, in any format', async () => {
    const bombs = {
      gzip: gzipSync(Buffer.alloc(300 * mb, 32)),
      br: brotliCompressSync(Buffer.alloc(100 * mb, 32), { params: { 1: 1 } }),
    }
    const spaces = Buffer.alloc(64 * 1024, ' ')
    const letters = Buffer.alloc(64 * 1024, 'a')
    for (const speaks of ['openai', 'anthropic'] as const) {
      const url = await httpUpstream((request, response) => {
        request.resume()
        response.on('error', () => {})
        const [, scenario = '', packing = ''] = (request.url ?? '').split('/')
        const type = scenario === 'line' ? 'text/event-stream' : 'application/json'
        const packed = packing === 'gzip' || packing === 'br' ? packing : undefined
        response.writeHead(200, { 'content-type': type, ...(packed ? { 'content-encoding': packed } : {}) })
        if (packed) return void response.end(bombs[packed])
        response.write(scenario === 'line' ? `${streams[speaks].head}data: ` : wholeOf(speaks, 'x').slice(0, -1))
        writeEndlessly(response, scenario === 'line' ? letters : spaces)
      })
      await addChannel(speaks, `${url}/line`, `line-${speaks}`)
      await addChannel(speaks, `${url}/endless`, `endless-${speaks}`)
      await addChannel(speaks, `${url}/bomb/${speaks === 'openai' ? 'gzip' : 'br'}`, `bomb-${speaks}`)
    }
    // Warms up the server: any large answer grows the young generation of its heap.
    const [first] = formatPairs
    if (first) await post(server, key, first.asks, bodyOf(`line-${first.speaks}`, 'hi', { stream: true, max_tokens: 10 }))
    for (const pair of formatPairs) {
      for (const [name, stream] of [
        ['line', true],
        ['bomb', false],
        ['bomb', true],
        ['endless', false],
      ] as const) {
        const grown = await memoryGrowth(async () => {
          const answer = await post(server, key, pair.asks, bodyOf(`${name}-${pair.speaks}`, 'hi', { stream, max_tokens: 10 }))
          expect([name, readAnswer(pair.asks, answer).ending]).toEqual([name, 'error'])
        })
        expect([pair.name, name, stream, grown <= 64, grown]).toEqual([pair.name, name, stream, true, grown])
      }
    }
  })

  it('[T119] audio of two gigabytes passes through little memory, and a part of it never looks complete', async () => {
    const noise = Buffer.alloc(64 * 1024, 7)
    const url = await httpUpstream((request, response) => {
      request.resume()
      response.on('error', () => {})
      response.writeHead(200, { 'content-type': 'audio/mpeg', 'content-length': 2048 * mb })
      writeEndlessly(response, noise)
    })
    await addChannel('openai', url, 'speech')
    let heard = 0
    const grown = await memoryGrowth(async () => {
      const response = await fetch(`${server.url}/v1/audio/speech`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'speech', input: 'hi', voice: 'alloy' }),
      })
      expect([response.status, response.headers.get('content-type')]).toEqual([200, 'audio/mpeg'])
      const listen = async () => {
        // The DOM types do not declare a body as iterable.
        for await (const piece of response.body as unknown as AsyncIterable<Uint8Array>) heard += piece.length
      }
      await expect(listen()).rejects.toThrow()
    })
    expect(heard).toBeGreaterThan(32 * mb)
    expect([grown <= 64, grown]).toEqual([true, grown])
  })

  it('[T126] two hundred callers that read nothing of long streams cost the server little', async () => {
    const url = await httpUpstream((request, response) => {
      request.resume()
      response.on('error', () => {})
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(streams.openai.head)
      // For all callers together this exceeds the server's memory limit; some of it is in the buffers of the connections.
      for (let count = 0; count < 100; count++) response.write(event)
    })
    const event = Buffer.from(streams.openai.text('x'.repeat(16_000)))
    await addChannel('openai', url, 'much')
    const body = JSON.stringify(bodyOf('much', 'hi', { stream: true }))
    const callers: ReturnType<typeof speak>[] = []
    onTestFinished(() => {
      for (const { socket } of callers) socket.destroy()
    })
    const grown = await memoryGrowth(async () => {
      for (let count = 0; count < 200; count++) {
        const caller = speak(server, requestBytes(key, body, {}, paths.openai))
        caller.socket.once('data', () => caller.socket.pause())
        callers.push(caller)
      }
      await Promise.all(callers.map((caller) => caller.until((text) => text !== '')))
      const answer = await post(server, key, 'openai', bodyOf('line-openai', 'hi', { stream: false }))
      expect(readAnswer('openai', answer).ending).toBe('error')
    })
    expect([grown <= 128, grown]).toEqual([true, grown])
  })
})
