import { readdirSync, readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startServer, type TestServer } from '../helpers/app.ts'
import { listening } from '../helpers/listening.ts'
import { addChannel, addToken, requireBalancedBooks, setOptions } from '../helpers/seed.ts'
import { sampled } from '../helpers/torture.ts'
import { type Client, clients, type Understood } from './clients.ts'

/**
 * Every recorded stream of every upstream format, through the whole gateway, to every dialect, read by the official SDKs, with its
 * bytes split anywhere: all of them parse the same content. A new fixture is included when it is in the folder of its codec. The ordinary
 * run splits each stream for some of them.
 */
const upstreams: readonly { folder: string; type: number; model: string; key?: string; other?: string; contentType?: string }[] =
  [
    { folder: 'openai-chat/fixtures/openai', type: 40, model: 'gpt-4o-mini' },
    { folder: 'openai-chat/fixtures/mistral', type: 42, model: 'mistral-large-latest' },
    { folder: 'openai-responses/fixtures', type: 1, model: 'gpt-5-pro' },
    { folder: 'anthropic-messages/fixtures', type: 14, model: 'claude-sonnet-4-5' },
    { folder: 'gemini-generate/fixtures', type: 24, model: 'gemini-2.5-flash' },
    { folder: 'ollama-chat/fixtures', type: 4, model: 'qwen3', other: '8192', contentType: 'application/x-ndjson' },
    { folder: 'cohere-chat/fixtures', type: 34, model: 'command-a-03-2025' },
    {
      folder: 'bedrock-converse/fixtures',
      type: 33,
      model: 'amazon.nova-pro-v1:0',
      key: 'AKIDEXAMPLE|secret|us-east-1',
      contentType: 'application/vnd.amazon.eventstream',
    },
  ]

/** Dialects and SDKs that cannot represent the same content: the excluded clients, and the reason. */
const exceptions: Readonly<Record<string, { readonly clients: RegExp; readonly why: string }>> = {
  'openai-responses/fixtures/custom_tool.sse': { clients: /chat, openai 6/, why: 'this major cannot read calls with free text' },
  'anthropic-messages/fixtures/max_tokens_mid_tool.sse': {
    clients: /messages|gemini/,
    why: 'a call that was cut off is kept as text, mended by the SDK, or left out',
  },
  'anthropic-messages/fixtures/refusal.sse': { clients: /messages|gemini/, why: 'only OpenAI has a place for the explanation' },
  'gemini-generate/fixtures/function_call_partial_args.sse': {
    clients: /gemini/,
    why: 'its own clients get the pieces as they come',
  },
  'gemini-generate/fixtures/malformed_function_call.sse': {
    clients: /gemini/,
    why: 'its own clients are told by the finish reason',
  },
}

const cuts: Readonly<Record<string, number>> = { 'in one piece': Number.POSITIVE_INFINITY, 'byte by byte': 1, 'by sevens': 7 }
const ask = { url: '', key: '' }
const answer = { bytes: Buffer.alloc(0), size: 1, type: 'text/event-stream' }
let upstream: Server
let server: TestServer

beforeAll(async () => {
  upstream = createServer(async (request, response) => {
    request.resume()
    response.writeHead(200, { 'content-type': answer.type })
    const { bytes, size } = answer
    for (let at = 0; at < bytes.length && !response.destroyed; at += size) {
      response.write(bytes.subarray(at, Math.min(bytes.length, at + size)))
      if (size < bytes.length && at % (size * 64) === 0) await new Promise(setImmediate)
    }
    response.end()
  })
  server = await startServer('sqlite')
  await setOptions(server, { SelfUseModeEnabled: true })
  ask.url = server.url
  ask.key = (await addToken(server)).key
  const url = await listening(upstream)
  for (const { type, model, key, other } of upstreams)
    await addChannel(server, { url, type, models: model, ...(key ? { key } : {}), ...(other ? { other } : {}) })
})

afterAll(async () => {
  await requireBalancedBooks(server)
  await server.stop()
  upstream.closeAllConnections()
  upstream.close()
})

const root = new URL('../../src/server/gateway/protocols/', import.meta.url)

for (const { folder, model, contentType } of upstreams) {
  const streams = readdirSync(new URL(folder, root)).filter(
    (name) => /\.(sse|ndjson|bin)$/.test(name) && !name.startsWith('invoke'),
  )
  describe(folder, () => {
    it.each(streams.map((name, nth) => [name, nth] as const))('%s', async (name, nth) => {
      answer.bytes = readFileSync(new URL(`${folder}/${name}`, root))
      answer.type = contentType ?? 'text/event-stream'
      const seen: Record<string, Understood | 'an error'> = {}
      for (const [cut, size] of Object.entries(cuts)) {
        answer.size = Math.min(size, answer.bytes.length)
        const isWhole = size === Number.POSITIVE_INFINITY
        for (const [client, read] of sampled(Object.entries(clients), isWhole ? 1 : 6, isWhole ? 0 : nth + size)) {
          const left = exceptions[`${folder}/${name}`]?.clients.test(client)
          if (!left) seen[`${client}, ${cut}`] = await understand(read, model)
        }
      }
      const [first] = Object.values(seen)
      expect(seen).toEqual(Object.fromEntries(Object.keys(seen).map((key) => [key, first])))
    })
  })
}

async function understand(read: Client, model: string): Promise<Understood | 'an error'> {
  try {
    return await read({ ...ask, model })
  } catch (error) {
    if (process.env.MATRIX_ERRORS) console.log(error)
    return 'an error'
  }
}
