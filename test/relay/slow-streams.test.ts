import { describe, expect, it } from 'vitest'
import { requireBalancedBooks } from '../helpers/seed.ts'
import { fixture, upstreamOfTest } from '../helpers/upstream.ts'
import { chat, httpUpstream, model, stage } from './stage.ts'

describe('a stream that takes its time', () => {
  it('gets a heartbeat while the upstream is silent', async () => {
    const upstream = await upstreamOfTest()
    upstream.program(model, { bytes: fixture('openai-chat/text.sse'), contentType: 'text/event-stream', delayMs: 11_500 })
    const { server, ask } = await stage('sqlite', upstream.url)
    const answer = await ask(chat({ stream: true }))
    expect(answer.text.startsWith(': keep-alive\n\n')).toBe(true)
    expect(answer.text.trimEnd().endsWith('[DONE]')).toBe(true)
    await requireBalancedBooks(server)
  })

  it('is read from the upstream no faster than the caller reads', async () => {
    let written = 0
    const url = await httpUpstream((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      const event = `data: {"choices":[{"index":0,"delta":{"content":"${'x'.repeat(16_000)}"}}]}\n\n`
      const pump = () => {
        while (written < 60_000_000) {
          written += event.length
          if (!response.write(event)) return void response.once('drain', pump)
        }
        response.end('data: [DONE]\n\n')
      }
      pump()
    })
    const { server, token } = await stage('sqlite', url)
    const response = await fetch(`${server.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token.key}`, 'content-type': 'application/json' },
      body: JSON.stringify(chat({ stream: true })),
    })
    const reader = response.body?.getReader()
    await reader?.read()
    await new Promise((resolve) => setTimeout(resolve, 1000))
    expect(written).toBeLessThan(40_000_000)
    await reader?.cancel()
  })
})
