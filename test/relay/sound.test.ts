import OpenAI, { toFile } from 'openai'
import OpenAI6 from 'openai-6'
import { expect, it } from 'vitest'
import { wavOf } from '../../src/server/gateway/protocols/direct/wav.ts'
import { anyDatabase } from '../helpers/databases.ts'
import { addChannel, books, requireBalancedBooks, setOptions } from '../helpers/seed.ts'
import { fixture } from '../helpers/upstream.ts'
import { directStage, sharedDirectStages } from './direct-stage.ts'

const samples = Buffer.from(Array.from({ length: 4800 }, (_, at) => (at * 7) % 256))
const spoken = {
  candidates: [
    {
      content: { parts: [{ inlineData: { mimeType: 'audio/L16;codec=pcm;rate=24000', data: samples.toString('base64') } }] },
      finishReason: 'STOP',
    },
  ],
  usageMetadata: {
    promptTokenCount: 7,
    candidatesTokenCount: 50,
    totalTokenCount: 57,
    candidatesTokensDetails: [{ modality: 'AUDIO', tokenCount: 50 }],
  },
}
/** A WAV file of silence: 8,000 samples a second, 16 bits each. */
const recording = (seconds: number) => wavOf(Buffer.alloc(16_000 * seconds), 8000)
const whisper = '@cf/openai/whisper'
const majors = [OpenAI, OpenAI6]
/** A ratio of 15, the price of whisper-1. */
const unitsPerSecond = (200 / 60) * 15

anyDatabase('speech', (_fresh, kind) => {
  const sharedStage = sharedDirectStages(kind, { ModelRatio: { 'gemini-tts': 1, 'gpt-4o-mini-tts': 1, 'tts-1': 7.5 } })

  it('by Gemini is converted from samples to a WAV file, and charged by its tokens', async () => {
    const { server, token, heard } = await sharedStage(() => ({ json: spoken }), { type: 24, models: 'gemini-tts' })
    const client = new OpenAI({ apiKey: token.key, baseURL: `${server.url}/v1`, maxRetries: 0 })
    const answer = await client.audio.speech.create({
      model: 'gemini-tts',
      voice: 'alloy',
      input: 'Hello.',
      response_format: 'wav',
    })
    expect(answer.headers.get('content-type')).toBe('audio/wav')
    expect(Buffer.from(await answer.arrayBuffer()).equals(wavOf(samples, 24_000))).toBe(true)
    expect(heard.map(({ path }) => path)).toEqual(['/v1beta/models/gemini-tts:generateContent'])

    const { logs } = await books(server)
    const other = JSON.parse(logs[0]?.other ?? '{}')
    expect([other.audio_output, other.estimated, logs[0]?.prompt_tokens, logs[0]?.completion_tokens]).toEqual([
      50,
      undefined,
      7,
      50,
    ])
    expect(logs[0]?.quota).toBe(Math.ceil(7 + 50 * other.audio_ratio * other.audio_completion_ratio))
    await requireBalancedBooks(server)
  })

  it('by Gemini is sent as events and as samples; a format that would require encoding is refused by name', async () => {
    const { server, ask } = await sharedStage(() => ({ json: spoken }), { type: 24, models: 'gemini-tts' })
    const body = { model: 'gemini-tts', input: 'Hello.', voice: 'Kore' }
    const { text } = await ask({ ...body, stream_format: 'sse', response_format: 'pcm' }, '/v1/audio/speech')
    const events = text
      .trim()
      .split('\n\n')
      .map((event) => JSON.parse(event.slice('data: '.length)))
    expect(events).toEqual([
      { type: 'speech.audio.delta', audio: samples.toString('base64') },
      { type: 'speech.audio.done', usage: { input_tokens: 7, output_tokens: 50, total_tokens: 57 } },
    ])
    const plain = await ask({ ...body, response_format: 'pcm' }, '/v1/audio/speech')
    expect(plain.headers.get('content-type')).toBe('audio/L16;rate=24000;channels=1')
    const refused = await ask({ ...body, response_format: 'mp3' }, '/v1/audio/speech')
    expect([refused.status, JSON.parse(refused.text).error.param]).toEqual([400, 'response_format'])
    const { logs } = await books(server)
    expect(new Set(logs.map(({ quota }) => quota)).size).toBe(1)
    expect(logs).toHaveLength(2)
  })

  it('[235] a JSON error instead of audio is a failure: another channel is tried, and nothing is charged for it', async () => {
    const bad = await directStage(kind, () => ({ json: { error: { message: 'no voice' } } }), {
      channel: { models: 'tts-1', priority: 10 },
    })
    const alone = await bad.ask({ model: 'tts-1', input: 'four', voice: 'alloy' }, '/v1/audio/speech')
    expect(alone.status).toBe(502)
    const good = await sharedStage(() => ({ bytes: samples, type: 'audio/mpeg' }), { models: 'x' })
    await addChannel(bad.server, { url: good.url, models: 'tts-1' })
    await setOptions(bad.server, { RetryTimes: 1 })
    const answer = await bad.ask({ model: 'tts-1', input: 'four', voice: 'alloy' }, '/v1/audio/speech')
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'audio/mpeg'])
    expect((await books(bad.server)).logs.map(({ quota }) => quota)).toEqual([4 * 7.5])
  })

  it('in events passes byte for byte, and its usage is charged', async () => {
    const stream = `data: ${JSON.stringify({ type: 'speech.audio.delta', audio: 'AAAA' })}\n\ndata: ${JSON.stringify({ type: 'speech.audio.done', usage: { input_tokens: 10, output_tokens: 100, total_tokens: 110 } })}\n\n`
    const { server, ask } = await sharedStage(() => ({ bytes: stream, type: 'text/event-stream' }), { models: 'gpt-4o-mini-tts' })
    const answer = await ask(
      { model: 'gpt-4o-mini-tts', input: 'Hello.', voice: 'alloy', stream_format: 'sse' },
      '/v1/audio/speech',
    )
    expect([answer.text, answer.headers.get('content-type')]).toEqual([stream, 'text/event-stream; charset=utf-8'])
    const { logs } = await books(server)
    expect([logs[0]?.prompt_tokens, logs[0]?.completion_tokens]).toEqual([10, 100])
  })

  it('asked as events from a host that answers with audio passes as audio, and is charged by its text', async () => {
    const { server, ask } = await sharedStage(() => ({ bytes: samples, type: 'audio/mpeg' }), { models: 'tts-1' })
    const answer = await ask({ model: 'tts-1', input: 'four', voice: 'alloy', stream_format: 'sse' }, '/v1/audio/speech')
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'audio/mpeg'])
    expect((await books(server)).logs.map(({ quota }) => quota)).toEqual([4 * 7.5])
    await requireBalancedBooks(server)
  })
})

anyDatabase('transcriptions', (_fresh, kind) => {
  const ratios = { 'gpt-4o-transcribe': 1, 'gemini-transcribe': 1, [whisper]: 15, 'whisper-1': 15 }
  const sharedStage = sharedDirectStages(kind, { ModelRatio: ratios })

  it('[234] a stream ends with its last event, without [DONE]; both majors of the SDK read it', async () => {
    const stream = fixture('openai-other/transcription_stream.sse')
    const { server, token } = await sharedStage(() => ({ bytes: stream, type: 'text/event-stream' }), {
      models: 'gpt-4o-transcribe',
    })
    const form = new FormData()
    form.append('model', 'gpt-4o-transcribe')
    form.append('stream', 'true')
    form.append('file', new Blob([new Uint8Array(recording(2))], { type: 'audio/wav' }), 'talk.wav')
    const raw = await fetch(`${server.url}/v1/audio/transcriptions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token.key}` },
      body: form,
    })
    expect(await raw.text()).toBe(stream.toString())
    // The calls used here are the same in both majors; their types only differ in name.
    for (const Client of majors as unknown as (typeof OpenAI)[]) {
      const client = new Client({ apiKey: token.key, baseURL: `${server.url}/v1`, maxRetries: 0 })
      const events = await client.audio.transcriptions.create({
        model: 'gpt-4o-transcribe',
        file: await toFile(recording(2), 'talk.wav'),
        stream: true,
      })
      const types: string[] = []
      for await (const event of events) types.push(event.type)
      expect(types).toEqual(['transcript.text.delta', 'transcript.text.delta', 'transcript.text.done'])
    }
    const { logs } = await books(server)
    const { audio_ratio: ratio, audio_input: audio } = JSON.parse(logs[0]?.other ?? '{}')
    expect(audio).toBe(40)
    expect(logs.map(({ quota }) => quota)).toEqual(
      Array(3).fill(Math.ceil(40 * ratio + 3 * (JSON.parse(logs[0]?.other ?? '{}').completion_ratio ?? 1))),
    )
    await requireBalancedBooks(server)
  })

  it('[275] are made by Gemini, for requests for JSON, for text and for a stream', async () => {
    const reply = {
      candidates: [{ content: { parts: [{ audioTranscription: { text: 'High tide' } }] }, finishReason: 'STOP' }],
      usageMetadata: {
        promptTokenCount: 64,
        candidatesTokenCount: 3,
        totalTokenCount: 67,
        promptTokensDetails: [{ modality: 'AUDIO', tokenCount: 64 }],
      },
    }
    const { server, token, heard } = await sharedStage(() => ({ json: reply }), { type: 24, models: 'gemini-transcribe' })
    const client = new OpenAI({ apiKey: token.key, baseURL: `${server.url}/v1`, maxRetries: 0 })
    const file = await toFile(recording(2), 'talk.wav')
    const whole = await client.audio.transcriptions.create({ model: 'gemini-transcribe', file })
    expect(whole).toMatchObject({ text: 'High tide', usage: { type: 'tokens', input_tokens: 64, output_tokens: 3 } })
    const text = await client.audio.transcriptions.create({ model: 'gemini-transcribe', file, response_format: 'text' })
    expect(text).toBe('High tide\n')
    const events: unknown[] = []
    for await (const event of await client.audio.transcriptions.create({ model: 'gemini-transcribe', file, stream: true }))
      events.push(event)
    expect(events).toMatchObject([
      { type: 'transcript.text.delta', delta: 'High tide' },
      { type: 'transcript.text.done', text: 'High tide' },
    ])
    await expect(
      client.audio.transcriptions.create({ model: 'gemini-transcribe', file, response_format: 'srt' }),
    ).rejects.toMatchObject({
      status: 400,
      param: 'response_format',
    })
    expect(heard).toHaveLength(3)
    expect(heard[0]?.body).toEqual({
      contents: [{ role: 'user', parts: [{ inlineData: { mimeType: 'audio/wav', data: recording(2).toString('base64') } }] }],
    })
    const { logs } = await books(server)
    const other = JSON.parse(logs[0]?.other ?? '{}')
    expect(other.audio_input).toBe(64)
    expect(logs.map(({ quota }) => quota)).toEqual(Array(3).fill(Math.ceil(64 * other.audio_ratio + 3 * other.completion_ratio)))
    await requireBalancedBooks(server)
  })

  it('a deployment of Azure gets the form without the name of the model', async () => {
    const fields: string[][] = []
    const { form } = await sharedStage(
      async ({ bytes, headers, path }) => {
        const data = await new Response(new Uint8Array(bytes), {
          headers: { 'content-type': String(headers['content-type']) },
        }).formData()
        fields.push([path, ...data.keys()])
        return { json: { text: 'High tide' } }
      },
      { type: 3, models: 'whisper-1' },
    )
    const data = new FormData()
    data.append('file', new Blob([new Uint8Array(recording(1))]), 'talk.wav')
    data.append('model', 'whisper-1')
    data.append('language', 'en')
    expect((await form('/v1/audio/transcriptions', data)).status).toBe(200)
    expect(fields).toEqual([
      ['/openai/deployments/whisper-1/audio/transcriptions?api-version=2024-12-01-preview', 'file', 'language'],
    ])
  })

  it('Cloudflare gets the bytes alone, and the recording is charged by its length', async () => {
    const { server, form, heard } = await sharedStage(
      () => ({ json: { success: true, errors: [], result: { text: 'High tide', word_count: 2 } } }),
      { type: 39, models: whisper, other: 'acc' },
    )
    const data = new FormData()
    data.append('model', whisper)
    data.append('file', new Blob([new Uint8Array(recording(30))], { type: 'audio/wav' }), 'talk.wav')
    const answer = await form('/v1/audio/transcriptions', data)
    expect([answer.status, JSON.parse(answer.text)]).toEqual([200, { text: 'High tide' }])
    expect([heard[0]?.path, heard[0]?.headers['content-type'], heard[0]?.bytes.equals(recording(30))]).toEqual([
      '/client/v4/accounts/acc/ai/run/@cf/openai/whisper',
      'audio/wav',
      true,
    ])
    expect((await books(server)).logs.map(({ quota }) => quota)).toEqual([30 * unitsPerSecond])
    await requireBalancedBooks(server)
  })

  it('[254] a failure that Cloudflare reports with a status of success is a failure', async () => {
    const { server, form } = await sharedStage(
      () => ({ json: { success: false, errors: [{ code: 3030, message: 'bad audio' }], result: null } }),
      { type: 39, models: whisper, other: 'acc' },
    )
    const data = new FormData()
    data.append('model', whisper)
    data.append('file', new Blob([new Uint8Array(recording(1))]), 'talk.wav')
    expect((await form('/v1/audio/transcriptions', data)).status).toBe(502)
    expect((await books(server)).logs).toEqual([])
  })

  it('[219] the seconds reported by an upstream are charged, otherwise those of the file', async () => {
    let reply: object = { text: 'x', usage: { type: 'duration', seconds: 12.5 } }
    const { server, form } = await sharedStage(() => ({ json: reply }), { models: 'whisper-1' })
    const send = () => {
      const data = new FormData()
      data.append('model', 'whisper-1')
      data.append('file', new Blob([new Uint8Array(recording(6))]), 'talk.wav')
      return form('/v1/audio/transcriptions', data)
    }
    await send()
    reply = { text: 'x' }
    await send()
    const { logs } = await books(server)
    expect(logs.map(({ quota }) => quota)).toEqual([Math.ceil((12.5 * 200) / 60) * 15, 6 * unitsPerSecond])
  })
})
