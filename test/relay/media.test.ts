import { expect, it } from 'vitest'
import { anyDatabase } from '../helpers/databases.ts'
import { books, requireBalancedBooks } from '../helpers/seed.ts'
import { sharedStages } from './shared-stage.ts'
import { answeringUpstream, post, stage } from './stage.ts'

/** A second of silence, 8,000 bytes a second. */
function wav(seconds: number): Buffer<ArrayBuffer> {
  const data = Buffer.alloc(8000 * seconds)
  const head = Buffer.alloc(44)
  head.write('RIFF', 0)
  head.writeUInt32LE(36 + data.length, 4)
  head.write('WAVEfmt ', 8)
  head.writeUInt32LE(16, 16)
  head.writeUInt16LE(1, 20)
  head.writeUInt16LE(1, 22)
  head.writeUInt32LE(8000, 24)
  head.writeUInt32LE(8000, 28)
  head.writeUInt16LE(1, 32)
  head.writeUInt16LE(8, 34)
  head.write('data', 36)
  head.writeUInt32LE(data.length, 40)
  return Buffer.concat([head, data])
}

anyDatabase('calls other than conversations', (_fresh, kind) => {
  const sharedStage = sharedStages(kind)

  /** A stage in front of an upstream with a programmed reply for each path. */
  async function open(
    models: string,
    answer: (path: string, form: FormData | undefined) => { type: string; body: string | Buffer },
    onStage: (url: string, channel: Record<string, unknown>) => ReturnType<typeof stage> = sharedStage,
  ) {
    const asked: { path: string; type: string; body: Buffer }[] = []
    const { url } = await answeringUpstream(async ({ path, headers, bytes: body }) => {
      const type = String(headers['content-type'])
      asked.push({ path, type, body })
      const form = type.startsWith('multipart/')
        ? await new Response(new Uint8Array(body), { headers: { 'content-type': type } }).formData()
        : undefined
      const { type: replyType, body: bytes } = answer(path, form)
      return { bytes, type: replyType }
    })
    return { ...(await onStage(url, { models })), asked }
  }

  it('images: a price per call is charged for each image, weighted by size and quality', async () => {
    const { ask, server } = await open('dall-e-3', () => ({
      type: 'application/json',
      body: JSON.stringify({ created: 1, data: [{ url: 'https://images/1' }, { url: 'https://images/2' }] }),
    }))
    const answer = await ask(
      { model: 'dall-e-3', prompt: 'a lock', n: 2, size: '1024x1792', quality: 'hd' },
      '/v1/images/generations',
    )
    expect([answer.status, JSON.parse(answer.text).data.length]).toEqual([200, 2])
    // 0.04 dollars × 2 images × 2 for the size × 1.5 for the quality.
    const { logs } = await books(server)
    expect(logs.map(({ quota }) => quota)).toEqual([0.04 * 2 * 3 * 500_000])
    await requireBalancedBooks(server)

    for (const n of [0, -1, 11, 1.5]) {
      const refused = await ask({ model: 'dall-e-3', prompt: 'x', n }, '/v1/images/generations')
      expect([n, refused.status]).toEqual([n, 400])
    }
  })

  it('images that report tokens are charged by tokens', async () => {
    const usage = { input_tokens: 110, input_tokens_details: { text_tokens: 10, image_tokens: 100 }, output_tokens: 1000 }
    const { ask, server } = await open(
      'gpt-image-1',
      () => ({ type: 'application/json', body: JSON.stringify({ created: 1, data: [{ b64_json: 'AAAA' }], usage }) }),
      (url, channel) => stage(kind, url, { channel }),
    )
    await server.app.options.save({
      key: 'ModelRatio',
      value: JSON.stringify({ 'gpt-image-1': 2.5 }),
      caller: { id: 1, username: 'root', role: 100, group: 'default', address: '' },
    })
    await server.app.options.save({
      key: 'CompletionRatio',
      value: JSON.stringify({ 'gpt-image-1': 8 }),
      caller: { id: 1, username: 'root', role: 100, group: 'default', address: '' },
    })
    await ask({ model: 'gpt-image-1', prompt: 'a lock' }, '/v1/images/generations')
    const { logs } = await books(server)
    expect(logs.map(({ quota }) => quota)).toEqual([2.5 * (10 + 100 * 2 + 1000 * 8)])
  })

  it('[232] [238] forms are passed on with every field and file in order; the model may follow the file', async () => {
    let got: FormData | undefined
    const { server, token, asked } = await open('whisper-1', (_path, form) => {
      got = form
      return { type: 'application/json', body: JSON.stringify({ text: 'hello', usage: { type: 'duration', seconds: 60 } }) }
    })
    const form = new FormData()
    form.append('file', new Blob([wav(60)], { type: 'audio/wav' }), 'talk.wav')
    form.append('timestamp_granularities[]', 'word')
    form.append('timestamp_granularities[]', 'segment')
    form.append('model', 'whisper-1')
    const response = await fetch(`${server.url}/v1/audio/transcriptions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token.key}` },
      body: form,
    })
    expect(await response.json()).toMatchObject({ text: 'hello' })
    expect([...(got ?? [])].map(([name, value]) => [name, typeof value === 'string' ? value : value.name])).toEqual([
      ['file', 'talk.wav'],
      ['timestamp_granularities[]', 'word'],
      ['timestamp_granularities[]', 'segment'],
      ['model', 'whisper-1'],
    ])
    expect(asked[0]?.path).toBe('/v1/audio/transcriptions')
    const { logs } = await books(server)
    // A minute at the ratio of 15 is 0.006 dollars.
    expect(logs.map(({ quota }) => quota)).toEqual([3000])
  })

  it('[233] subtitles pass as plain text and are charged by the length of the recording', async () => {
    const { server, token } = await open('whisper-1', () => ({
      type: 'text/plain; charset=utf-8',
      body: '1\n00:00 --> 00:01\nhello\n',
    }))
    const form = new FormData()
    form.append('model', 'whisper-1')
    form.append('response_format', 'srt')
    form.append('file', new Blob([wav(30)], { type: 'audio/wav' }), 'talk.wav')
    const response = await fetch(`${server.url}/v1/audio/transcriptions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token.key}` },
      body: form,
    })
    expect([response.headers.get('content-type'), await response.text()]).toEqual([
      'text/plain; charset=utf-8',
      '1\n00:00 --> 00:01\nhello\n',
    ])
    const { logs } = await books(server)
    expect(logs.map(({ quota }) => quota)).toEqual([1500])
  })

  it('[235] speech passes byte for byte, charged by the character; JSON instead is an error', async () => {
    const sound = Buffer.from(Array.from({ length: 100_000 }, (_, at) => (at * 7) % 256))
    const { server, token } = await open('tts-1', (path) =>
      path.includes('speech') ? { type: 'audio/mpeg', body: sound } : { type: 'application/json', body: '{}' },
    )
    const send = (body: object) => post(server, token.key, body, '/v1/audio/speech')
    const response = await send({ model: 'tts-1', input: 'four', voice: 'alloy' })
    expect(response.headers.get('content-type')).toBe('audio/mpeg')
    expect(Buffer.from(await response.arrayBuffer()).equals(sound)).toBe(true)
    const { logs } = await books(server)
    // 15 dollars per million characters.
    expect(logs.map(({ quota }) => quota)).toEqual([4 * 7.5])
    await requireBalancedBooks(server)
  })

  it('[239] moderation has a default model and costs nothing', async () => {
    const { ask, server } = await open('omni-moderation-latest', () => ({
      type: 'application/json',
      body: JSON.stringify({ id: 'm', model: 'omni-moderation-latest', results: [{ flagged: false }] }),
    }))
    const answer = await ask({ input: 'hello' }, '/v1/moderations')
    expect([answer.status, JSON.parse(answer.text).results]).toEqual([200, [{ flagged: false }]])
    const { logs } = await books(server)
    expect(logs.map(({ quota }) => quota)).toEqual([0])
  })
})
