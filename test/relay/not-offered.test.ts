import Anthropic from '@anthropic-ai/sdk'
import { GoogleGenAI } from '@google/genai'
import OpenAI, { toFile } from 'openai'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startServer, type TestServer } from '../helpers/app.ts'
import { addToken } from '../helpers/seed.ts'
import { ask } from './stage.ts'

let server: TestServer
let key: string
beforeAll(async () => {
  server = await startServer('sqlite')
  key = (await addToken(server)).key
})
afterAll(() => server.stop())

const file = () => toFile(Buffer.from('{}'), 'a.jsonl')
const blob = new Blob(['{}'], { type: 'application/json' })

describe('files, batches and whatever else is not offered answer 501 as the vendor tells errors', () => {
  const openai = () => new OpenAI({ apiKey: key, baseURL: `${server.url}/v1`, maxRetries: 0 })
  const anthropic = () => new Anthropic({ apiKey: key, baseURL: server.url, maxRetries: 0 })
  const google = () => new GoogleGenAI({ apiKey: key, httpOptions: { baseUrl: server.url, retryOptions: { attempts: 1 } } })
  const batch = { completion_window: '24h', endpoint: '/v1/chat/completions', input_file_id: 'file-1' } as const

  it.each<[string, () => PromiseLike<unknown>]>([
    ['files.create', async () => openai().files.create({ file: await file(), purpose: 'batch' })],
    ['files.list', () => openai().files.list()],
    ['files.retrieve', () => openai().files.retrieve('file-1')],
    ['files.delete', () => openai().files.delete('file-1')],
    ['files.content', () => openai().files.content('file-1')],
    ['uploads.create', () => openai().uploads.create({ bytes: 2, filename: 'a', mime_type: 'text/plain', purpose: 'batch' })],
    ['batches.create', () => openai().batches.create(batch)],
    ['batches.list', () => openai().batches.list()],
    ['batches.retrieve', () => openai().batches.retrieve('batch_1')],
    ['batches.cancel', () => openai().batches.cancel('batch_1')],
    ['conversations.create', () => openai().conversations.create()],
    ['vectorStores.list', () => openai().vectorStores.list()],
    ['stored completions', () => openai().chat.completions.retrieve('chatcmpl-1')],
  ])('OpenAI: %s', async (_name, call) => {
    const error = await Promise.resolve(call()).catch((error: unknown) => error)
    expect(error).toBeInstanceOf(OpenAI.APIError)
    expect(error).toMatchObject({ status: 501, code: 'not_implemented', error: { type: expect.any(String), param: null } })
  })

  it.each<[string, () => PromiseLike<unknown>]>([
    ['files.upload', async () => anthropic().beta.files.upload({ file: await file() })],
    ['files.list', () => anthropic().beta.files.list()],
    ['files.delete', () => anthropic().beta.files.delete('file_1')],
    ['batches.create', () => anthropic().messages.batches.create({ requests: [] })],
    ['batches.list', () => anthropic().messages.batches.list()],
    ['batches.results', () => anthropic().messages.batches.retrieve('msgbatch_1')],
    ['batches.cancel', () => anthropic().messages.batches.cancel('msgbatch_1')],
  ])('Anthropic: %s', async (_name, call) => {
    const error = await Promise.resolve(call()).catch((error: unknown) => error)
    expect(error).toBeInstanceOf(Anthropic.APIError)
    expect(error).toMatchObject({ status: 501, error: { type: 'error', error: { type: 'api_error' } } })
  })

  it.each<[string, () => PromiseLike<unknown>]>([
    ['files.upload', () => google().files.upload({ file: blob })],
    ['files.list', () => google().files.list()],
    ['files.delete', () => google().files.delete({ name: 'files/a' })],
    ['batches.create', () => google().batches.create({ model: 'gemini-2.5-flash', src: 'files/a' })],
    ['batches.list', () => google().batches.list()],
    ['batches.cancel', () => google().batches.cancel({ name: 'batches/a' })],
    ['caches.list', () => google().caches.list()],
  ])('Gemini: %s', async (_name, call) => {
    const error = await Promise.resolve(call()).catch((error: unknown) => error)
    expect(error).toMatchObject({ status: 501 })
    expect(JSON.parse((error as Error).message)).toMatchObject({ error: { code: 501, status: 'UNIMPLEMENTED' } })
  })

  it('what no vendor has is no route, and near names are not taken for what is not offered', async () => {
    for (const path of ['/v1/filesystem', '/v1/nonsense', '/v1/completely', '/upload/nonsense']) {
      const answer = await ask(server, key, {}, path)
      expect([path, answer.status]).toEqual([path, 404])
    }
  })
})
