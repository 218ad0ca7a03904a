import { describe, expect, it } from 'vitest'
import { eventsIn } from '../../src/server/base/lib/bytes/sse.ts'
import { upstreamOfTest } from '../helpers/upstream.ts'
import { chat, eventually, httpUpstream, model, post, stage } from './stage.ts'

describe('a slow stream', () => {
  it('[21] [22] [23] gets a heartbeat of its own format while the upstream is silent for minutes, and a whole answer is awaited', async () => {
    let aheadMs = 0
    const now = () => Date.now() + aheadMs
    const { promise: speaking, resolve: speak } = Promise.withResolvers<void>()
    const upstream = await upstreamOfTest()
    upstream.program(model, async () => {
      await speaking
      return { words: 4 }
    })
    const { server, token, ask } = await stage('sqlite', upstream.url, { channel: { type: 43 }, server: { now } })
    const begin = (body: object, path = '/v1/chat/completions') => post(server, token.key, body, path)
    const messages = [{ role: 'user', content: 'one two three' }]
    const contents = [{ role: 'user', parts: [{ text: 'one two three' }] }]
    const answering = ask(chat())
    const beginning = Promise.all([
      begin(chat({ stream: true })),
      begin({ model, input: 'one two three', stream: true }, '/v1/responses'),
      begin({ model, max_tokens: 100, messages, stream: true }, '/v1/messages'),
      begin({ contents }, `/v1beta/models/${model}:streamGenerateContent?alt=sse`),
    ])
    await eventually('the upstream is asked for all', () => upstream.journal.length === 5)
    aheadMs = 300_000
    // The head of an answer is sent with its first heartbeat.
    const begun = await beginning
    speak()
    const [inChat = '', inResponses = '', inMessages = '', inGemini = ''] = await Promise.all(
      begun.map((answer) => answer.text()),
    )
    const text = JSON.parse((await answering).text).choices[0].message.content
    const said = (answer: string) =>
      eventsIn(answer)
        .map(({ data }) => /"(?:delta|content|text)":"((?:[^"\\]|\\.)*)"/.exec(data)?.[1] ?? '')
        .join('')
    expect(inChat).toMatch(/^: keep-alive\n\n/)
    expect(said(inChat), inChat).toContain(text)
    expect(inChat.trimEnd()).toMatch(/\[DONE\]$/)
    expect(inResponses).toMatch(/^: keep-alive\n\n/)
    expect(said(inResponses), inResponses).toContain(text)
    expect(inMessages).toMatch(/^event: ping\ndata: \{"type":"ping"\}\n\n/)
    expect(said(inMessages), inMessages).toContain(text)
    expect(inGemini).toMatch(/^: keep-alive\r\n\r\n/)
    expect(said(inGemini), inGemini).toContain(text)
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
    const response = await post(server, token.key, chat({ stream: true }))
    const reader = response.body?.getReader()
    await reader?.read()
    await new Promise((resolve) => setTimeout(resolve, 1000))
    expect(written).toBeLessThan(40_000_000)
    await reader?.cancel()
  })
})
