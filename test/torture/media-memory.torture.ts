import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freshDatabase, type TestDatabase } from '../helpers/databases.ts'
import { type ServerProcess, startProcess } from '../helpers/process.ts'
import { memoryGrowth } from '../helpers/process-memory.ts'
import { setOptions } from '../helpers/seed.ts'
import { httpUpstream, post, upstreamKey } from '../relay/stage.ts'

// The memory cost of media given by URL, measured on a separate server process.

const mb = 1024 * 1024
const program = fileURLToPath(new URL('../helpers/open-server.mjs', import.meta.url))
const piece = Buffer.alloc(mb, 7)

describe.runIf(process.platform === 'linux')('memory of media by address', () => {
  let database: TestDatabase
  let server: ServerProcess
  let key = ''

  beforeAll(async () => {
    database = await freshDatabase('sqlite')
    server = await startProcess(database, {}, program)
    await setOptions(server, { ModelRatio: { 'gemini-2.0-flash': 1 } })
    key = `sk-${(await server.call<{ key: string }>('POST /api/token/', { name: 'test', unlimited_quota: true })).key}`
  })

  afterAll(async () => {
    await server.kill('SIGKILL')
    await database.drop()
  })

  /** A site of files whose names end in their size in megabytes, sent without announcing it; and an upstream that reads a request. */
  async function openSite(): Promise<string> {
    const url = await httpUpstream((request, response) => {
      response.on('error', () => {})
      if (request.method === 'POST') {
        request.resume()
        request.once('end', () => {
          response.writeHead(200, { 'content-type': 'application/json' })
          const usageMetadata = { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 }
          const candidates = [{ content: { parts: [{ text: 'seen' }], role: 'model' }, finishReason: 'STOP' }]
          response.end(JSON.stringify({ candidates, usageMetadata }))
        })
        return
      }
      response.writeHead(200, { 'content-type': 'image/png' })
      send(Number((request.url ?? '').split('-')[1]))
      function send(left: number): void {
        if (response.destroyed) return
        if (left === 0) return void response.end()
        if (response.write(piece)) send(left - 1)
        else response.once('drain', () => send(left - 1))
      }
    })
    const channel = { name: 'images', type: 24, key: upstreamKey, base_url: url, models: 'gemini-2.0-flash' }
    await server.call('POST /api/channel/', channel)
    return url
  }

  async function ask(site: string, files: number, megabytes: number) {
    const images = Array.from({ length: files }, (_, at) => ({
      type: 'image_url',
      image_url: { url: `${site}/${Math.random()}${at}-${megabytes}` },
    }))
    const response = await post(server, key, { model: 'gemini-2.0-flash', messages: [{ role: 'user', content: images }] })
    return { status: response.status, text: await response.text() }
  }

  it('twenty addresses of twenty megabytes grow a node by at most 200 MB, once and ten times at once', async () => {
    const site = await openSite()
    expect((await ask(site, 1, 1)).status).toBe(200)
    // On a busy machine some of the ten wait for memory until they get a 503 with `retry-after`.
    const refused = [expect.toBeOneOf([400, 503]), expect.stringMatching(/larger than 64 MB together|server is busy/)]
    for (const times of [1, 10]) {
      const grown = await memoryGrowth(server.pid, async () => {
        const answers = await Promise.all(Array.from({ length: times }, () => ask(site, 20, 20)))
        for (const { status, text } of answers) expect([status, text]).toEqual(refused)
      })
      expect([times, grown <= 200, grown]).toEqual([times, true, grown])
    }
  })

  it('an audio file is in memory once while it passes, and twice if a field of its form is changed', async () => {
    let heard = 0
    const url = await httpUpstream((request, response) => {
      request.on('data', (chunk: Buffer) => {
        heard += chunk.length
      })
      request.once('end', () => {
        response.writeHead(200, { 'content-type': 'application/json' })
        response.end(JSON.stringify({ text: 'hello', usage: { type: 'duration', seconds: 60 } }))
      })
    })
    const channel = { name: 'sound', type: 1, key: upstreamKey, base_url: url, models: 'whisper-1,mapped' }
    await server.call('POST /api/channel/', { ...channel, model_mapping: JSON.stringify({ mapped: 'whisper-1' }) })
    await setOptions(server, { ModelRatio: { 'whisper-1': 15, mapped: 15 } })
    const transcribe = async (model: string, megabytes: number) => {
      const recording = new Blob([Buffer.alloc(megabytes * mb, 7)], { type: 'audio/wav' })
      const form = new FormData()
      form.append('file', recording, 'talk.wav')
      form.append('model', model)
      const headers = { authorization: `Bearer ${key}` }
      const response = await fetch(`${server.url}/v1/audio/transcriptions`, { method: 'POST', headers, body: form })
      expect([response.status, await response.text()]).toEqual([200, expect.stringContaining('hello')])
    }
    await transcribe('mapped', 1)
    const asItIs = await memoryGrowth(server.pid, () => transcribe('whisper-1', 25))
    const mapped = await memoryGrowth(server.pid, () => transcribe('mapped', 25))
    expect(heard).toBeGreaterThan(50 * mb)
    // Data read from the socket is garbage until it is collected.
    expect([asItIs <= 80, asItIs, asItIs + mapped <= 120, mapped]).toEqual([true, asItIs, true, mapped])
  })
})
