import { request as httpRequest } from 'node:http'
import Anthropic from '@anthropic-ai/sdk'
import { GoogleGenAI } from '@google/genai'
import OpenAI, { toFile } from 'openai'
import { describe, expect, it } from 'vitest'
import { removeFiles } from '../../src/server/gateway/files/remove.ts'
import { serverOfTest } from '../helpers/app.ts'
import { eachDatabase } from '../helpers/databases.ts'
import { seedFile } from '../helpers/files.ts'
import { addChannel, addToken, setOptions, tokenOfSecondUser } from '../helpers/seed.ts'
import { fileVendor } from './file-vendor.ts'
import { ask, claude, completion, eventually, httpUpstream, model } from './stage.ts'

const gemini = 'gemini-2.5-flash'
const text = Buffer.from('one two three')
const generated = JSON.stringify({
  candidates: [{ content: { role: 'model', parts: [{ text: 'four' }] }, finishReason: 'STOP', index: 0 }],
  usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 1, totalTokenCount: 4 },
})

async function fileStage(kind: 'sqlite' | 'postgres' = 'sqlite') {
  const server = await serverOfTest(kind)
  const vendor = await fileVendor((path) => JSON.parse(path.includes('generateContent') ? generated : completion()))
  const { url } = vendor
  const channelId = await addChannel(server, { url, models: model, key: 'key-openai' })
  await addChannel(server, { url, models: claude, type: 14, key: 'key-anthropic' })
  await addChannel(server, { url, models: gemini, type: 24, key: 'key-gemini' })
  const { key } = await addToken(server)
  const openai = new OpenAI({ apiKey: key, baseURL: `${server.url}/v1`, maxRetries: 0 })
  const upload = async (bytes = text) => openai.files.create({ file: await toFile(bytes, 'a.txt'), purpose: 'user_data' })
  return { server, vendor, channelId, key, openai, upload }
}

const naming = (id: string) => ({
  model,
  messages: [{ role: 'user', content: [{ type: 'file', file: { file_id: id } }] }],
})

describe('files of the official SDKs', () => {
  it('OpenAI: a file is stored, listed, read and deleted under an id of this site', async () => {
    const { vendor, openai, upload } = await fileStage()
    const made = await upload()
    const [theirs] = vendor.files.values()
    expect(made).toMatchObject({ object: 'file', filename: 'a.txt', purpose: 'user_data', bytes: text.length })
    expect(made.id).toMatch(/^file-\w{24}$/)
    expect(theirs).toMatchObject({ name: 'a.txt', purpose: 'user_data', key: 'key-openai', bytes: text })

    const second = await upload()
    const page = await openai.files.list({ limit: 1, order: 'asc' })
    expect(page.data.map(({ id }) => id)).toHaveLength(1)
    const ids: string[] = []
    for await (const { id } of openai.files.list({ limit: 1 })) ids.push(id)
    expect(ids.sort()).toEqual([made.id, second.id].sort())
    expect((await openai.files.list({ purpose: 'batch' })).data).toEqual([])
    expect(await openai.files.retrieve(made.id)).toMatchObject({ id: made.id, bytes: text.length })
    expect(await (await openai.files.content(made.id)).text()).toBe(String(text))
    expect(JSON.stringify(await openai.files.list())).not.toContain(theirs?.id)

    expect(await openai.files.delete(made.id)).toEqual({ id: made.id, object: 'file', deleted: true })
    await eventually('the vendor has deleted it', () => vendor.files.size === 1)
    await expect(openai.files.retrieve(made.id)).rejects.toMatchObject({ status: 404, code: 'file_unknown' })
  })

  it('OpenAI: an upload in parts becomes a file', async () => {
    const { server, vendor, openai } = await fileStage()
    const upload = await openai.uploads.create({
      bytes: text.length,
      filename: 'parts.txt',
      mime_type: 'text/plain',
      purpose: 'user_data',
    })
    expect(upload.id).toMatch(/^upload_\w{24}$/)
    const partIds: string[] = []
    for (const piece of [text.subarray(0, 5), text.subarray(5)]) {
      const part = await openai.uploads.parts.create(upload.id, { data: await toFile(piece, 'part') })
      expect(part.upload_id).toBe(upload.id)
      partIds.push(part.id)
    }
    const { file } = await openai.uploads.complete(upload.id, { part_ids: partIds })
    expect([...vendor.files.values()].map(({ bytes }) => String(bytes))).toEqual([String(text)])
    expect(await openai.files.retrieve(file?.id ?? '')).toMatchObject({ filename: 'parts.txt', bytes: text.length })
    await expect(openai.uploads.complete(upload.id, { part_ids: partIds })).rejects.toMatchObject({ status: 404 })
    expect(await server.app.db.selectFrom('files').selectAll().execute()).toHaveLength(1)
  })

  it('Anthropic: a file is stored, listed and deleted under an id of this site', async () => {
    const { server, vendor, key } = await fileStage()
    const { files } = new Anthropic({ apiKey: key, baseURL: server.url, maxRetries: 0 })
    const made = await files.upload({ file: await toFile(text, 'a.txt', { type: 'text/plain' }) })
    expect(made).toMatchObject({ type: 'file', filename: 'a.txt', size_bytes: text.length })
    expect(made.id).toMatch(/^file_\w{24}$/)
    const ids: string[] = []
    for await (const { id } of files.list({ limit: 1 })) ids.push(id)
    expect(ids).toEqual([made.id])
    expect(await files.delete(made.id)).toMatchObject({ id: made.id, type: 'file_deleted' })
    await eventually('the vendor has deleted it', () => vendor.files.size === 0)
  })

  it('Gemini: a resumable upload becomes a file with a name and a URI of this site', async () => {
    const { server, vendor, key } = await fileStage()
    const { files } = new GoogleGenAI({ apiKey: key, httpOptions: { baseUrl: server.url, retryOptions: { attempts: 1 } } })
    const made = await files.upload({ file: new Blob([text], { type: 'text/plain' }) })
    const name = made.name ?? ''
    expect(name).toMatch(/^files\/[a-z0-9]{24}$/)
    expect(made).toMatchObject({ uri: `${server.url}/v1beta/${name}`, state: 'ACTIVE', sizeBytes: String(text.length) })
    expect([...vendor.files.values()].map(({ bytes, key }) => [String(bytes), key])).toEqual([[String(text), 'key-gemini']])
    expect(await files.get({ name })).toMatchObject({ name })
    const names: (string | undefined)[] = []
    for await (const file of await files.list()) names.push(file.name)
    expect(names).toEqual([name])

    const body = { contents: [{ parts: [{ fileData: { fileUri: made.uri, mimeType: 'text/plain' } }, { text: 'Hi' }] }] }
    expect((await ask(server, key, body, `/v1beta/models/${gemini}:generateContent`)).status).toBe(200)
    const [theirs] = vendor.files.values()
    expect(vendor.asked.at(-1)?.body).toContain(`https://generativelanguage.googleapis.com/v1beta/files/${theirs?.id}`)

    await files.delete({ name })
    await eventually('the vendor has deleted it', () => vendor.files.size === 0)
  })
})

eachDatabase('files', (_fresh, kind) => {
  it('of another user are unknown to every call, and in every place of a request', async () => {
    const { server, upload, vendor, channelId } = await fileStage(kind)
    const { key } = await tokenOfSecondUser(server)
    const { id } = await upload()
    await seedFile(server, { id: 'file_claude', channelId, dialect: 'anthropic' })
    await seedFile(server, { id: 'geminifile', channelId, dialect: 'gemini' })
    await seedFile(server, { id: 'upload_open', channelId })
    await server.app.keptFiles.update({ id: 'upload_open', userId: 1 }, { state: 'open' })
    const [theirs] = vendor.files.keys()
    const ofClaude = { model: claude, max_tokens: 10 }
    const input = (content: object) => ({ model, input: [{ role: 'user', content: [content] }] })
    const refusals: [string, unknown][] = [
      ...[id, theirs].map((each): [string, unknown] => ['/v1/chat/completions', naming(each ?? '')]),
      ['/v1/responses', input({ type: 'input_file', file_id: id })],
      ['/v1/responses', input({ type: 'input_image', file_id: id })],
      [
        '/v1/responses',
        { model, input: 'a', tools: [{ type: 'code_interpreter', container: { type: 'auto', file_ids: [id] } }] },
      ],
      ['/v1/responses/input_tokens', input({ type: 'input_file', file_id: id })],
      [
        '/v1/messages',
        {
          ...ofClaude,
          messages: [{ role: 'user', content: [{ type: 'document', source: { type: 'file', file_id: 'file_claude' } }] }],
        },
      ],
      [
        '/v1/messages',
        { ...ofClaude, messages: [{ role: 'user', content: [{ type: 'container_upload', file_id: 'file_claude' }] }] },
      ],
      [
        `/v1beta/models/${gemini}:generateContent`,
        { contents: [{ parts: [{ fileData: { fileUri: `${server.url}/v1beta/files/geminifile` } }] }] },
      ],
      [`/v1beta/models/${gemini}:generateContent`, { contents: [{ parts: [{ file_data: { file_uri: 'files/geminifile' } }] }] }],
      ['/v1/uploads/upload_open/complete', { part_ids: [] }],
      ['/v1/uploads/upload_open/cancel', {}],
      ['/upload/v1beta/files?upload_id=upload_open', {}],
    ]
    const escaped = JSON.stringify(naming(id)).replace('"file_id"', '"\\u0066ile_id"')
    for (const [path, body] of [...refusals, ['/v1/chat/completions', escaped] as const])
      expect([path, (await ask(server, key, body, path)).status]).toEqual([path, 404])
    const paths = [`GET /v1/files/${id}`, `GET /v1/files/${id}/content`, `DELETE /v1/files/${id}`, `GET /v1/files?after=${id}`]
    for (const line of [...paths, 'GET /v1beta/files/geminifile', 'DELETE /v1beta/files/geminifile']) {
      const [method = '', path = ''] = line.split(' ')
      const { status } = await fetch(server.url + path, { method, headers: { authorization: `Bearer ${key}` } })
      expect([line, status]).toEqual([line, 404])
    }
    expect(vendor.asked).toEqual([])
    expect(vendor.files.size).toBe(1)
  })

  it('take a request to the channel and key that have them, with the id of the vendor', async () => {
    const { server, vendor, key, openai, upload } = await fileStage(kind)
    const other = await fileVendor(() => JSON.parse(completion()))
    await addChannel(server, { url: other.url, models: model, key: 'key-other', priority: 9 })
    const atOther = await upload()
    expect(other.files.size).toBe(1)
    const [theirs] = other.files.keys()
    expect((await ask(server, key, naming(atOther.id))).status).toBe(200)
    expect(other.asked.map(({ body }) => JSON.parse(body).messages)).toEqual([naming(theirs ?? '').messages])

    const [channel] = await server.call<number[]>('POST /api/channel/', {
      ...{ name: 'third', type: 1, key: 'key-third', base_url: vendor.url, models: `${model},only-here`, priority: 20 },
    })
    await setOptions(server, { ModelRatio: { [model]: 1, 'only-here': 1 } })
    const atThird = await upload()
    const both = { model, messages: [...naming(atOther.id).messages, ...naming(atThird.id).messages] }
    expect(await ask(server, key, both)).toMatchObject({ status: 400, text: expect.stringContaining('different channels') })
    const elsewhere = { ...naming(atOther.id), model: 'only-here' }
    expect(await ask(server, key, elsewhere)).toMatchObject({
      status: 400,
      text: expect.stringContaining('does not serve model'),
    })
    await server.call(`DELETE /api/channel/${channel}`)
    expect(await ask(server, key, naming(atThird.id))).toMatchObject({
      status: 404,
      text: expect.stringContaining('upload the file again'),
    })
    await expect(openai.files.retrieve(atThird.id)).rejects.toMatchObject({ status: 404 })
  })

  it('are limited by number and size for each user, also for uploads at the same time', async () => {
    const { server, vendor, openai, upload } = await fileStage(kind)
    await setOptions(server, { 'files.count_max': 3 })
    const results = await Promise.allSettled(Array.from({ length: 8 }, () => upload()))
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(3)
    expect(vendor.files.size).toBe(3)
    await setOptions(server, { 'files.count_max': 100, 'files.megabytes_max': 1 })
    await expect(upload(Buffer.alloc(2 * 1024 ** 2))).rejects.toMatchObject({ status: 400, code: 'files_too_large' })
    const [first] = (await openai.files.list()).data
    await openai.files.delete(first?.id ?? '')
    expect(await upload()).toMatchObject({ object: 'file' })
  })

  it('that a vendor could not delete, and those of deleted users, are deleted by a job', async () => {
    const { server, vendor, openai, upload, channelId } = await fileStage(kind)
    const made = await upload()
    vendor.state.failing = 500
    await openai.files.delete(made.id)
    await expect(openai.files.retrieve(made.id)).rejects.toMatchObject({ status: 404 })
    await eventually(
      'the vendor was asked',
      async () => (await server.app.db.selectFrom('files').selectAll().execute()).length === 1,
    )
    vendor.state.failing = 0
    await removeFiles(server.app, new AbortController().signal)
    expect(vendor.files.size).toBe(0)
    await seedFile(server, { id: 'file-orphan', channelId, userId: 999 })
    await removeFiles(server.app, new AbortController().signal)
    expect(await server.app.db.selectFrom('files').selectAll().execute()).toEqual([])
  })
})

describe('the bytes of a file', () => {
  it('pass no faster than the vendor reads them, and are not held', async () => {
    const { server, key } = await fileStage()
    // It accepts the request and reads nothing.
    const url = await httpUpstream((request) => void request.pause())
    await addChannel(server, { url, models: model, key: 'key-slow', priority: 9 })
    const boundary = 'b'
    const headers = { authorization: `Bearer ${key}`, 'content-type': `multipart/form-data; boundary=${boundary}` }
    const upload = httpRequest(`${server.url}/v1/files`, {
      method: 'POST',
      headers: { ...headers, 'content-length': String(256 * 1024 ** 2) },
    })
    upload.on('error', () => {})
    upload.write(`--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\n`)
    const piece = Buffer.alloc(64 * 1024)
    let sent = 0
    for (;;) {
      sent += piece.length
      if (upload.write(piece)) continue
      const drained = await new Promise<boolean>((resolve) => {
        upload.once('drain', () => resolve(true))
        setTimeout(() => resolve(false), 1000)
      })
      if (!drained || sent > 200 * 1024 ** 2) break
    }
    upload.destroy()
    expect(sent).toBeLessThan(48 * 1024 ** 2)
  })

  it('never reach the vendor as a whole when they are cut off or too many', async () => {
    const { server, vendor, key, upload } = await fileStage()
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'multipart/form-data; boundary=b' }
    const send = (body: string) => fetch(`${server.url}/v1/files`, { method: 'POST', headers, body })
    const cut = await send('--b\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\nhalf of it')
    expect([cut.status, await cut.text()]).toEqual([400, expect.stringContaining('cannot be read')])
    expect((await send('no form')).status).toBe(400)
    // None of it is a fault of the channel.
    for (let tries = 0; tries < 12; tries++) await send('--b\r\nno header\r\n\r\n')
    expect(await upload()).toMatchObject({ object: 'file' })
    vendor.files.clear()
    await server.app.db.deleteFrom('files').execute()
    const left = httpRequest(`${server.url}/v1/files`, { method: 'POST', headers: { ...headers, 'content-length': '1000' } })
    left.on('error', () => {})
    left.write('--b\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\nhalf')
    const rows = async () => (await server.app.db.selectFrom('files').selectAll().execute()).length
    await eventually('its row is there', async () => (await rows()) === 1)
    left.destroy()
    await eventually('its row is forgotten', async () => (await rows()) === 0)
    expect(vendor.files.size).toBe(0)
    expect(await server.app.db.selectFrom('files').selectAll().execute()).toEqual([])
  })
})
