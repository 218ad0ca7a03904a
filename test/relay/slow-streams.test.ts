import { describe, expect, it } from 'vitest'
import { eventsIn } from '../../src/server/lib/sse.ts'
import { upstreamOfTest } from '../helpers/upstream.ts'
import { chat, httpUpstream, model, stage } from './stage.ts'

describe('a stream that takes its time', () => {
  it('[21] [22] [23] gets a heartbeat of its own format while the upstream is silent for minutes, and a whole answer is waited for', async () => {
    // Five real seconds, after which the server looks for silent streams, are five minutes of its clock.
    const startMs = Date.now()
    const now = () => startMs + (Date.now() - startMs) * 60
    const upstream = await upstreamOfTest()
    upstream.program(model, { delayMs: 5_500, words: 4 })
    const { ask } = await stage('sqlite', upstream.url, { channel: { type: 43 }, server: { now } })
    const messages = [{ role: 'user', content: 'one two three' }]
    const contents = [{ role: 'user', parts: [{ text: 'one two three' }] }]
    const [inChat, inResponses, inMessages, inGemini, whole] = await Promise.all([
      ask(chat({ stream: true })),
      ask({ model, input: 'one two three', stream: true }, '/v1/responses'),
      ask({ model, max_tokens: 100, messages, stream: true }, '/v1/messages'),
      ask({ contents }, `/v1beta/models/${model}:streamGenerateContent?alt=sse`),
      ask(chat()),
    ])

    const text = JSON.parse(whole.text).choices[0].message.content
    const said = (answer: { text: string }) =>
      eventsIn(answer.text)
        .map(({ data }) => /"(?:delta|content|text)":"((?:[^"\\]|\\.)*)"/.exec(data)?.[1] ?? '')
        .join('')
    expect(inChat.text).toMatch(/^: keep-alive\n\n/)
    expect(said(inChat), inChat.text).toContain(text)
    expect(inChat.text.trimEnd()).toMatch(/\[DONE\]$/)
    expect(inResponses.text).toMatch(/^: keep-alive\n\n/)
    expect(said(inResponses), inResponses.text).toContain(text)
    expect(inMessages.text).toMatch(/^event: ping\ndata: \{"type":"ping"\}\n\n/)
    expect(said(inMessages), inMessages.text).toContain(text)
    expect(inGemini.text).toMatch(/^: keep-alive\r\n\r\n/)
    expect(said(inGemini), inGemini.text).toContain(text)
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
