import { describe, expect, it } from 'vitest'
import { addChannel } from '../helpers/seed.ts'
import { json } from './responses-vendor.ts'
import { sharedStages } from './shared-stage.ts'
import { claude, httpUpstream, model } from './stage.ts'

/** What Claude Code asks of a gateway, by raw HTTP. Source: code.claude.com/docs/en/llm-gateway-protocol, read 2026-11. */

const sharedStage = sharedStages()
const beta = 'claude-code-20250219,interleaved-thinking-2025-05-14'
const sent = {
  'user-agent': 'claude-cli/2.1.330 (external, cli)',
  'anthropic-version': '2023-06-01',
  'anthropic-beta': beta,
  'anthropic-dangerous-direct-browser-access': 'true',
  'anthropic-client-platform': 'cli',
  'x-app': 'cli',
  'x-claude-code-session-id': 'session-1',
  'x-claude-code-agent-id': 'agent-1',
}
const messages = { model: claude, max_tokens: 5, messages: [{ role: 'user', content: 'Hi' }] }

interface Asked {
  readonly url: string
  readonly headers: Record<string, unknown>
}

async function upstream(answer: { readonly status: number; readonly body: object }) {
  const asked: Asked[] = []
  const url = await httpUpstream((request, response) => {
    asked.push({ url: request.url ?? '', headers: request.headers })
    request.resume().on('end', () => json(response, answer.status, answer.body))
  })
  return { url, asked }
}

const answered = {
  status: 200,
  body: {
    ...{ id: 'msg_1', type: 'message', role: 'assistant', model: claude, stop_reason: 'end_turn', stop_sequence: null },
    ...{ content: [{ type: 'text', text: 'Yes.' }], usage: { input_tokens: 3, output_tokens: 1 } },
  },
}

describe('Claude Code', () => {
  it.each([
    ['a bearer token', (key: string) => ({ authorization: `Bearer ${key}` })],
    ['a key of a helper', (key: string) => ({ 'x-api-key': key })],
  ])(
    '[240] finds the models of the gateway with %s, without a redirect, in the shape of Anthropic',
    async (_credential, credentialOf) => {
      const { server, token } = await sharedStage('http://127.0.0.1:9', { type: 14, models: claude })
      await addChannel(server, { url: 'http://127.0.0.1:9', models: model })
      const list = async (query: string) => {
        const headers = { 'user-agent': 'claude-code/2.1.330', ...credentialOf(token.key) }
        const response = await fetch(`${server.url}/v1/models?${query}`, { headers, redirect: 'error' })
        return { status: response.status, body: await response.json() }
      }
      const { status, body } = await list('limit=1000')
      const row = (id: string) => ({ type: 'model', id, display_name: id, created_at: expect.stringMatching(/^\d{4}-.*Z$/) })
      expect(status).toBe(200)
      expect(body).toMatchObject({ data: [row(claude), row(model)], has_more: false, first_id: claude, last_id: model })
      expect((await list('limit=1')).body).toMatchObject({ data: [row(claude)], has_more: true, last_id: claude })
      expect((await list(`limit=1000&after_id=${claude}`)).body).toMatchObject({ data: [row(model)], has_more: false })
    },
  )

  it("gets Anthropic's error for a key that is not known, also where it looks for models", async () => {
    const { server } = await sharedStage('http://127.0.0.1:9', { type: 14, models: claude })
    const headers = { 'user-agent': 'claude-code/2.1.330', authorization: 'Bearer sk-unknown' }
    const response = await fetch(`${server.url}/v1/models?limit=1000`, { headers, redirect: 'error' })
    expect([response.status, await response.json()]).toMatchObject([
      401,
      { type: 'error', error: { type: 'authentication_error' } },
    ])
  })

  it('[28] has its version, betas, query and unknown headers of Anthropic forwarded, and its own headers kept here', async () => {
    const { url, asked } = await upstream(answered)
    const { ask } = await sharedStage(url, { type: 14, models: claude })
    expect((await ask(messages, '/v1/messages?beta=true', sent)).status).toBe(200)
    const { headers, url: path } = asked[0] ?? {}
    expect(path).toBe('/v1/messages?beta=true')
    expect(headers).toMatchObject({
      'anthropic-version': '2023-06-01',
      'anthropic-beta': beta,
      'anthropic-client-platform': 'cli',
    })
    for (const own of [
      'x-app',
      'x-claude-code-session-id',
      'x-claude-code-agent-id',
      'anthropic-dangerous-direct-browser-access',
    ])
      expect(headers).not.toHaveProperty(own)
  })

  it.each([
    [400, 'invalid_request_error', 'messages.1.content.0: Invalid `signature` in `thinking` block'],
    [400, 'invalid_request_error', 'context_management: Extra inputs are not permitted'],
  ])('[148] reads the upstream’s own sentence in an error %i %s', async (status, type, message) => {
    const { url } = await upstream({ status, body: { type: 'error', error: { type, message } } })
    const { ask } = await sharedStage(url, { type: 14, models: claude })
    const answer = await ask(messages, '/v1/messages?beta=true', sent)
    const { type: envelope, error } = JSON.parse(answer.text)
    expect([answer.status, envelope, error.type]).toEqual([status, 'error', type])
    expect(error.message).toContain(message)
  })

  it('[147] gets token counts from the upstream, or estimated where it has none', async () => {
    const counting = await upstream({ status: 200, body: { input_tokens: 17 } })
    const { ask } = await sharedStage(counting.url, { type: 14, models: claude })
    const { max_tokens: _, ...counted } = messages
    const answer = await ask(counted, '/v1/messages/count_tokens?beta=true', sent)
    expect([answer.status, JSON.parse(answer.text)]).toEqual([200, { input_tokens: 17 }])
    expect(counting.asked[0]?.url).toBe('/v1/messages/count_tokens?beta=true')
    expect(counting.asked[0]?.headers).toMatchObject({ 'anthropic-version': '2023-06-01', 'anthropic-beta': beta })

    const none = await sharedStage('http://127.0.0.1:9', { type: 1, models: model })
    const estimate = await none.ask({ ...counted, model }, '/v1/messages/count_tokens?beta=true', sent)
    expect([estimate.status, JSON.parse(estimate.text).input_tokens > 0]).toEqual([200, true])
  })
})
