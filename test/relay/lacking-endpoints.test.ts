import { describe, expect, it } from 'vitest'
import type { Channel } from '../../src/contract/entities/channel.ts'
import { expireMissingEndpoints } from '../../src/server/gateway/channels/row/missing-endpoints.ts'
import { serverOfTest, type TestServer } from '../helpers/app.ts'
import { addChannel, addToken, requireBalancedBooks, setOptions } from '../helpers/seed.ts'
import { sharedStages } from './shared-stage.ts'
import {
  answeringUpstream,
  ask as askAt,
  completion,
  event,
  eventually,
  httpUpstream,
  model,
  piece,
  settledCharges,
  stage,
} from './stage.ts'

const sharedStage = sharedStages()

/** Upstreams that lack endpoints which the type of their channel has. */

const embedding = 'text-embedding-3-small'

/** A host with only Chat; the test sets its reply for other paths. */
async function chatHost(missing: { status: number; type?: string; text: (path: string) => string }) {
  const asked: string[] = []
  const state = { missing }
  const { url } = await answeringUpstream(({ path, body }) => {
    asked.push(path)
    if (path.endsWith('/chat/completions'))
      return body.stream ? piece('four five six') + piece('', 'stop') + event('[DONE]') : completion()
    const { status, type = 'text/html', text } = state.missing
    return { status, type, bytes: text(path) }
  })
  return { url, asked, state }
}

const html = { status: 404, text: () => '<html><body>404 Not Found</body></html>' }
const responses = '/v1/responses'
const question = { model, input: 'one two three' }

async function shown(server: TestServer, id: number): Promise<Channel> {
  return server.call<Channel>(`GET /api/channel/${id}`)
}

async function learnt(server: TestServer, id: number) {
  await eventually('it is learnt', async () => (await shown(server, id)).lacking.length > 0)
}

describe('an endpoint that the upstream of a channel lacks', () => {
  it.each<[string, Parameters<typeof chatHost>[0]]>([
    ['a page of HTML', html],
    ['nothing', { status: 404, text: () => '' }],
    ['405 with nothing', { status: 405, text: () => '' }],
    [
      '501 with the path',
      { status: 501, type: 'application/json', text: (path) => `{"error":{"message":"No route for ${path}"}}` },
    ],
    ['the path', { status: 404, type: 'application/json', text: (path) => `{"error":{"message":"Invalid URL (POST ${path})"}}` }],
    ['an empty object', { status: 404, type: 'application/json', text: () => '{}' }],
    ['the message of a proxy', { status: 404, text: () => '{"message":"no Route matched with those values"}' }],
    ['a problem document', { status: 404, text: () => '{"type":"about:blank","title":"Not Found","status":404}' }],
    ['501 in words', { status: 501, text: () => '{"error":{"message":"Responses are not offered yet"}}' }],
    ['the words of a framework', { status: 404, type: 'application/json', text: () => '{"detail":"Not Found"}' }],
  ])(
    'answered with %s, is translated, recorded as missing after two in a row, and shown with its date',
    async (_name, missing) => {
      const host = await chatHost(missing)
      const { server, ask, channelId } = await sharedStage(host.url)
      const answers = []
      for (let time = 0; time < 2; time++) answers.push(await ask(question, responses))
      await learnt(server, channelId)
      answers.push(await ask({ ...question, stream: true }, responses))
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
      expect(JSON.parse(answers[0]?.text ?? '').output[0].content[0].text).toBe('four five six')
      expect(answers[2]?.text).toContain('event: response.completed')
      const chat = '/v1/chat/completions'
      expect(host.asked).toEqual([responses, chat, responses, chat, chat])
      const now = Date.now() / 1000
      const { lacking } = await shown(server, channelId)
      expect(lacking).toEqual([{ endpoint: 'responses', since: expect.any(Number) }])
      expect(Math.abs((lacking[0]?.since ?? 0) - now)).toBeLessThan(60)
      expect(await settledCharges(server)).toHaveLength(3)
      await requireBalancedBooks(server)
    },
  )

  it.each<[string, Parameters<typeof chatHost>[0]]>([
    [
      'names a model',
      { status: 404, type: 'application/json', text: (path) => `{"error":{"message":"${path}: no model ${model}"}}` },
    ],
    ['names nothing', { status: 404, type: 'application/json', text: () => '{"error":{"message":"The resource is gone"}}' }],
    ['is another status', { status: 400, text: () => '<html></html>' }],
  ])('is not treated as missing after an answer that %s', async (_name, missing) => {
    const host = await chatHost(missing)
    const { server, ask, channelId } = await sharedStage(host.url, { auto_ban: 0 })
    for (let time = 0; time < 3; time++) expect((await ask(question, responses)).status).toBeGreaterThanOrEqual(400)
    expect(new Set(host.asked)).toEqual(new Set([responses]))
    expect((await shown(server, channelId)).lacking).toEqual([])
  })

  it('is not recorded as missing after two such answers that are not in a row', async () => {
    const host = await chatHost(html)
    const { server, ask, channelId } = await sharedStage(host.url, { auto_ban: 0 })
    await ask(question, responses)
    host.state.missing = { status: 400, type: 'application/json', text: () => '{"error":{"message":"no"}}' }
    await ask(question, responses)
    host.state.missing = html
    await ask(question, responses)
    expect(host.asked.filter((path) => path === responses)).toHaveLength(3)
    expect((await shown(server, channelId)).lacking).toEqual([])
  })

  it('is forgotten when the channel changes, and after a day', async () => {
    const host = await chatHost(html)
    const { server, ask, channelId } = await sharedStage(host.url)
    for (let time = 0; time < 2; time++) await ask(question, responses)
    await learnt(server, channelId)
    await server.call('PUT /api/channel/', { id: channelId, name: 'another name' })
    expect((await shown(server, channelId)).lacking).toEqual([])
    host.asked.length = 0
    for (let time = 0; time < 2; time++) await ask(question, responses)
    expect(host.asked[0]).toBe(responses)
    await learnt(server, channelId)

    const dayAgo = JSON.stringify({ responses: Math.floor(Date.now() / 1000) - 24 * 3600 })
    await server.app.db.updateTable('channels').set({ lacking: dayAgo }).where('id', '=', channelId).execute()
    expect(await expireMissingEndpoints(server.app)).toBe(1)
    await server.app.channels.refresh()
    expect((await shown(server, channelId)).lacking).toEqual([])
    host.asked.length = 0
    await ask(question, responses)
    expect(host.asked[0]).toBe(responses)
  })

  it('can be set by an admin, and is then never called', async () => {
    const host = await chatHost(html)
    const setting = JSON.stringify({ lacks_endpoints: ['responses', 'completions'] })
    const { ask } = await sharedStage(host.url, { setting })
    expect((await ask(question, responses)).status).toBe(200)
    expect((await ask({ model, prompt: 'one two' }, '/v1/completions')).status).toBe(200)
    expect(new Set(host.asked)).toEqual(new Set(['/v1/chat/completions']))
  })

  it('cannot be translated for embeddings: without another channel it is refused by name, and so is compact', async () => {
    const host = await chatHost(html)
    const { server, ask, channelId } = await sharedStage(host.url, { models: `${model},${embedding}`, auto_ban: 0 })
    const body = { model: embedding, input: 'one' }
    for (let time = 0; time < 2; time++) expect((await ask(body, '/v1/embeddings')).status).toBe(400)
    await learnt(server, channelId)
    const asked = host.asked.length
    const { status, text } = await ask(body, '/v1/embeddings')
    expect([status, JSON.parse(text).error.message]).toEqual([400, expect.stringContaining('offers embeddings')])
    expect(host.asked).toHaveLength(asked)

    for (let time = 0; time < 3; time++) {
      const compact = await ask(question, '/v1/responses/compact')
      expect([compact.status, JSON.parse(compact.text).error.message]).toEqual([400, expect.stringContaining('offers compact')])
    }
    expect((await shown(server, channelId)).lacking.map(({ endpoint }) => endpoint)).toEqual(['embeddings'])
  })

  it('is requested from the next channel, which has it', async () => {
    const host = await chatHost(html)
    const { server, ask } = await stage('sqlite', host.url, { channel: { models: embedding, priority: 9, auto_ban: 0 } })
    const vectors = { object: 'list', model: embedding, data: [{ object: 'embedding', index: 0, embedding: [1] }], usage: {} }
    const other = await httpUpstream((request, response) => {
      request.resume()
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(vectors))
    })
    await addChannel(server, { url: other, models: embedding })
    await setOptions(server, { RetryTimes: 1 })
    for (let time = 0; time < 3; time++)
      expect((await ask({ model: embedding, input: 'one' }, '/v1/embeddings')).status).toBe(200)
  })
})

describe('a custom channel whose base URL is that of Chat', () => {
  it('gets chat bodies only: completions are translated, embeddings refused by name', async () => {
    const host = await chatHost(html)
    const server = await serverOfTest('sqlite')
    await addChannel(server, { type: 8, url: `${host.url}/api/chat/completions`, models: `${model},${embedding}` })
    const { key } = await addToken(server)
    const chat = await askAt(server, key, { model, messages: [{ role: 'user', content: 'one' }] })
    const legacy = await askAt(server, key, { model, prompt: 'one two' }, '/v1/completions')
    expect([chat.status, legacy.status]).toEqual([200, 200])
    expect(JSON.parse(legacy.text)).toMatchObject({ object: 'text_completion', choices: [{ text: 'four five six' }] })
    const { status, text } = await askAt(server, key, { model: embedding, input: 'one' }, '/v1/embeddings')
    expect([status, JSON.parse(text).error.message]).toEqual([400, expect.stringContaining('offers embeddings')])
    expect(host.asked).toEqual(['/api/chat/completions', '/api/chat/completions'])
  })
})
