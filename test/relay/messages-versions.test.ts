import type { IncomingHttpHeaders } from 'node:http'
import Anthropic from '@anthropic-ai/sdk'
import { describe, expect, it } from 'vitest'
import { json } from './responses-vendor.ts'
import { sharedStages } from './shared-stage.ts'
import { claude, httpUpstream } from './stage.ts'

interface Asked {
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly body: Record<string, unknown>
}

const versionOf = ({ headers, body }: Asked) => body.anthropic_version ?? headers['anthropic-version']

/** A Claude that refuses what its version removed, and versions that it does not know. */
async function claudeUpstream({ known = ['2023-06-01', 'bedrock-2023-05-31', '2026-10-21'] } = {}) {
  const asked: Asked[] = []
  const url = await httpUpstream(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += chunk
    const call = { url: request.url ?? '', headers: request.headers, body: JSON.parse(text) }
    asked.push(call)
    const message = refusalOf(call, known)
    if (message) return json(response, 400, { type: 'error', error: { type: 'invalid_request_error', message } })
    return json(response, 200, {
      ...{ id: 'msg_1', type: 'message', role: 'assistant', model: claude, stop_reason: 'end_turn', stop_sequence: null },
      ...{ content: [{ type: 'text', text: 'Yes.' }], usage: { input_tokens: 3, output_tokens: 1 } },
    })
  })
  return { url, asked }
}

function refusalOf(call: Asked, known: readonly string[]): string | undefined {
  const version = versionOf(call)
  if (typeof version !== 'string' || !known.includes(version)) return `anthropic-version: "${version}" is not a valid version`
  const removed = version === '2026-10-21' ? ['temperature', 'top_p', 'top_k'] : []
  const sent = removed.find((member) => member in call.body)
  return sent && `${sent}: Extra inputs are not permitted`
}

const anthropicHost = { type: 14, models: claude }
const bedrockHost = { type: 33, models: claude, key: 'api-key-0123456789|us-east-1' }
const deepseekHost = { type: 43, models: claude }
const messages = { model: claude, max_tokens: 5, messages: [{ role: 'user', content: 'Hi' }] }
const newest = { 'anthropic-version': '2026-10-21' }

describe('the version of a request in Messages', () => {
  const sharedStage = sharedStages()

  it.each([
    ['Anthropic', '2026-10-21', anthropicHost, '2026-10-21'],
    ['Anthropic', '2023-06-01', anthropicHost, '2023-06-01'],
    ['Anthropic', undefined, anthropicHost, '2023-06-01'],
    ['DeepSeek, which does not have the other', '2026-10-21', deepseekHost, '2023-06-01'],
    ['Bedrock, which serves older models under its own', '2026-10-21', bedrockHost, 'bedrock-2023-05-31'],
  ])('[127] is at %s, for %s, one that the host has', async (_host, asked, channel, sent) => {
    const upstream = await claudeUpstream()
    const { ask } = await sharedStage(upstream.url, channel)
    expect((await ask(messages, '/v1/messages', asked ? { 'anthropic-version': asked } : {})).status).toBe(200)
    expect(upstream.asked.map(versionOf)).toEqual([sent])
  })

  it('[28] [127] [261] is that of the SDK, whose betas and new headers arrive too', async () => {
    const upstream = await claudeUpstream()
    const { server, token } = await sharedStage(upstream.url, anthropicHost)
    const client = new Anthropic({ apiKey: token.key, baseURL: server.url, maxRetries: 0 })
    const params = { ...messages, messages: [{ role: 'user' as const, content: 'Hi' }], betas: ['one-2026', 'two-2026'] }
    await client.beta.messages.create(params, { headers: { 'anthropic-new-2027': 'x' } })
    const [call] = upstream.asked
    expect(call?.url).toBe('/v1/messages')
    expect(call?.headers).toMatchObject({
      'anthropic-version': '2026-10-21',
      'anthropic-beta': 'one-2026,two-2026',
      'anthropic-new-2027': 'x',
    })
  })

  it("[127] has Anthropic's own refusal of what it removed", async () => {
    const upstream = await claudeUpstream()
    const { ask } = await sharedStage(upstream.url, anthropicHost)
    const answer = await ask({ ...messages, temperature: 1 }, '/v1/messages', newest)
    expect([answer.status, JSON.parse(answer.text).error.message]).toEqual([
      400,
      expect.stringContaining('temperature: Extra inputs are not permitted'),
    ])
  })

  it.each([
    ['Chat', '/v1/chat/completions', { model: claude, messages: [{ role: 'user', content: 'Hi' }], temperature: 0.5 }],
    ['Responses', '/v1/responses', { model: claude, input: 'Hi', temperature: 0.5 }],
    [
      'Gemini',
      `/v1beta/models/${claude}:generateContent`,
      { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }], generationConfig: { temperature: 0.5 } },
    ],
  ])('[127] is ours where a caller of %s names one', async (_dialect, path, body) => {
    for (const [channel, sent] of [
      [anthropicHost, '2023-06-01'],
      [bedrockHost, 'bedrock-2023-05-31'],
    ] as const) {
      const upstream = await claudeUpstream()
      const { ask } = await sharedStage(upstream.url, channel)
      const answer = await ask(body, path, newest)
      expect([answer.status, answer.headers.get('x-sluice-dropped')]).toEqual([200, null])
      expect(upstream.asked.map((call) => [versionOf(call), call.body.temperature])).toEqual([[sent, 0.5]])
    }
  })

  it('[127] is the first one for a host that does not know the other, after one refusal', async () => {
    const upstream = await claudeUpstream({ known: ['2023-06-01'] })
    const { ask } = await sharedStage(upstream.url, anthropicHost)
    for (let times = 0; times < 2; times++) expect((await ask(messages, '/v1/messages', newest)).status).toBe(200)
    expect(upstream.asked.map(versionOf)).toEqual(['2026-10-21', '2023-06-01', '2023-06-01'])
    // One that nobody has published is the caller's mistake.
    expect((await ask(messages, '/v1/messages', { 'anthropic-version': '2026-10-22' })).status).toBe(400)
    expect(upstream.asked).toHaveLength(4)
  })
})

describe('members that a version removed', () => {
  const sharedStage = sharedStages()
  const rules = [
    { default: 'temperature', to: 0.3 },
    { set: 'top_p', to: 0.9 },
    { set: 'stop_sequences', to: ['x'] },
  ]

  it.each([
    ['2026-10-21', 'Anthropic', anthropicHost, { stop_sequences: ['x'] }],
    ['2023-06-01', 'Anthropic', anthropicHost, { temperature: 0.3, top_p: 0.9, stop_sequences: ['x'] }],
    // It serves the older model under a version that has them.
    ['2026-10-21', 'Bedrock', bedrockHost, { temperature: 0.3, top_p: 0.9, stop_sequences: ['x'] }],
  ])('[127] are not set by the rules of a channel under %s at %s where it has none', async (version, _host, channel, added) => {
    const upstream = await claudeUpstream()
    const { ask } = await sharedStage(upstream.url, {
      ...channel,
      setting: JSON.stringify({ param_override: rules, system_prompt: 'be kind' }),
    })
    expect((await ask(messages, '/v1/messages', { 'anthropic-version': version })).status).toBe(200)
    const { temperature, top_p, stop_sequences, system } = upstream.asked[0]?.body ?? {}
    expect({ temperature, top_p, stop_sequences, system }).toEqual({ ...added, system: 'be kind' })
  })

  it('[127] are left out with a receipt of requests that are written for a version of the operator, and of tests', async () => {
    const upstream = await claudeUpstream()
    const { ask, server, channelId } = await sharedStage(upstream.url, {
      ...anthropicHost,
      setting: JSON.stringify({ header_override: newest, param_override: rules }),
    })
    const body = { model: claude, messages: [{ role: 'user', content: 'Hi' }], temperature: 0.5, top_p: 0.5 }
    const answer = await ask(body)
    expect([answer.status, answer.headers.get('x-sluice-dropped')]).toEqual([200, 'temperature, top_p'])
    await server.call(`GET /api/channel/test/${channelId}`)
    expect(upstream.asked.map(versionOf)).toEqual(['2026-10-21', '2026-10-21'])
  })
})

describe('a user profile', () => {
  const sharedStage = sharedStages()
  const header = 'anthropic-user-profile-id'
  const passing = { passed_headers: [header] }

  it.each([
    ['a header of Anthropic', anthropicHost, passing, ['up_1', undefined]],
    ['a member at Bedrock', bedrockHost, passing, [undefined, 'up_1']],
    ['nothing at Bedrock, unless the channel passes it on', bedrockHost, {}, [undefined, undefined]],
  ])('is %s', async (_place, channel, setting, sent) => {
    const upstream = await claudeUpstream()
    const { ask } = await sharedStage(upstream.url, { ...channel, setting: JSON.stringify(setting) })
    expect((await ask(messages, '/v1/messages', { [header]: 'up_1' })).status).toBe(200)
    const [call] = upstream.asked
    expect([call?.headers[header], call?.body.user_profile_id]).toEqual(sent)
  })
})
