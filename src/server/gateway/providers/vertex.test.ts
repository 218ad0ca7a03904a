import { generateKeyPairSync, verify } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { isObject } from '../protocols/wire-format.ts'
import type { Upstream } from './provider.ts'
import { vertex } from './vertex.ts'

const gemini = 'gemini.generate'
const messages = 'anthropic.messages'
const chat = 'openai.chat'
const nowMs = Date.UTC(2026, 10, 20, 12, 0, 0, 900)

const pair = generateKeyPairSync('rsa', { modulusLength: 2048 })
const account = {
  type: 'service_account',
  project_id: 'my-project',
  private_key_id: 'key-1',
  private_key: pair.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  client_email: 'sluice@my-project.iam.gserviceaccount.com',
  token_uri: 'https://evil.example/token',
}
const apiKey = `AIza${'x'.repeat(35)}`

const channel = (more: Partial<Upstream> = {}): Upstream => ({
  id: 1,
  type: 41,
  key: JSON.stringify(account),
  baseUrl: '',
  organization: '',
  other: 'us-central1',
  setting: {},
  ...more,
})

describe('the address of a call to Vertex', () => {
  const at = 'https://us-central1-aiplatform.googleapis.com/v1/projects/my-project/locations/us-central1'
  const url = vertex.url

  it('names publisher and method by model and format', () => {
    expect(url(channel(), gemini, 'gemini-2.0-flash', false)).toBe(
      `${at}/publishers/google/models/gemini-2.0-flash:generateContent`,
    )
    expect(url(channel(), gemini, 'google/gemini-2.0-flash', true)).toBe(
      `${at}/publishers/google/models/gemini-2.0-flash:streamGenerateContent?alt=sse`,
    )
    expect(url(channel(), messages, 'claude-opus-4-6', false)).toBe(
      `${at}/publishers/anthropic/models/claude-opus-4-6:rawPredict`,
    )
    expect(url(channel(), messages, 'claude-opus-4-6', true)).toBe(
      `${at}/publishers/anthropic/models/claude-opus-4-6:streamRawPredict`,
    )
    expect(url(channel(), chat, 'meta/llama3-405b-instruct-maas', true)).toBe(`${at}/endpoints/openapi/chat/completions`)
  })

  it.each([
    ['claude-3-sonnet-20240229', 'claude-3-sonnet@20240229'],
    ['claude-3-5-sonnet-20240620', 'claude-3-5-sonnet@20240620'],
    ['claude-3-5-sonnet-20241022', 'claude-3-5-sonnet-v2@20241022'],
    ['claude-3-7-sonnet-20250219-thinking', 'claude-3-7-sonnet@20250219'],
    ['claude-haiku-4-5@20251001', 'claude-haiku-4-5@20251001'],
    ['anthropic/claude-sonnet-4-6', 'claude-sonnet-4-6'],
    ['claude-2.1', 'claude-2.1'],
  ])('contains %s as %s', (model, id) => {
    expect(url(channel(), messages, model, false)).toBe(`${at}/publishers/anthropic/models/${id}:rawPredict`)
  })

  it.each([
    ['', 'aiplatform.googleapis.com/v1/projects/my-project/locations/global/'],
    ['global', 'aiplatform.googleapis.com/v1/projects/my-project/locations/global/'],
    ['eu', 'aiplatform.eu.rep.googleapis.com/v1/projects/my-project/locations/eu/'],
    ['us', 'aiplatform.us.rep.googleapis.com/v1/projects/my-project/locations/us/'],
    ['europe-west4', 'europe-west4-aiplatform.googleapis.com/v1/projects/my-project/locations/europe-west4/'],
    ['{"default":"asia-east1"}', 'asia-east1-aiplatform.googleapis.com/v1/projects/my-project/locations/asia-east1/'],
    ['{"gemini-x":"us-east5","default":"eu"}', 'us-east5-aiplatform.googleapis.com/v1/projects/my-project/locations/us-east5/'],
    ['{"other":"us-east5"}', 'aiplatform.googleapis.com/v1/projects/my-project/locations/global/'],
  ])('is in the region of %j', (other, start) => {
    expect(url(channel({ other }), gemini, 'gemini-x', false)).toContain(`https://${start}`)
  })

  it('has the region of a Claude model, under either spelling of its name', () => {
    const other = '{"claude-3-opus-20240229":"us-east5"}'
    expect(url(channel({ other }), messages, 'claude-3-opus-20240229', false)).toContain('//us-east5-')
    expect(url(channel({ other: '{"claude-3-opus@20240229":"us-east5"}' }), messages, 'claude-3-opus-20240229', false)).toContain(
      '//us-east5-',
    )
  })

  it('of interactions is under the project, which an API key does not have', () => {
    expect(url(channel(), 'gemini.interactions', 'gemini-3.8-flash', true)).toBe(
      `${at.replace('/v1/', '/v1beta1/')}/interactions`,
    )
    expect(vertex.forChannel?.(channel())?.speaks).toHaveProperty(['gemini.interactions'])
    const express = vertex.forChannel?.(channel({ key: apiKey }))?.speaks
    expect(express).not.toHaveProperty(['gemini.interactions'])
    expect(express).toHaveProperty([gemini])
    expect(vertex.speaksWith?.('gemini.interactions', 'claude-opus-4-6')).toBe(false)
  })

  it('has no project with an API key, which can only call Google’s models', () => {
    const express = channel({ key: apiKey })
    expect(url(express, gemini, 'gemini-x', false)).toBe(
      'https://aiplatform.googleapis.com/v1/publishers/google/models/gemini-x:generateContent',
    )
    expect(() => url(express, messages, 'claude-opus-4-6', false)).toThrow(expect.objectContaining({ code: 'upstream_failed' }))
  })

  it("begins with the channel's base URL", () => {
    expect(url(channel({ baseUrl: 'https://gateway.example/vertex' }), gemini, 'gemini-x', false)).toBe(
      'https://gateway.example/vertex/v1/projects/my-project/locations/us-central1/publishers/google/models/gemini-x:generateContent',
    )
  })

  it.each(['{', '["us"]'])('is refused for the regions %j when they are saved', (other) => {
    const code = other === '{' ? 'json_text_invalid' : 'field_invalid'
    expect(() => vertex.checkOther?.(other)).toThrow(expect.objectContaining({ code }))
  })

  it.each(['evil.example/', '{"default":"a/b"}', '{"default":1}', 'us central'])('is refused for the region %j', (other) => {
    expect(() => vertex.checkOther?.(other)).toThrow(expect.objectContaining({ code: 'field_invalid' }))
    expect(() => url(channel({ other }), gemini, 'gemini-x', false)).toThrow()
  })
})

describe('the formats on Vertex', () => {
  it.each([
    ['gemini-2.0-flash', gemini],
    ['google/gemini-2.0-flash', gemini],
    ['publishers/google/models/gemini-2.0-flash', gemini],
    ['claude-3-opus-20240229', messages],
    ['anthropic/claude-sonnet-4-6', messages],
    ['meta/llama3-405b-instruct-maas', chat],
    ['mistralai/mistral-large-2411', chat],
  ])('of %s are only %s', (model, format) => {
    const spoken = ([gemini, messages, chat] as const).filter((one) => vertex.speaksWith?.(one, model))
    expect(spoken).toEqual([format])
  })
})

describe('Messages by rawPredict', () => {
  it('have their version and betas in the body, and no model', () => {
    const body = { model: 'claude-opus-4-6', stream: true, messages: [], max_tokens: 1, unheard_of: 1 }
    const adjusted = vertex.adjustBody?.(body, messages, 'claude-opus-4-6', { 'anthropic-beta': 'context-1m-2025-08-07' })
    expect({ ...body, ...adjusted }).toEqual({
      stream: true,
      messages: [],
      max_tokens: 1,
      unheard_of: 1,
      anthropic_version: 'vertex-2023-10-16',
      anthropic_beta: ['context-1m-2025-08-07'],
    })
    expect(vertex.adjustBody?.({ contents: [] }, gemini, 'gemini-x')).toEqual({})
  })

  it.each([
    ['2026-10-21', '2026-10-21'],
    ['2023-06-01', 'vertex-2023-10-16'],
    [undefined, 'vertex-2023-10-16'],
  ])('[127] have, asked for under %s, the version %s', (asked, version) => {
    const caller = { 'anthropic-version': asked }
    expect(vertex.adjustBody?.({}, messages, 'claude-sonnet-4-6', caller)).toMatchObject({ anthropic_version: version })
  })
})

describe('the token for a service account', () => {
  const exchange = vertex.accessToken?.(channel(), nowMs)

  it("is requested from Google's own host, regardless of the key's `token_uri`", () => {
    expect(exchange?.url).toBe('https://oauth2.googleapis.com/token')
    expect(exchange?.headers).toEqual({ 'content-type': 'application/x-www-form-urlencoded' })
    expect(exchange?.body).not.toContain('evil')
  })

  it('is requested with a JWT that the public key of the account verifies', () => {
    const form = new URLSearchParams(exchange?.body)
    expect([...form.keys()]).toEqual(['grant_type', 'assertion'])
    expect(form.get('grant_type')).toBe('urn:ietf:params:oauth:grant-type:jwt-bearer')

    const [header = '', claims = '', signature = ''] = (form.get('assertion') ?? '').split('.')
    expect(verify('RSA-SHA256', Buffer.from(`${header}.${claims}`), pair.publicKey, Buffer.from(signature, 'base64url'))).toBe(
      true,
    )
    expect(decoded(header)).toEqual({ alg: 'RS256', typ: 'JWT', kid: 'key-1' })
    const iat = Math.floor(nowMs / 1000)
    expect(decoded(claims)).toEqual({
      iss: account.client_email,
      scope: 'https://www.googleapis.com/auth/cloud-platform',
      aud: 'https://oauth2.googleapis.com/token',
      iat,
      exp: iat + 3600,
    })
  })

  it('is cached under a name that is unique per account and reveals nothing', () => {
    const other = vertex.accessToken?.(channel({ key: JSON.stringify({ ...account, client_email: 'b@c' }) }), nowMs)
    expect(other?.cacheKey).not.toBe(exchange?.cacheKey)
    expect(vertex.accessToken?.(channel({ id: 2 }), nowMs + 1)?.cacheKey).toBe(exchange?.cacheKey)
    expect(exchange?.cacheKey).not.toContain(account.client_email)
  })

  it('is read from the answer', () => {
    expect(exchange?.read({ access_token: 'ya29.x', expires_in: 3599, token_type: 'Bearer' })).toEqual({
      token: 'ya29.x',
      expiresInSeconds: 3599,
    })
    for (const reply of [undefined, {}, { access_token: '' }, { access_token: 'x' }, { error: 'invalid_grant' }])
      expect(exchange?.read(reply)).toBeUndefined()
  })

  it("is sent as a bearer token; an API key is sent as such; the account's private key is never sent", () => {
    expect(vertex.headers(channel({ key: 'ya29.x' }), gemini, {})).toEqual({ authorization: 'Bearer ya29.x' })
    expect(vertex.headers(channel({ key: apiKey }), gemini, {})).toEqual({ 'x-goog-api-key': apiKey })
    expect(vertex.headers(channel({ key: 'AQ.Ab8' }), gemini, {})).toEqual({ 'x-goog-api-key': 'AQ.Ab8' })
    expect(vertex.headers(channel(), messages, { 'anthropic-beta': 'a' })).toEqual({})
    expect(vertex.accessToken?.(channel({ key: apiKey }), nowMs)).toBeUndefined()
  })

  it('accepts a private key whose line ends were escaped twice', () => {
    const key = JSON.stringify({ ...account, private_key: account.private_key.replaceAll('\n', '\\n') })
    expect(vertex.accessToken?.(channel({ key }), nowMs)?.body).toBe(exchange?.body)
  })

  const elliptic = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    .privateKey.export({ type: 'pkcs8', format: 'pem' })
    .toString()

  it.each([
    ['the key of the channel is no JSON of a service account', '{"project_id": "secret-project'],
    ['the JSON of the service account lacks project_id', JSON.stringify({ ...account, project_id: undefined })],
    ['the JSON of the service account lacks client_email', JSON.stringify({ ...account, client_email: 5 })],
    ['the JSON of the service account lacks private_key', JSON.stringify({ ...account, private_key: '' })],
    ['the private_key of the service account is no usable RSA key', JSON.stringify({ ...account, private_key: 'hidden-text' })],
    ['the private_key of the service account is no usable RSA key', JSON.stringify({ ...account, private_key: elliptic })],
  ])('fails when %s, without exposing the key', (reason, key) => {
    const call = () => vertex.accessToken?.(channel({ key }), nowMs)?.body
    expect(call).toThrow(
      expect.objectContaining({ code: 'upstream_failed', message: `The upstream failed: ${reason}`, cause: undefined }),
    )
  })
})

function decoded(part: string): unknown {
  const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString())
  return isObject(value) ? value : undefined
}
