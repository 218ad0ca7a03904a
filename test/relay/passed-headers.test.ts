import { describe, expect, it } from 'vitest'
import { addChannel, setOptions } from '../helpers/seed.ts'
import { messagesReply } from '../helpers/vendor-replies.ts'
import { caller as connectCaller } from './realtime-stage.ts'
import { sharedStages } from './shared-stage.ts'
import { answeringUpstream, chat, claude, completion, model, stage } from './stage.ts'

const responsePath = '/v1/responses'
const known = { 'openai-beta': 'responses=experimental', 'x-client-request-id': 'trace-1' }
const codex = { session_id: 'session-1', 'x-codex-turn-state': 'turn-1' }
const account = { 'openai-organization': 'org-of-caller', 'openai-project': 'proj-of-caller' }
const names = ['idempotency-key', ...Object.keys({ ...known, ...codex, ...account })]

/** An upstream of Responses, Chat and Messages that answers with a turn state, after a number of failures. */
async function upstream({ failures = 0 } = {}) {
  const asked: Record<string, unknown>[] = []
  const { url } = await answeringUpstream(({ path, headers: all, body }, count) => {
    asked.push(Object.fromEntries(Object.entries(all).filter(([name]) => names.includes(name) || /anthropic/.test(name))))
    const headers = { 'x-codex-turn-state': `turn-of-${count}`, 'x-other': 'secret' }
    if (count <= failures) return { json: { error: { message: 'no' } }, status: 500, headers }
    if (path.includes('/messages'))
      return { bytes: messagesReply({ model: claude, text: 'Yes.', usage: [3, 1] }, false), headers }
    if (!path.includes('/responses')) return { bytes: completion(), headers }
    const made = {
      ...{ id: 'resp_1', object: 'response', status: 'completed', model, output: [] },
      usage: { input_tokens: 3, output_tokens: 1, total_tokens: 4 },
    }
    if (!body.stream) return { json: made, headers }
    const completed = JSON.stringify({ type: 'response.completed', response: made })
    return { bytes: `event: response.completed\ndata: ${completed}\n\n`, headers }
  })
  return { url, asked }
}

describe('headers that the vendor reads', () => {
  const sharedStage = sharedStages()

  it.each([
    ['whole', {}],
    ['streamed', { stream: true }],
  ])('are passed on for a request of Codex, %s, and its turn state is returned', async (_, more) => {
    const { url, asked } = await upstream()
    const { ask } = await sharedStage(url)
    const sent = { ...known, ...codex, ...account, 'idempotency-key': 'k' }
    const answer = await ask({ model, input: 'Hi', ...more }, responsePath, sent)
    expect(asked).toEqual([{ ...known, ...codex, ...account, 'idempotency-key': expect.stringMatching(/^[0-9a-f]{64}$/) }])
    expect([answer.headers.get('x-codex-turn-state'), answer.headers.get('x-other')]).toEqual(['turn-of-1', null])
  })

  it('include the turn state of Codex, which is the metadata of an event over a WebSocket, in both directions', async () => {
    const { url, asked } = await upstream()
    const { server, token } = await stage('sqlite', url)
    const chatOnly = await upstream()
    await addChannel(server, { url: `${chatOnly.url}/v1/chat/completions`, type: 8, models: 'gpt-4.1' })
    await setOptions(server, { ModelRatio: '{"gpt-4.1":1,"gpt-4o":1}' })
    const client = connectCaller(server.url, token.key, { path: responsePath })
    await client.opened()
    const create = { type: 'response.create', model, input: 'Hi' }
    const stateOf = (turn: number) => ({ type: 'response.metadata', headers: { 'x-codex-turn-state': `turn-of-${turn}` } })

    client.say(create)
    await client.hears('response.completed', 1)
    client.say({ ...create, stream_id: 's', client_metadata: { 'x-codex-turn-state': 'turn-of-1', other: 'o' } })
    await client.hears('response.completed', 2)
    client.say({ ...create, client_metadata: { 'x-codex-turn-state': 'two\r\nlines' } })
    await client.hears('response.completed', 3)
    expect(asked.map((headers) => headers['x-codex-turn-state'])).toEqual([undefined, 'turn-of-1', undefined])
    const types = ['response.metadata', 'response.completed']
    expect(client.heard.map(({ type }) => type)).toEqual([...types, ...types, ...types])
    expect(client.heard.filter(({ type }) => type === 'response.metadata')).toEqual([
      stateOf(1),
      { ...stateOf(2), stream_id: 's' },
      stateOf(3),
    ])

    // A channel of another protocol has no turn state.
    client.say({ ...create, model: 'gpt-4.1' })
    await client.hears('response.completed', 4)
    expect(client.heard.filter(({ type }) => type === 'response.metadata')).toHaveLength(3)
    client.socket.close(1000)
  })

  it('are limited to the list of the channel, in both directions', async () => {
    const { url, asked } = await upstream()
    const { ask } = await sharedStage(url, { setting: '{"passed_headers":["openai-project"]}' })
    const answer = await ask({ model, input: 'Hi' }, responsePath, { ...known, ...codex, ...account })
    expect(asked).toEqual([{ ...known, 'openai-project': 'proj-of-caller' }])
    expect(answer.headers.get('x-codex-turn-state')).toBeNull()
  })

  it.each([
    ['a host of any vendor', 8, '/v1/chat/completions', { ...known, 'idempotency-key': expect.stringMatching(/^[0-9a-f]{64}$/) }],
    ['a vendor that does not read them', 43, '', {}],
  ])('are passed on in the same format to %s, of type %i: %j', async (_host, type, path, passed) => {
    const { url, asked } = await upstream()
    const { ask } = await sharedStage(url + path, { type, models: model })
    expect((await ask(chat(), '/v1/chat/completions', { ...known, 'idempotency-key': 'k' })).status).toBe(200)
    expect(asked).toEqual([passed])
  })

  it('of a Messages caller are passed on to Anthropic', async () => {
    const { url, asked } = await upstream()
    const { ask } = await sharedStage(url, { type: 14, models: claude })
    const sent = { 'anthropic-workspace-id': 'wrkspc_1', 'anthropic-user-profile-id': 'up_1', 'x-client-request-id': 'c' }
    const body = { model: claude, max_tokens: 5, messages: [{ role: 'user', content: 'Hi' }] }
    expect((await ask(body, '/v1/messages', sent)).status).toBe(200)
    expect(asked).toEqual([{ ...sent, 'anthropic-version': '2023-06-01' }])
  })

  it.each([
    ['/v1/messages?beta=true', '/v1/messages?beta=true'],
    ['/v1/messages?beta=true&key=k', '/v1/messages?beta=true'],
    ['/v1/messages?beta=false', '/v1/messages'],
    ['/v1/messages', '/v1/messages'],
    ['/v1/messages/count_tokens?beta=true&key=k', '/v1/messages/count_tokens?beta=true'],
    ['/v1/messages/count_tokens?beta=false', '/v1/messages/count_tokens'],
    ['/v1/chat/completions?beta=true', '/v1/messages'],
  ])('[281] have the parameter of a beta beside them in a call of Messages: %s', async (path, arrived) => {
    const reply = path.includes('count_tokens')
      ? '{"input_tokens":3}'
      : messagesReply({ model: claude, text: 'Yes.', usage: [3, 1] }, false)
    const { url, heard } = await answeringUpstream(reply)
    const { ask } = await sharedStage(url, { type: 14, models: claude })
    const body = { model: claude, max_tokens: 5, messages: [{ role: 'user', content: 'Hi' }] }
    expect((await ask(body, path)).status).toBe(200)
    expect(heard.map((one) => one.path)).toEqual([arrived])
  })

  it('of a failed attempt, or of another protocol, are not returned', async () => {
    const first = await upstream({ failures: 9 })
    const second = await upstream()
    const { server, ask } = await stage('sqlite', first.url, { channel: { priority: 9 } })
    await addChannel(server, { url: `${second.url}/v1/chat/completions`, type: 8, models: model })
    await setOptions(server, { RetryTimes: 1 })
    const answer = await ask({ model, input: 'Hi' }, responsePath, codex)
    expect([answer.status, first.asked.length, second.asked.length]).toEqual([200, 1, 1])
    expect(answer.headers.get('x-codex-turn-state')).toBeNull()
    expect((await ask(chat())).headers.get('x-codex-turn-state')).toBeNull()
  })
})
