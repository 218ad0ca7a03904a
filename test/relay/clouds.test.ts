import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { eventsIn } from '../../src/server/base/lib/bytes/sse.ts'
import { awsEvent, awsException } from '../helpers/aws-event-stream.ts'
import { requireBalancedBooks } from '../helpers/seed.ts'
import { sharedStages } from './shared-stage.ts'
import { answeringUpstream, chat, claude, model, settledCharges } from './stage.ts'

const sharedStage = sharedStages()

const folder = new URL('../../src/server/gateway/protocols/bedrock-converse/fixtures/', import.meta.url)
const fixture = (name: string) => readFileSync(new URL(`${name}.bin`, folder))
const nova = 'amazon.nova-pro-v1:0'
const eventStream = 'application/vnd.amazon.eventstream'
const credentials = 'AKIDEXAMPLE|wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY|us-east-1'

/** An upstream that answers every call with these bytes, in chunks that split every frame, and records its requests. */
async function upstream(bytes: Buffer | string, type = eventStream, status = 200) {
  const { url, heard: asked } = await answeringUpstream({ bytes, type, status, size: 53 })
  return { url, asked }
}

/** A gateway whose Chat model is a model of Bedrock. */
const bedrock = (url: string, more: Record<string, unknown> = {}) =>
  sharedStage(url, { type: 33, key: credentials, model_mapping: JSON.stringify({ [model]: nova }), ...more })

const chunksOf = (text: string) =>
  eventsIn(Buffer.from(text).toString('latin1'))
    .filter(({ data }) => data.startsWith('{'))
    .map(({ data }) => JSON.parse(data))
const saidIn = (text: string) =>
  chunksOf(text)
    .map((chunk) => chunk.choices?.[0]?.delta?.content ?? '')
    .join('')

describe('a Chat caller of a model on Bedrock', () => {
  it('gets the stream of Converse as Chat, signed for and charged', async () => {
    const { url, asked } = await upstream(fixture('converse_text'))
    const { server, ask } = await bedrock(url)
    const answer = await ask(chat({ stream: true, stream_options: { include_usage: true }, temperature: 0.5 }))

    expect(answer.status).toBe(200)
    expect(saidIn(answer.text)).toBe('The harbor is calm. 🌊')
    expect(answer.text.endsWith('data: [DONE]\n\n')).toBe(true)
    expect(chunksOf(answer.text).at(-1)?.usage).toMatchObject({ prompt_tokens: 20, completion_tokens: 9, total_tokens: 29 })

    const [call] = asked
    expect(call?.path).toBe('/model/amazon.nova-pro-v1%3A0/converse-stream')
    expect(call?.body).toEqual({
      messages: [{ role: 'user', content: [{ text: 'one two three' }] }],
      inferenceConfig: { temperature: 0.5 },
    })
    expect(call?.headers.authorization).toMatch(
      /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/\d{8}\/us-east-1\/bedrock\/aws4_request, SignedHeaders=host;x-amz-content-sha256;x-amz-date, Signature=[0-9a-f]{64}$/,
    )
    expect(call?.headers['x-amz-date']).toMatch(/^\d{8}T\d{6}Z$/)
    expect(await settledCharges(server)).toHaveLength(1)
    await requireBalancedBooks(server)
  })

  it('gets a whole reply of Converse as Chat', async () => {
    const reply = {
      output: { message: { role: 'assistant', content: [{ text: 'Calm.' }] } },
      stopReason: 'end_turn',
      usage: { inputTokens: 3, outputTokens: 2, totalTokens: 5 },
    }
    const { url, asked } = await upstream(JSON.stringify(reply), 'application/json')
    const { ask } = await bedrock(url)
    const answer = await ask(chat())
    expect(JSON.parse(answer.text)).toMatchObject({
      model,
      choices: [{ message: { content: 'Calm.' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 3, completion_tokens: 2 },
    })
    expect(asked[0]?.path).toBe('/model/amazon.nova-pro-v1%3A0/converse')
  })

  it('[251] gets an error for an exception after the first output, as the last event', async () => {
    const { url } = await upstream(fixture('converse_exception'))
    const { ask } = await bedrock(url)
    const answer = await ask(chat({ stream: true }))
    expect(saidIn(answer.text)).toBe('The har')
    expect(chunksOf(answer.text).at(-1)?.error).toBeDefined()
    expect(answer.text).not.toContain('[DONE]')
  })

  it('[251] gets the status of an exception before the first output, and 502 for a broken frame', async () => {
    const throttled = Buffer.concat([awsEvent('messageStart', { role: 'assistant' }), awsException('throttlingException', {})])
    const broken = fixture('converse_text')
    broken[20] = (broken[20] ?? 0) ^ 1
    for (const [body, status] of [
      [throttled, 429],
      [broken, 502],
    ] as const) {
      const { url } = await upstream(body)
      const { server, ask } = await bedrock(url)
      expect((await ask(chat({ stream: true }))).status).toBe(status)
      expect(await settledCharges(server)).toEqual([])
    }
  })

  it('gets an answer of Claude, which is called in its own format', async () => {
    const { url, asked } = await upstream(fixture('invoke_anthropic_text'))
    const { ask } = await bedrock(url, { model_mapping: JSON.stringify({ [model]: 'eu.anthropic.claude-sonnet-4-6' }) })
    const answer = await ask(chat({ stream: true, max_tokens: 50 }))
    expect(saidIn(answer.text)).toBe('The harbor is calm.')
    expect(asked[0]?.path).toBe('/model/eu.anthropic.claude-sonnet-4-6/invoke-with-response-stream')
    expect(asked[0]?.body).toEqual({
      max_tokens: 50,
      messages: [{ role: 'user', content: [{ type: 'text', text: 'one two three' }] }],
      anthropic_version: 'bedrock-2023-05-31',
    })
  })

  it("gets Bedrock's error text, in either spelling", async () => {
    for (const member of ['message', 'Message']) {
      const { url } = await upstream(JSON.stringify({ [member]: 'Malformed input request' }), 'application/json', 400)
      const { ask } = await bedrock(url)
      const answer = await ask(chat())
      expect(answer.status).toBe(400)
      expect(JSON.parse(answer.text).error.message).toContain('Malformed input request')
    }
  })

  it('sends a Bedrock API key as a bearer token, without a signature', async () => {
    const { url, asked } = await upstream(fixture('converse_text'))
    const { ask } = await bedrock(url, { key: 'bedrock-api-key-0123456789|us-east-1' })
    await ask(chat({ stream: true }))
    expect(asked[0]?.headers.authorization).toBe('Bearer bedrock-api-key-0123456789')
    expect(asked[0]?.headers['x-amz-date']).toBeUndefined()
  })
})

describe('a Messages caller of Claude on Bedrock', () => {
  it('gets the native events of the model, for a body that Bedrock accepts', async () => {
    const { url, asked } = await upstream(fixture('invoke_anthropic_text'))
    const { ask } = await sharedStage(url, { type: 33, key: credentials, models: claude })
    const body = {
      model: claude,
      max_tokens: 50,
      stream: true,
      messages: [{ role: 'user', content: 'Hi' }],
      service_tier: 'auto',
    }
    const answer = await ask(body, '/v1/messages')

    expect(eventsIn(Buffer.from(answer.text).toString('latin1')).map(({ name }) => name)).toEqual([
      'message_start',
      'content_block_start',
      'content_block_delta',
      'content_block_stop',
      'message_delta',
      'message_stop',
    ])
    expect(asked[0]?.path).toBe('/model/anthropic.claude-3-5-sonnet-20241022-v2%3A0/invoke-with-response-stream')
    expect(asked[0]?.body).toEqual({
      max_tokens: 50,
      messages: [{ role: 'user', content: 'Hi' }],
      anthropic_version: 'bedrock-2023-05-31',
    })
  })
})

describe('a Gemini caller of Vertex', () => {
  it('gets the stream unchanged, requested with an API key', async () => {
    const reply = `data: ${JSON.stringify({
      candidates: [{ content: { role: 'model', parts: [{ text: 'Calm.' }] }, finishReason: 'STOP', index: 0 }],
      usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 2, totalTokenCount: 5 },
    })}\r\n\r\n`
    const { url, asked } = await upstream(reply, 'text/event-stream')
    const key = `AIza${'x'.repeat(35)}`
    const { server, ask } = await sharedStage(url, { type: 41, key, other: 'global', models: 'gemini-2.0-flash' })
    const body = { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] }
    const answer = await ask(body, '/v1beta/models/gemini-2.0-flash:streamGenerateContent?alt=sse')
    expect(answer.text).toBe(reply)
    expect(asked[0]).toMatchObject({
      path: '/v1/publishers/google/models/gemini-2.0-flash:streamGenerateContent?alt=sse',
      headers: { 'x-goog-api-key': key },
      body,
    })
    expect(await settledCharges(server)).toHaveLength(1)
  })
})
