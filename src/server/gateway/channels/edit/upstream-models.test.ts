import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { beforeAll, beforeEach, expect, it } from 'vitest'
import { testCore } from '../../../../../test/helpers/core.ts'
import { anyDatabase } from '../../../../../test/helpers/databases.ts'
import { channelInput } from '../../../../contract/entities/channel.ts'
import { UpstreamAgents } from '../../../base/lib/net/http-client.ts'
import type { Caller, Core } from '../../../base/options/core.ts'
import { addChannels } from './channels.ts'
import { listModelsOfChannel, listModelsOfForm } from './upstream-models.ts'

const caller: Caller = { id: 1, username: 'root', role: 100, group: 'default', address: '' }

anyDatabase('the models of an upstream', (fresh) => {
  let parts: Core & { upstream: UpstreamAgents }
  let url = ''
  let answer: { status: number; body: string; location?: string } = { status: 200, body: '' }
  let heard: { path: string | undefined; headers: Record<string, unknown> }[] = []

  beforeAll(async () => {
    const test = await fresh()
    const database = await test.open()
    const server = createServer((request, response) => {
      heard.push({ path: request.url, headers: request.headers })
      response.writeHead(answer.status, answer.location ? { location: answer.location } : {}).end(answer.body)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    // A server that listens on a port has an address of this form.
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const upstream = new UpstreamAgents()
    parts = { ...(await testCore(database)), upstream }
    return async () => {
      await upstream.close()
      await new Promise((resolve) => server.close(resolve))
      await database.close()
      await test.drop()
    }
  })
  beforeEach(() => {
    heard = []
    answer = { status: 200, body: '{"object":"list","data":[{"id":"b"},{"id":"a"},{"id":"b"},{"name":"x"},null]}' }
  })

  const save = async (given: object = {}) => {
    const input = channelInput.parse({ type: 1, name: 'one', key: 'stored-key', models: 'm', base_url: url, ...given })
    return (await addChannels(parts, { caller, input }))[0] ?? 0
  }
  const form = (given: object = {}) => listModelsOfForm(parts, { type: 1, base_url: url, key: 'typed-key\nsecond', ...given })
  const code = (expected: string) => expect.objectContaining({ code: expected })

  it('are requested with the stored key at the stored base URL', async () => {
    expect(await listModelsOfChannel(parts, { id: await save({ base_url: `${url}/v1` }) })).toEqual(['b', 'a'])
    expect(heard).toMatchObject([{ path: '/v1/models', headers: { authorization: 'Bearer stored-key' } }])
  })

  it('are read as Google lists them, by their names without the collection', async () => {
    answer = {
      status: 200,
      body: '{"models":[{"name":"models/gemini-a"},{"name":"tunedModels/b"},{"id":"x"}],"nextPageToken":""}',
    }
    expect(await listModelsOfChannel(parts, { id: await save({ type: 24 }) })).toEqual(['gemini-a', 'tunedModels/b'])
    expect(heard).toMatchObject([{ path: '/v1beta/models?pageSize=1000', headers: { 'x-goog-api-key': 'stored-key' } }])
  })

  it('are requested in the dialect of the vendor', async () => {
    await listModelsOfChannel(parts, { id: await save({ type: 14 }) })
    expect(heard).toMatchObject([
      { path: '/v1/models', headers: { 'x-api-key': 'stored-key', 'anthropic-version': '2023-06-01' } },
    ])
  })

  it('[T201] of a form are requested with the first typed key, never with a stored one', async () => {
    await save()
    expect(await form()).toEqual(['b', 'a'])
    await form({ key: '' })
    expect(heard.map(({ headers }) => headers.authorization)).toEqual(['Bearer typed-key', undefined])
  })

  it('are read from a bare array too', async () => {
    answer = { status: 200, body: '[{"id":"only"}]' }
    expect(await form()).toEqual(['only'])
  })

  it.each([
    ['a refusal', { status: 401, body: '{"error":{"message":"bad key typed-key"}}' }],
    ['a redirect, which is not followed', { status: 302, body: '', location: 'http://127.0.0.1:1/' }],
    ['no JSON', { status: 200, body: '<html>' }],
    ['another form', { status: 200, body: '{"items":[]}' }],
    ['too much', { status: 200, body: ' '.repeat(5 * 1024 * 1024) }],
  ])('fail with a reason and without the key on %s', async (_what, told) => {
    answer = told
    const failure = await form().catch((error: Error) => error)
    expect(failure).toEqual(code('channel_list_failed'))
    expect(String(failure)).not.toContain('typed-key')
    expect(heard).toHaveLength(1)
  })

  it('fail when nothing listens', async () => {
    await expect(form({ base_url: 'http://127.0.0.1:1' })).rejects.toEqual(code('channel_list_failed'))
  })

  it.each([
    ['channel_list_unsupported', { type: 3 }],
    ['channel_list_unsupported', { type: 2 }],
    ['channel_type_unknown', { type: 28 }],
    ['channel_url_required', { type: 8, base_url: '' }],
    ['channel_url_invalid', { base_url: 'file:///etc/passwd' }],
    ['channel_url_invalid', { base_url: 'http://169.254.169.254' }],
  ])('are refused with %s: %o', async (expected, given) => {
    await expect(form(given)).rejects.toEqual(code(expected))
    expect(heard).toEqual([])
  })

  it('of a channel that does not exist are not found', async () => {
    await expect(listModelsOfChannel(parts, { id: 0x7fffffff })).rejects.toEqual(code('not_found'))
  })
})
