import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import OpenAI6 from 'openai-6'
import { describe, expect, it } from 'vitest'
import { anyDatabase } from '../helpers/databases.ts'
import { addChannel, addToken, books, requireBalancedBooks } from '../helpers/seed.ts'
import { countWords, upstreamOfTest } from '../helpers/upstream.ts'
import { sharedStages } from './shared-stage.ts'
import { settledCharges, stage } from './stage.ts'

const model = 'gpt-4o-mini'
/** The simulated provider's answer to the prompt. */
const said = 'You said: one two three four'
const messages = [{ role: 'user' as const, content: 'one two three four' }]

anyDatabase('the official SDKs through the gateway', (_fresh, kind) => {
  const sharedStage = sharedStages(kind)

  async function open(onStage: (url: string, channel: Record<string, unknown>) => ReturnType<typeof stage> = sharedStage) {
    const upstream = await upstreamOfTest()
    const { server, channelId } = await onStage(upstream.url, { models: `${model},text-embedding-3-small` })
    const token = await addToken(server, { unlimited_quota: false, remain_quota: 1_000_000 })
    return { upstream, server, channelId, token }
  }

  for (const [name, Client] of [
    ['openai 7', OpenAI],
    // The calls used here are the same in both majors; their types only differ in name.
    ['openai 6', OpenAI6 as unknown as typeof OpenAI],
  ] as const) {
    describe(name, () => {
      it('gets a chat answer, a stream, embeddings, models and errors; and every charge agrees to the unit', async () => {
        const { upstream, server, token, channelId } = await open((url, channel) => stage(kind, url, { channel }))
        const client = new Client({ apiKey: token.key, baseURL: `${server.url}/v1`, maxRetries: 0 })

        const answer = await client.chat.completions.create({ model, messages })
        expect(answer.choices[0]?.message.content).toBe(said)
        expect(answer.model).toBe(model)

        let streamed = ''
        let usage: OpenAI.CompletionUsage | null | undefined
        for await (const chunk of await client.chat.completions.create({
          model,
          messages,
          stream: true,
          stream_options: { include_usage: true },
        })) {
          streamed += chunk.choices[0]?.delta.content ?? ''
          usage = chunk.usage ?? usage
        }
        expect(streamed).toBe(said)
        expect(usage?.completion_tokens).toBe(6)

        const vectors = await client.embeddings.create({ model: 'text-embedding-3-small', input: 'hello there' })
        expect(vectors.data[0]?.embedding.length).toBeGreaterThan(0)
        expect((await client.models.list()).data.map((entry) => entry.id)).toContain(model)
        expect((await client.models.retrieve(model)).id).toBe(model)

        await expect(client.chat.completions.create({ model: 'no-such-model', messages })).rejects.toMatchObject({
          status: 404,
          code: 'model_not_found',
        })
        await expect(
          new Client({ apiKey: 'sk-wrong', baseURL: `${server.url}/v1`, maxRetries: 0 }).models.list(),
        ).rejects.toMatchObject({ status: 401, code: 'invalid_api_key' })

        expect(upstream.journal.filter((entry) => entry.method === 'POST')).toHaveLength(3)
        const { logs, tokens, users, channels } = await books(server)
        expect(logs.map((row) => row.completion_tokens)).toEqual([6, 6, 0])
        const charged = logs.reduce((sum, row) => sum + row.quota, 0)
        expect(charged).toBeGreaterThan(0)
        expect(tokens.find((row) => row.id === token.id)).toMatchObject({
          remain_quota: 1_000_000 - charged,
          used_quota: charged,
        })
        expect(users[0]).toMatchObject({ quota: 100_000_000 - charged, used_quota: charged, request_count: 3 })
        expect(channels.find((row) => row.id === channelId)?.used_quota).toBe(charged)
        await requireBalancedBooks(server)
      })

      it('aborts the upstream at once when the caller aborts, and charges the partial reply', async () => {
        const { upstream, server, token } = await open()
        upstream.program(model, { words: 500, pauseMs: 5 })
        const client = new Client({ apiKey: token.key, baseURL: `${server.url}/v1`, maxRetries: 0 })
        const stream = await client.chat.completions.create({ model, messages, stream: true })
        let seen = 0
        for await (const chunk of stream) {
          if (chunk.choices[0]?.delta.content) seen++
          if (seen === 5) stream.controller.abort()
        }
        const [entry] = await upstream.waitFor(1)
        expect(entry?.aborted).toBe(true)
        await settledCharges(server)
        const { logs } = await books(server)
        expect(JSON.parse(logs[0]?.other ?? '{}')).toMatchObject({ interrupted: 'client', estimated: true })
        expect(logs[0]?.completion_tokens).toBeGreaterThanOrEqual(5)
        expect(logs[0]?.completion_tokens).toBeLessThan(500 * 3)
        await requireBalancedBooks(server)
      })
    })
  }

  it('@anthropic-ai/sdk gets messages and streams from an Anthropic channel, and answers of others', async () => {
    const { server, upstream, token } = await open()
    await addChannel(server, { url: upstream.url, type: 14, models: 'claude-3-5-sonnet-20241022' })
    const client = new Anthropic({ apiKey: token.key, baseURL: server.url, maxRetries: 0 })
    const request = { model: 'claude-3-5-sonnet-20241022', max_tokens: 100, messages }

    const answer = await client.messages.create(request)
    expect(answer.content).toMatchObject([{ type: 'text', text: said }])
    const final = await client.messages.stream(request).finalMessage()
    expect(final.content).toMatchObject([{ type: 'text', text: said }])
    expect(final.usage.output_tokens).toBe(6)

    const entry = upstream.journal.at(-1)
    expect(entry?.headers['x-api-key']).toBe('upstream-key-0123456789')
    expect(entry?.headers.authorization).toBeUndefined()
    await expect(client.messages.create({ ...request, max_tokens: -1 })).rejects.toMatchObject({ status: 400 })
    const translated = await client.messages.create({ ...request, model })
    expect(translated).toMatchObject({ model, content: [{ type: 'text', text: said }], stop_reason: 'end_turn' })

    const { logs } = await books(server)
    expect(logs.map((row) => [row.prompt_tokens, row.completion_tokens])).toEqual(
      Array.from({ length: 3 }, () => [countWords('one two three four'), 6]),
    )
    await requireBalancedBooks(server)
  })

  it("passes the bytes of the request on, with unknown fields, and requests usage on the caller's behalf", async () => {
    const { server, upstream, token } = await open()
    const body = `{"model":"${model}", "seed":12345678901234567890,"x_unknown":{"2":1.0,"1":2}, "messages":[{"role":"user","content":"hi"}],"stream":true}`
    const response = await fetch(`${server.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token.key}`, 'content-type': 'application/json' },
      body,
    })
    const text = await response.text()
    expect(upstream.journal[0]?.body.toString()).toBe(`${body.slice(0, -1)},"stream_options":{"include_usage":true}}`)
    expect(text.trimEnd().endsWith('data: [DONE]')).toBe(true)
    expect(text).not.toContain('"prompt_tokens"')
    expect((await books(server)).logs[0]?.prompt_tokens).toBeGreaterThan(0)
  })
})
