import { readdirSync, readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { done, type ModelServer, startModel, summary } from '../../clients/model-server.ts'
import type { RecordedRequest } from '../../clients/record.ts'
import { startServer, type TestServer } from '../../helpers/app.ts'
import { addChannel, addToken, requireBalancedBooks, setOptions } from '../../helpers/seed.ts'

/** The requests that coding agents send, as `RECORD_REQUESTS=1 npm run clients` wrote them, through every kind of channel. */

const folder = new URL('recorded/', import.meta.url)
const programs = readdirSync(folder).map((file) => ({
  name: file.replace('.json', ''),
  // Written by the recorder alone.
  requests: JSON.parse(readFileSync(new URL(file, folder), 'utf8')) as RecordedRequest[],
}))
const upstreams = {
  openai: { type: 1, path: '', model: 'gpt-5.4' },
  anthropic: { type: 14, path: '', model: 'claude-sonnet-4-6' },
  gemini: { type: 24, path: '', model: 'gemini-2.5-pro' },
  'chat only': { type: 8, path: '/v1/chat/completions', model: 'harbor-1' },
} as const
const command = 'printf harbor > answer.txt'

describe.each(Object.entries(upstreams))('on a channel of %s', (name, { type, path, model }) => {
  let server: TestServer
  let upstream: ModelServer
  let key = ''
  beforeAll(async () => {
    server = await startServer('sqlite')
    // The keys of the table.
    upstream = await startModel(name as keyof typeof upstreams)
    await setOptions(server, { ModelRatio: { [model]: 1 } })
    await addChannel(server, { url: upstream.url + path, type, models: model })
    key = (await addToken(server)).key
  })
  afterAll(async () => {
    await requireBalancedBooks(server)
    await server.stop()
    await upstream.stop()
  })

  it.each(programs)('every request of $name is answered with a call or a text', async ({ requests }) => {
    upstream.begin({ command, calls: 1 })
    for (const { path: asked, headers, body } of requests) {
      const response = await fetch(server.url + asked.replace(/models\/[^:]+/, `models/${model}`), {
        method: 'POST',
        headers: { ...headers, authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ ...(body as object), ...(asked.includes('/models/') ? {} : { model }) }),
      })
      const text = await response.text()
      expect(response.status, text).toBe(200)
      expect(
        [command, done, summary].some((said) => text.replaceAll('\\\\', '').includes(said)),
        text,
      ).toBe(true)
    }
    expect(upstream.asked.length).toBe(requests.length)
  })
})
