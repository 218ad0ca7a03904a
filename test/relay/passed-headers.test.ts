import { describe, expect, it } from 'vitest'
import { addChannel } from '../helpers/seed.ts'
import { json } from './responses-vendor.ts'
import { chat, claude, completion, httpUpstream, model, stage } from './stage.ts'

const responsePath = '/v1/responses'
const known = { 'openai-beta': 'responses=experimental', 'x-client-request-id': 'trace-1' }
const codex = { session_id: 'session-1', 'x-codex-turn-state': 'turn-1' }
const account = { 'openai-organization': 'org-of-caller', 'openai-project': 'proj-of-caller' }
const names = ['idempotency-key', ...Object.keys({ ...known, ...codex, ...account })]

/** An upstream of Responses, Chat and Messages that answers with a turn state, and fails as long as it is to. */
async function upstream({ failures = 0 } = {}) {
  const asked: Record<string, unknown>[] = []
  const url = await httpUpstream(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += chunk
    asked.push(
      Object.fromEntries(Object.entries(request.headers).filter(([name]) => names.includes(name) || /anthropic/.test(name))),
    )
    response.setHeader('x-codex-turn-state', `turn-of-${asked.length}`)
    response.setHeader('x-other', 'secret')
    if (asked.length <= failures) return json(response, 500, { error: { message: 'no' } })
    if (request.url?.includes('/messages'))
      return json(response, 200, {
        ...{ id: 'msg_1', type: 'message', role: 'assistant', model: claude, stop_reason: 'end_turn', stop_sequence: null },
        ...{ content: [{ type: 'text', text: 'Yes.' }], usage: { input_tokens: 3, output_tokens: 1 } },
      })
    if (!request.url?.includes('/responses')) {
      response.writeHead(200, { 'content-type': 'application/json' }).end(completion())
      return
    }
    const made = {
      ...{ id: 'resp_1', object: 'response', status: 'completed', model, output: [] },
      usage: { input_tokens: 3, output_tokens: 1, total_tokens: 4 },
    }
    if (!JSON.parse(text).stream) return json(response, 200, made)
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.end(`event: response.completed\ndata: ${JSON.stringify({ type: 'response.completed', response: made })}\n\n`)
  })
  return { url, asked }
}

describe('headers that the vendor reads', () => {
  it.each([
    ['whole', {}],
    ['streamed', { stream: true }],
  ])('pass with a request of Codex, %s, and the state of its turn goes back', async (_, more) => {
    const { url, asked } = await upstream()
    const { ask } = await stage('sqlite', url)
    const sent = { ...known, ...codex, ...account, 'idempotency-key': 'k' }
    const answer = await ask({ model, input: 'Hi', ...more }, responsePath, sent)
    expect(asked).toEqual([{ ...known, ...codex, ...account, 'idempotency-key': expect.stringMatching(/^[0-9a-f]{64}$/) }])
    expect([answer.headers.get('x-codex-turn-state'), answer.headers.get('x-other')]).toEqual(['turn-of-1', null])
  })

  it('are those of the list of the channel, there and back', async () => {
    const { url, asked } = await upstream()
    const { ask } = await stage('sqlite', url, { channel: { setting: '{"passed_headers":["openai-project"]}' } })
    const answer = await ask({ model, input: 'Hi' }, responsePath, { ...known, ...codex, ...account })
    expect(asked).toEqual([{ ...known, 'openai-project': 'proj-of-caller' }])
    expect(answer.headers.get('x-codex-turn-state')).toBeNull()
  })

  it('of a Messages caller pass to Anthropic', async () => {
    const { url, asked } = await upstream()
    const { ask } = await stage('sqlite', url, { channel: { type: 14, models: claude } })
    const sent = { 'anthropic-workspace-id': 'wrkspc_1', 'anthropic-user-profile-id': 'up_1', 'x-client-request-id': 'c' }
    const body = { model: claude, max_tokens: 5, messages: [{ role: 'user', content: 'Hi' }] }
    expect((await ask(body, '/v1/messages', sent)).status).toBe(200)
    expect(asked).toEqual([{ ...sent, 'anthropic-version': '2023-06-01' }])
  })

  it('of an attempt that failed, or of another protocol, do not go back', async () => {
    const first = await upstream({ failures: 9 })
    const second = await upstream()
    const { server, ask } = await stage('sqlite', first.url, { channel: { priority: 9 } })
    await addChannel(server, { url: `${second.url}/v1/chat/completions`, type: 8, models: model })
    await server.call('PUT /api/option/', { key: 'RetryTimes', value: '1' })
    const answer = await ask({ model, input: 'Hi' }, responsePath, codex)
    expect([answer.status, first.asked.length, second.asked.length]).toEqual([200, 1, 1])
    expect(answer.headers.get('x-codex-turn-state')).toBeNull()
    expect((await ask(chat())).headers.get('x-codex-turn-state')).toBeNull()
  })
})
