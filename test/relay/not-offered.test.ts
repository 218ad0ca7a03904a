import { readdirSync, readFileSync } from 'node:fs'
import Anthropic from '@anthropic-ai/sdk'
import { GoogleGenAI } from '@google/genai'
import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findEndpoint } from '../../src/server/gateway/relay/http/endpoints.ts'
import { startServer, type TestServer } from '../helpers/app.ts'
import { addChannel, addToken } from '../helpers/seed.ts'
import { caller } from './realtime-stage.ts'
import { ask, claude } from './stage.ts'

let server: TestServer
let key: string
beforeAll(async () => {
  server = await startServer('sqlite')
  key = (await addToken(server)).key
})
afterAll(() => server.stop())

/** Every call in the sources of an SDK; parameters in the path are `x`. */
function addressesOf(sdk: string): { method: string; path: string }[] {
  const folder = new URL(`../../node_modules/${sdk}/resources/`, import.meta.url)
  const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.mjs'))
  return sources.flatMap((name) =>
    [...readFileSync(new URL(name, folder), 'utf8').matchAll(sdkCall)].map(([, verb = '', path = '']) => ({
      method: verb === 'getAPIList' ? 'GET' : verb.toUpperCase(),
      path: (sdk === 'openai' ? `/v1${path}` : path).replace(/\$\{.*?\}/g, 'x').replace(/\?.*$/, ''),
    })),
  )
}

const sdkCall = /_client\.(get|post|put|patch|delete|getAPIList)\(\s*(?:path\s*)?[`'](\/[^`']+)[`']/g

/** The paths in the source of Google's SDK below its version; parameters are `x`. Those that begin with a name are of models. */
function googlePaths(): string[] {
  const source = readFileSync(new URL('../../node_modules/@google/genai/dist/node/index.mjs', import.meta.url), 'utf8')
  const found = [...source.matchAll(/(?:pathToFunc\("|formatMap\(')([^"']+)["']/g)].map(([, path = '']) => path)
  return [...new Set(found)].flatMap((path) => {
    const named = path.replace(/^\/?(upload\/)?\{api_version\}\//, '/$1v1beta/').replace(/^\{model\}/, 'models/x')
    if (named.startsWith('{')) return []
    return (named.startsWith('/') ? named : `/v1beta/${named}`).replace(/\{\w+\}/g, 'x').replace(/\?.*$/, '')
  })
}

describe("endpoints that are not offered answer 501 in the vendor's form", () => {
  const openai = () => new OpenAI({ apiKey: key, baseURL: `${server.url}/v1`, maxRetries: 0 })
  const anthropic = () => new Anthropic({ apiKey: key, baseURL: server.url, maxRetries: 0 })
  const google = () => new GoogleGenAI({ apiKey: key, httpOptions: { baseUrl: server.url, retryOptions: { attempts: 1 } } })

  it.each<[string, () => PromiseLike<unknown>]>([
    ['conversations.create', () => openai().conversations.create()],
    ['vectorStores.list', () => openai().vectorStores.list()],
    ['stored completions', () => openai().chat.completions.retrieve('chatcmpl-1')],
    ['the list of stored completions', () => openai().chat.completions.list()],
    ['models.delete', () => openai().models.delete('ft:gpt-4o-mini:a')],
    ['skills.list', () => openai().skills.list()],
    ['live sessions', () => openai().post('/live/sessions', { body: {} })],
    ['voices', () => openai().post('/audio/voices', { body: {} })],
    ['webhook endpoints', () => openai().get('/webhook_endpoints')],
  ])('OpenAI: %s', async (_name, call) => {
    const error = await Promise.resolve(call()).catch((error: unknown) => error)
    expect(error).toBeInstanceOf(OpenAI.APIError)
    expect(error).toMatchObject({ status: 501, code: 'not_implemented', error: { type: expect.any(String), param: null } })
  })

  it.each<[string, () => PromiseLike<unknown>]>([
    ['skills.list', () => anthropic().beta.skills.list()],
    ['environments', () => anthropic().get('/v1/environments')],
    ['agents', () => anthropic().get('/v1/agents')],
  ])('Anthropic: %s', async (_name, call) => {
    const error = await Promise.resolve(call()).catch((error: unknown) => error)
    expect(error).toBeInstanceOf(Anthropic.APIError)
    expect(error).toMatchObject({ status: 501, error: { type: 'error', error: { type: 'api_error' } } })
  })

  it.each<[string, () => PromiseLike<unknown>]>([
    ['caches.list', () => google().caches.list()],
    ['authTokens.create', () => google().authTokens.create({})],
    ['models.delete', () => google().models.delete({ model: 'tunedModels/a' })],
  ])('Gemini: %s', async (_name, call) => {
    const error = await Promise.resolve(call()).catch((error: unknown) => error)
    expect(error).toMatchObject({ status: 501 })
    expect(JSON.parse((error as Error).message)).toMatchObject({ error: { code: 501, status: 'UNIMPLEMENTED' } })
  })

  it.each([
    '/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent',
    '/ws/google.ai.generativelanguage.v1alpha.GenerativeService.BidiGenerateContentConstrained',
    '/ws/google.cloud.aiplatform.v1beta1.LlmBidiService/BidiGenerateContent',
  ])("Gemini's Live socket %s", async (path) => {
    const { status, body } = await caller(server.url, key, { path }).refused()
    expect([status, JSON.parse(body).error]).toEqual([501, expect.objectContaining({ code: 501, status: 'UNIMPLEMENTED' })])
  })

  it('a header tells clients not to retry', async () => {
    const dialects: Record<string, string>[] = [{}, { 'anthropic-version': '2023-06-01' }, { 'x-goog-api-key': key }]
    for (const headers of dialects) {
      const answer = await ask(server, key, {}, '/v1/skills', headers)
      expect([answer.status, answer.headers.get('x-should-retry')]).toEqual([501, 'false'])
    }
  })

  it.each(['openai', '@anthropic-ai/sdk'])('every path of the SDK %s is answered, or refused as not offered', (sdk) => {
    const addresses = addressesOf(sdk)
    expect(addresses.length).toBeGreaterThan(100)
    const headers = sdk === 'openai' ? {} : { 'anthropic-version': '2023-06-01' }
    const unknown = addresses.filter(({ method, path }) => {
      const found = findEndpoint(method, path, headers)
      return 'kind' in found && found.kind === 'unknown'
    })
    expect(unknown).toEqual([])
  })

  it('every path of the SDK @google/genai is answered, or refused as not offered, under both versions', () => {
    const paths = googlePaths()
    expect(paths.length).toBeGreaterThan(20)
    const unknown = ['GET', 'POST', 'PATCH', 'DELETE'].flatMap((method) =>
      [...paths, ...paths.map((path) => path.replace('/v1beta/', '/v1/'))].filter((path) => {
        const found = findEndpoint(method, path, { 'x-goog-api-key': 'k' })
        return 'kind' in found && found.kind === 'unknown'
      }),
    )
    expect(unknown).toEqual([])
  })

  it.each<[string, Record<string, string>, object]>([
    ['OpenAI', {}, { error: { code: 'not_implemented', message: expect.any(String), type: expect.any(String), param: null } }],
    [
      'Anthropic',
      { 'anthropic-version': '2026-10-21' },
      { type: 'error', error: { type: 'api_error', message: expect.any(String) }, request_id: expect.any(String) },
    ],
    ['Google', { 'x-goog-api-key': 'k' }, { error: expect.objectContaining({ code: 501, status: 'UNIMPLEMENTED' }) }],
  ])('[300] the newest roots answer 501 in the dialect of %s', async (_vendor, headers, body) => {
    const paths = ['compliance/review/policies', 'compliance/review/x/decisions', 'safety/cases/case_1', 'webhooks', 'voices/x']
    for (const path of paths) {
      const { status, text } = await ask(server, key, {}, `/v1/${path}`, headers)
      expect([path, status, JSON.parse(text)]).toEqual([path, 501, body])
    }
  })

  it('paths of no vendor are unknown routes, even when they resemble endpoints that are not offered', async () => {
    for (const path of ['/v1/filesystem', '/v1/nonsense', '/v1/completely', '/upload/nonsense']) {
      const answer = await ask(server, key, {}, path)
      expect([path, answer.status]).toEqual([path, 404])
    }
  })
})

describe('a misspelled path', () => {
  const send = async (method: string, path: string, headers: Record<string, string> = {}) => {
    const response = await fetch(server.url + path, { method, headers: { authorization: `Bearer ${key}`, ...headers } })
    return { status: response.status, type: response.headers.get('content-type'), json: await response.json() }
  }

  it.each([
    ['POST', '/chat/completions', '/v1/chat/completions'],
    ['POST', '/completions', '/v1/completions'],
    ['POST', '/embeddings', '/v1/embeddings'],
    ['POST', '/responses', '/v1/responses'],
    ['GET', '/responses/resp_1', '/v1/responses/resp_1'],
    ['GET', '/models', '/v1/models'],
    ['GET', '/models/gpt-4o', '/v1/models/gpt-4o'],
    ['GET', '/chat/completions?a=b', '/v1/chat/completions'],
    ['POST', '/v1/chat/completions/chat/completions', '/v1/chat/completions'],
    ['POST', '/v1/chat/completions/v1/chat/completions', '/v1/chat/completions'],
  ])("%s %s is refused in OpenAI's form, with the intended path", async (method, path, meant) => {
    const { status, type, json } = await send(method, path)
    expect([status, type]).toEqual([404, expect.stringContaining('application/json')])
    const message = `Invalid URL (${method} ${path.split('?')[0]}); did you mean ${meant}? (request id: `
    expect(json).toEqual({
      error: { message: expect.stringContaining(message), type: 'invalid_request_error', param: null, code: 'route_misspelled' },
    })
  })

  it.each([
    ['/messages', '/v1/messages'],
    ['/messages/count_tokens', '/v1/messages/count_tokens'],
    ['/v1/messages/v1/messages', '/v1/messages'],
  ])('%s is refused in the form of Anthropic, with the intended path', async (path, meant) => {
    const { status, json } = await send('POST', path)
    const error = { type: 'not_found_error', message: expect.stringContaining(`did you mean ${meant}?`) }
    expect([status, json]).toEqual([404, { type: 'error', error, request_id: expect.any(String) }])
  })

  it('/models/{model}:generateContent is refused in the form of Google, and the list of models in the dialect of the caller’s headers', async () => {
    const path = '/models/gemini-2.5-flash:generateContent'
    const { status, json } = await send('POST', path)
    const error = { code: 404, status: 'NOT_FOUND', message: expect.stringContaining(`did you mean /v1beta${path}?`) }
    expect([status, json]).toEqual([404, { error }])
    expect((await send('GET', '/models', { 'anthropic-version': '2023-06-01' })).json).toMatchObject({ type: 'error' })
  })

  it('a model may have the name of an endpoint', () => {
    expect(findEndpoint('GET', '/v1/models/embeddings', {})).toMatchObject({ kind: 'model', model: 'embeddings' })
  })
})

it("a request that no channel of the model supports is the caller's error, not an outage", async () => {
  await addChannel(server, { url: 'http://127.0.0.1:9', type: 14, models: claude })
  const answers = [
    await ask(server, key, { model: claude, input: 'hi' }, '/v1/responses/compact'),
    await ask(server, key, { model: claude, input: 'hi' }, '/v1/embeddings'),
  ]
  for (const { status, text } of answers)
    expect([status, JSON.parse(text).error]).toEqual([400, expect.objectContaining({ code: 'dialect_unavailable' })])
})

it('a stored prompt without a model is refused with that reason', async () => {
  const { status, text } = await ask(server, key, { prompt: { id: 'pmpt_1' } }, '/v1/responses')
  expect([status, JSON.parse(text).error]).toEqual([
    400,
    expect.objectContaining({ code: 'model_beside_prompt', param: 'model', message: expect.stringContaining('beside prompt') }),
  ])
})
