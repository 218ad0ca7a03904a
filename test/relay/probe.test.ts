import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Channel, ChannelKey } from '../../src/contract/entities/channel.ts'
import { openChannel } from '../../src/server/gateway/channels/index/model-index.ts'
import { probeKey } from '../../src/server/gateway/relay/models/probe.ts'
import { serverOfTest, startServer, type TestServer } from '../helpers/app.ts'
import { anyDatabase } from '../helpers/databases.ts'
import { addChannel, books, setOptions } from '../helpers/seed.ts'
import { upstreamOfTest } from '../helpers/upstream.ts'
import { answeringUpstream, httpUpstream } from './stage.ts'

const test = async (server: TestServer, id: number, model = '') => {
  const answer = await (await server.raw(`POST /api/channel/test/${id}?model=${model}`)).json()
  return answer as { success: boolean; message: string; code?: string; time?: number }
}
const channelOf = (server: TestServer, id: number) => server.call<Channel>(`GET /api/channel/${id}`)

/** An upstream that answers each path in its dialect, and records its requests. */
const everything = () =>
  answeringUpstream(({ path }) => {
    const lists =
      path.endsWith('/rerank') || path.endsWith('/moderations') ? { results: [] } : { data: [], choices: [], content: [] }
    return { json: { ...lists, usage: {} } }
  })

describe('the test of a channel', () => {
  let server: TestServer
  beforeAll(async () => {
    server = await startServer('sqlite')
  })
  afterAll(() => server.stop())

  it.each([
    ['text-embedding-3-small', '/v1/embeddings', { input: ['hello world'] }],
    ['bge-large-zh', '/v1/embeddings', {}],
    ['omni-moderation-latest', '/v1/moderations', { input: 'hello world' }],
    ['bge-reranker-v2', '/v1/rerank', { query: 'hello' }],
    ['gpt-4o-mini', '/v1/chat/completions', { max_tokens: 16 }],
    ['o3-mini', '/v1/chat/completions', { max_completion_tokens: 16 }],
    ['Qwen/Qwen3-Embedding-8B', '/v1/embeddings', {}],
    ['intfloat/e5-large-v2', '/v1/embeddings', {}],
    ['dall-e-2', '/v1/images/generations', { prompt: 'A red dot', size: '256x256' }],
    ['gpt-image-2', '/v1/images/generations', { quality: 'low' }],
    ['black-forest-labs/FLUX.1-schnell', '/v1/images/generations', {}],
    ['tts-1-hd', '/v1/audio/speech', { input: 'Hi', voice: 'alloy' }],
    ['FunAudioLLM/CosyVoice2-0.5B', '/v1/audio/speech', { voice: 'FunAudioLLM/CosyVoice2-0.5B:alex' }],
  ])('sends %s a request of its kind', async (model, path, body) => {
    const { url, heard: asked } = await everything()
    const id = await addChannel(server, { url, models: model })
    await test(server, id)
    expect(asked).toMatchObject([{ path, body: { ...body, model } }])
  })

  it.each(['whisper-1', 'gpt-4o-transcribe', 'FunAudioLLM/SenseVoiceSmall'])('sends %s a second of silence', async (model) => {
    const heard: { path: string; type: string; text: string }[] = []
    const url = await httpUpstream(async (request, response) => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk)
      const text = Buffer.concat(chunks).toString('latin1')
      heard.push({ path: request.url ?? '', type: String(request.headers['content-type']), text })
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"text":""}')
    })
    const id = await addChannel(server, { url, models: model })
    expect(await test(server, id)).toMatchObject({ success: true })
    expect(heard).toMatchObject([{ path: '/v1/audio/transcriptions', type: expect.stringContaining('multipart/form-data') }])
    expect(heard[0]?.text).toContain('filename="silence.wav"')
    expect(heard[0]?.text).toContain(model)
  })

  it('passes for speech that the upstream answers with a file', async () => {
    const url = await httpUpstream((request, response) => {
      request.resume()
      response.writeHead(200, { 'content-type': 'audio/mpeg' }).end('ID3-file')
    })
    const id = await addChannel(server, { url, models: 'tts-1' })
    expect(await test(server, id)).toMatchObject({ success: true })
  })

  it('makes an image in the job for all channels only if the channel names the model for its test', async () => {
    const { url, heard: asked } = await everything()
    const unnamed = await addChannel(server, { url, models: 'dall-e-3' })
    const named = await addChannel(server, { url, models: 'dall-e-3', test_model: 'dall-e-3' })
    for (const id of [unnamed, named]) {
      const [key] = (await openChannel(server.app, id)).keys
      await probeKey(server.app, key ?? expect.unreachable('it has a key'), '')
    }
    expect(asked.map(({ path }) => path)).toEqual(['/v1/images/generations'])
  })

  it.each(['sora-2', 'kling-v2', 'suno-v5', 'gpt-4o-realtime-preview', 'mj_imagine'])(
    'is not possible with %s, which does not count as a failure',
    async (model) => {
      const { url, heard: asked } = await everything()
      const id = await addChannel(server, { url, models: model })
      expect(await test(server, id)).toMatchObject({ success: false, code: 'channel_not_testable' })
      expect([asked, (await channelOf(server, id)).test_time]).toEqual([[], 0])
    },
  )

  it('uses the first model that can be tested, and none that is only a pattern', async () => {
    const upstream = await upstreamOfTest()
    const id = await addChannel(server, { url: upstream.url, models: 'dall-e-3,gpt-4*,o1*,gpt-4o-mini' })
    expect(await test(server, id)).toMatchObject({ success: true, time: expect.any(Number) })
    expect(upstream.journal.map(({ model }) => model)).toEqual(['gpt-4o-mini'])
    expect(await test(server, id, 'gpt-4-any')).toMatchObject({ success: true })
  })

  it('calls a provider of another dialect in that dialect, with the mapped model name', async () => {
    const upstream = await upstreamOfTest()
    const id = await addChannel(server, {
      url: upstream.url,
      type: 14,
      models: 'claude',
      model_mapping: '{"claude":"claude-3-5-haiku"}',
    })
    expect(await test(server, id)).toMatchObject({ success: true })
    expect(upstream.journal).toMatchObject([{ path: '/v1/messages', model: 'claude-3-5-haiku' }])
  })

  it('is free of charge and leaves no hold', async () => {
    const upstream = await upstreamOfTest()
    const id = await addChannel(server, { url: upstream.url, models: 'gpt-4o-mini' })
    await test(server, id)
    const { ledger, logs, holds, channels } = await books(server)
    expect([ledger.filter(({ kind }) => kind === 'charge'), logs, holds]).toEqual([[], [], []])
    expect(channels.find((channel) => channel.id === id)?.used_quota).toBe(0)
  })

  it('reports its failure, without the key, and stores the time of the test', async () => {
    const upstream = await upstreamOfTest()
    upstream.program('*', { echoKey: true })
    const id = await addChannel(server, { url: upstream.url, models: 'gpt-4o-mini', key: 'very-secret-key-1' })
    const answer = await test(server, id)
    expect(answer).toMatchObject({ success: false, code: 'channel_test_failed', message: expect.stringContaining('401') })
    expect(answer.message).not.toContain('very-secret')
    expect((await channelOf(server, id)).test_time).toBeGreaterThan(0)
    const body = { bytes: '<html>', contentType: 'text/html' }
    for (const program of [{ hangUp: true }, body, { body: {} }, { errorIn200: true }]) {
      upstream.program('*', program)
      expect(await test(server, id)).toMatchObject({ success: false, code: 'channel_test_failed' })
    }
  })
})

anyDatabase('a test that passes', (_fresh, kind) => {
  it('enables automatically disabled channels, if the options say so', async () => {
    const server = await serverOfTest(kind)
    const upstream = await upstreamOfTest()
    const id = await addChannel(server, { url: upstream.url, models: 'gpt-4o-mini' })
    const disable = async (status: number) => {
      const info = { status_reason: 'no balance', status_time: 1 }
      await server.app.db
        .updateTable('channels')
        .set({ status, other_info: JSON.stringify(info) })
        .where('id', '=', id)
        .execute()
      await server.app.db
        .updateTable('channel_keys')
        .set({ status, ...info })
        .where('channel_id', '=', id)
        .execute()
      await server.app.channels.refresh()
    }
    await disable(3)
    expect(await test(server, id)).toMatchObject({ success: true })
    expect((await channelOf(server, id)).status).toBe(3)

    await setOptions(server, { AutomaticEnableChannelEnabled: true })
    expect(await test(server, id)).toMatchObject({ success: true })
    expect(await channelOf(server, id)).toMatchObject({ status: 1, other_info: '', keys_enabled: 1 })
    expect(await server.call<ChannelKey[]>(`GET /api/channel/${id}/keys`)).toMatchObject([{ status: 1, status_reason: '' }])
    expect(server.app.channels.current.byId.has(id)).toBe(true)
    const audit = await server.app.db.selectFrom('audit').selectAll().where('action', '=', 'channel.auto-enable').execute()
    expect(audit).toMatchObject([{ actor_name: 'system', target: `channel:${id}` }])

    await disable(2)
    expect(await test(server, id)).toMatchObject({ success: true })
    expect((await channelOf(server, id)).status).toBe(2)
  })
})
