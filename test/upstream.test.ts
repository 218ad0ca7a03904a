import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { describe, expect, it } from 'vitest'
import { fixture, fixturesOf, upstreamOfTest } from './helpers/upstream.ts'

const messages = [{ role: 'user' as const, content: 'tell me of the tide' }]

function clients(url: string) {
  return {
    openai: new OpenAI({ apiKey: 'sk-upstream', baseURL: `${url}/v1`, maxRetries: 0 }),
    anthropic: new Anthropic({ apiKey: 'sk-upstream', baseURL: url, maxRetries: 0 }),
  }
}

describe('the simulated provider', () => {
  it('answers the official SDKs in each dialect, with usage that can be counted by hand', async () => {
    const upstream = await upstreamOfTest()
    const { openai, anthropic } = clients(upstream.url)

    const chat = await openai.chat.completions.create({ model: 'm', messages })
    expect(chat.choices[0]?.message.content).toBe('You said: tell me of the tide')
    expect(chat.usage).toMatchObject({ prompt_tokens: 5, completion_tokens: 7, total_tokens: 12 })

    const message = await anthropic.messages.create({ model: 'm', max_tokens: 3, messages })
    expect(message).toMatchObject({
      stop_reason: 'max_tokens',
      content: [{ text: 'You said: tell' }],
      usage: { input_tokens: 5, output_tokens: 3 },
    })
    expect(await anthropic.messages.countTokens({ model: 'm', messages })).toEqual({ input_tokens: 5 })

    const embedding = await openai.embeddings.create({ model: 'm', input: ['one', 'two words'] })
    expect(Array.from(embedding.data[0]?.embedding ?? []).slice(0, 2)).toEqual([0.5, -0.25])
    expect(embedding.usage.prompt_tokens).toBe(3)
    expect((await openai.models.list()).data.map((model) => model.id)).toEqual(['gpt-4o-mini'])
  })

  it('streams one word per event and reports usage only when requested', async () => {
    const upstream = await upstreamOfTest()
    const { openai, anthropic } = clients(upstream.url)

    const chunks = []
    for await (const chunk of await openai.chat.completions.create({
      model: 'm--words-3',
      messages,
      stream: true,
      stream_options: { include_usage: true },
    }))
      chunks.push(chunk)
    expect(chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('')).toBe('word1 word2 word3')
    expect(chunks.at(-1)?.usage?.completion_tokens).toBe(3)

    const final = await anthropic.messages.stream({ model: 'm--words-3', max_tokens: 9, messages }).finalMessage()
    expect(final).toMatchObject({ content: [{ text: 'word1 word2 word3' }], usage: { input_tokens: 5, output_tokens: 3 } })
  })

  it('keeps a journal of the bytes actually sent when a connection is cut or the caller disconnects', async () => {
    const upstream = await upstreamOfTest()
    const { openai } = clients(upstream.url)

    const cut = openai.chat.completions.create({ model: 'm--words-9--cut-4', messages, stream: true })
    await expect(async () => {
      for await (const _ of await cut);
    }).rejects.toThrow()

    const abort = new AbortController()
    const slow = await openai.chat.completions.create(
      { model: 'm--words-500--pause-5', messages, stream: true },
      { signal: abort.signal },
    )
    for await (const chunk of slow) if (chunk.choices[0]?.delta.content === ' word2') abort.abort()

    const [first, second] = await upstream.waitFor(2)
    expect(first).toMatchObject({ wordsSent: 3, finished: false, aborted: false })
    expect(second).toMatchObject({ finished: false, aborted: true })
    expect(second?.wordsSent).toBeLessThan(500)
  })

  it('replays fixture bytes unchanged, at once or in pieces of any size', async () => {
    const upstream = await upstreamOfTest()
    for (const path of fixturesOf('openai-chat').slice(0, 3)) {
      for (const pieceBytes of [0, 1, 7]) {
        upstream.program('m', { bytes: fixture(path), pieceBytes })
        const response = await fetch(`${upstream.url}/v1/chat/completions`, {
          method: 'POST',
          body: '{"model":"m","stream":true}',
        })
        expect(Buffer.from(await response.arrayBuffer()).equals(fixture(path))).toBe(true)
      }
    }
  })

  it('fails as its program specifies, one program per request', async () => {
    const upstream = await upstreamOfTest()
    upstream.program('m', [
      { status: 429, headers: { 'retry-after': '7' } },
      { echoKey: true },
      { errorIn200: true },
      { hangUp: true },
      { redirect: 'http://127.0.0.1:1/' },
      { gzip: true },
    ])
    const ask = () =>
      fetch(`${upstream.url}/v1/chat/completions`, {
        method: 'POST',
        redirect: 'manual',
        headers: { authorization: 'Bearer sk-secret' },
        body: '{"model":"m"}',
      })

    const busy = await ask()
    expect([busy.status, busy.headers.get('retry-after')]).toEqual([429, '7'])
    expect(await (await ask()).text()).toContain('sk-secret')
    const hidden = await ask()
    expect([hidden.status, Object.keys(JSON.parse(await hidden.text()))]).toEqual([200, ['error']])
    await expect(ask()).rejects.toThrow()
    expect((await ask()).status).toBe(302)
    const packed = await ask()
    expect([packed.headers.get('content-encoding'), (await packed.json()).object]).toEqual(['gzip', 'chat.completion'])
  })
})
