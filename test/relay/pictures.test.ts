import { GoogleGenAI } from '@google/genai'
import OpenAI, { toFile } from 'openai'
import OpenAI6 from 'openai-6'
import { expect, it } from 'vitest'
import { arrayAt, isObject } from '../../src/server/gateway/protocols/wire-format.ts'
import { anyDatabase } from '../helpers/databases.ts'
import { scaledByLoad } from '../helpers/scaled-by-load.ts'
import { addChannel, addToken, books, requireBalancedBooks, setOptions } from '../helpers/seed.ts'
import { fixture } from '../helpers/upstream.ts'
import { directStage, openLoopback, sharedDirectStages } from './direct-stage.ts'
import { ask as askWith, eventually, httpUpstream, type ProgrammedReply, post, settledCharges, stage } from './stage.ts'

const generations = '/v1/images/generations'
const unitsOfDollar = 500_000
const prices = {
  ...{ 'gemini-image': 0.04, 'imagen-3.0-generate-002': 0.03, 'wanx-v1': 0.02, 'dall-e-2': 0.02, 'cogview-4': 0.01 },
  ...{ 'Qwen/Qwen-Image': 0.01, 'doubao-seedream-4-0': 0.01, 'grok-2-image': 0.01, 'qwen-image': 0.01 },
}
const geminiImage = (data: string, image = 1290) => ({
  candidates: [{ content: { parts: [{ inlineData: { mimeType: 'image/png', data } }] }, finishReason: 'STOP' }],
  usageMetadata: {
    promptTokenCount: 6,
    candidatesTokenCount: image,
    totalTokenCount: 6 + image,
    candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: image }],
  },
})

anyDatabase('images', (_fresh, kind) => {
  const sharedStage = sharedDirectStages(kind, { ModelPrice: prices, ModelRatio: { 'gpt-image-1': 5 } })

  it('[236] several images of a model that makes one per call need several calls, a few at a time; the returned images are charged', async () => {
    let running = 0
    let most = 0
    const { promise: fiveRun, resolve: release } = Promise.withResolvers<void>()
    const { server, token, heard } = await sharedStage(
      async (_heard, count) => {
        most = Math.max(most, ++running)
        if (running === 5) release()
        await fiveRun
        // A sixth call would arrive meanwhile.
        await new Promise((resolve) => setTimeout(resolve, 40))
        running--
        return count % 4 === 0
          ? { json: { error: { code: 503, message: 'busy', status: 'UNAVAILABLE' } }, status: 503 }
          : { json: geminiImage(`AAA${count % 10}`) }
      },
      { type: 24, models: 'gemini-image' },
    )
    const client = new OpenAI({ apiKey: token.key, baseURL: `${server.url}/v1`, maxRetries: 0 })
    const { data, usage, output_format } = await client.images.generate({ model: 'gemini-image', prompt: 'a lock', n: 8 })
    expect([heard.length, data?.length, output_format, usage?.output_tokens]).toEqual([8, 6, 'png', 6 * 1290])
    expect(data?.every(({ b64_json }) => b64_json?.startsWith('AAA'))).toBe(true)
    expect(most).toBe(5)
    expect(heard[0]?.path).toBe('/v1beta/models/gemini-image:generateContent')
    expect((await books(server)).logs.map(({ quota }) => quota)).toEqual([6 * 0.04 * unitsOfDollar])
    await requireBalancedBooks(server)
  })

  it('a model of Gemini without a price per image is charged by the reported tokens', async () => {
    const { server, ask } = await directStage(kind, () => ({ json: geminiImage('AAAA') }), {
      channel: { type: 24, models: 'gemini-image' },
      ratios: { 'gemini-image': 0.15 },
    })
    await setOptions(server, { CompletionRatio: { 'gemini-image': 4 } })
    const answer = await ask({ model: 'gemini-image', prompt: 'a lock', n: 2 }, generations)
    expect(JSON.parse(answer.text).usage).toMatchObject({ input_tokens: 12, output_tokens: 2580 })
    const { logs } = await books(server)
    const other = JSON.parse(logs[0]?.other ?? '{}')
    expect([logs.length, other.image_output]).toEqual([1, 2580])
    expect(logs[0]?.quota).toBe(Math.ceil(Number((0.15 * (12 + 2580 * other.image_completion_ratio)).toPrecision(12))))
    await requireBalancedBooks(server)
  })

  it('[237] a dropped request for URLs is reported to the caller; a strict token is refused', async () => {
    const { ask, server } = await sharedStage(() => ({ json: geminiImage('AAAA') }), { type: 24, models: 'gemini-image' })
    const answer = await ask({ model: 'gemini-image', prompt: 'a lock', response_format: 'url', style: 'vivid' }, generations)
    const strict = await addToken(server, { strict_translation: true })
    const odd = { model: 'gemini-image', prompt: 'a lock', 'a\r\nset-cookie: b': 1 }
    const refused = await askWith(server, strict.key, odd, generations)
    expect([refused.status, JSON.parse(refused.text).error.code]).toEqual([400, 'unsupported_parameter'])
    expect((await ask(odd, generations)).headers.get('x-sluice-dropped')).toBe('a??set-cookie:?b')
    expect([answer.headers.get('x-sluice-dropped'), JSON.parse(answer.text).data]).toEqual([
      'response_format, style',
      [{ b64_json: 'AAAA' }],
    ])
    expect(JSON.parse((await books(server)).logs[0]?.other ?? '{}')).toMatchObject({
      upstream_format: 'gemini.generate',
      dropped: ['response_format', 'style'],
    })
  })

  it('a blocked prompt is a mistake of the caller: no other channel is tried, and nothing is charged', async () => {
    const blocked = await directStage(kind, () => ({ json: { promptFeedback: { blockReason: 'PROHIBITED_CONTENT' } } }), {
      channel: { type: 24, models: 'gemini-image', priority: 10 },
      prices: { 'gemini-image': 0.04 },
    })
    await addChannel(blocked.server, { url: blocked.url, type: 24, models: 'gemini-image' })
    await setOptions(blocked.server, { RetryTimes: 3 })
    const answer = await blocked.ask({ model: 'gemini-image', prompt: 'x' }, generations)
    expect([answer.status, JSON.parse(answer.text).error.code, blocked.heard.length]).toEqual([
      400,
      'content_policy_violation',
      1,
    ])
    expect(await settledCharges(blocked.server)).toEqual([])
  })

  it('Imagen is called by its own method, four at a time', async () => {
    const { server, ask, heard } = await sharedStage(
      ({ body }) => {
        const { sampleCount } = body.parameters as { sampleCount: number }
        return { json: { predictions: Array(sampleCount).fill({ mimeType: 'image/png', bytesBase64Encoded: 'AAAA' }) } }
      },
      { type: 24, models: 'imagen-3.0-generate-002' },
    )
    const answer = await ask({ model: 'imagen-3.0-generate-002', prompt: 'a lock', n: 5, size: '1024x1024' }, generations)
    expect([answer.status, JSON.parse(answer.text).data.length]).toEqual([200, 5])
    expect(heard.map(({ path }) => path)).toEqual(Array(2).fill('/v1beta/models/imagen-3.0-generate-002:predict'))
    expect((await books(server)).logs.map(({ quota }) => quota)).toEqual([5 * 0.03 * unitsOfDollar])
  })

  it("Google's own client gets images of Imagen unchanged, charged for those that were not filtered", async () => {
    const big = 'A'.repeat(50_000)
    const {
      server,
      token,
      heard,
      ask: send,
    } = await sharedStage(
      () => ({
        json: {
          predictions: [
            { mimeType: 'image/png', bytesBase64Encoded: big },
            { raiFilteredReason: 'not this' },
            { mimeType: 'image/png', bytesBase64Encoded: big },
          ],
        },
      }),
      { type: 24, models: 'imagen-3.0-generate-002' },
    )
    const client = new GoogleGenAI({ apiKey: token.key, vertexai: true, httpOptions: { baseUrl: server.url } })
    const { generatedImages } = await client.models.generateImages({
      model: 'imagen-3.0-generate-002',
      prompt: 'a lock',
      config: { numberOfImages: 3 },
    })
    expect(generatedImages?.map(({ image }) => image?.imageBytes?.length)).toEqual([50_000, undefined, 50_000])
    expect(heard.map(({ path }) => path)).toEqual(['/v1beta/models/imagen-3.0-generate-002:predict'])
    expect((await books(server)).logs.map(({ quota }) => quota)).toEqual([2 * 0.03 * unitsOfDollar])
    for (const sampleCount of [0, 17, 1.5, 'x']) {
      const body = { instances: [{ prompt: 'x' }], parameters: { sampleCount } }
      const refused = await send(body, '/v1beta/models/imagen-3.0-generate-002:predict')
      expect([sampleCount, refused.status]).toEqual([sampleCount, 400])
    }
    await requireBalancedBooks(server)
  })

  it('[T197] the image of a task is waited for, and fetched for callers that request its bytes, if it is an image', async () => {
    const bytes = Buffer.from('GIF89a and so on')
    let asked = 0
    const { server, ask, heard, url } = await directStage(
      kind,
      ({ method, path }) => {
        if (path.startsWith('/made/')) return { bytes: path === '/made/1' ? bytes : '<html>gone</html>', type: 'image/png' }
        const output = { task_id: 'task-1', task_status: 'PENDING' }
        if (method === 'POST' || ++asked < 2) return { json: { output, request_id: 'r' } }
        const results = [{ url: `${url}/made/1` }, { url: `${url}/made/2` }, { code: 'InternalError', message: 'x' }]
        return { json: { output: { ...output, task_status: 'SUCCEEDED', results }, usage: { image_count: 2 } } }
      },
      { channel: { type: 17, models: 'wanx2.1-t2i-turbo' }, prices: { 'wanx2.1-t2i-turbo': 0.02 } },
    )
    const body = { model: 'wanx2.1-t2i-turbo', prompt: 'a lock', n: 3, size: '1024x1024' }
    const addressed = JSON.parse((await ask(body, generations)).text)
    expect(addressed.data).toEqual([{ url: `${url}/made/1` }, { url: `${url}/made/2` }])
    expect(heard.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'POST /api/v1/services/aigc/text2image/image-synthesis',
      'GET /api/v1/tasks/task-1',
      'GET /api/v1/tasks/task-1',
    ])
    expect(heard[0]?.headers['x-dashscope-async']).toBe('enable')
    expect(heard.every(({ headers }) => headers.authorization === 'Bearer upstream-key-0123456789')).toBe(true)

    openLoopback(server)
    const inline = JSON.parse((await ask({ ...body, response_format: 'b64_json' }, generations)).text)
    expect(inline.data).toEqual([{ b64_json: bytes.toString('base64') }])
    const fetched = heard.filter(({ path }) => path.startsWith('/made/'))
    expect(fetched.map(({ headers }) => headers.authorization)).toEqual([undefined, undefined])
    // Two images by URL; then only the one that could be fetched.
    expect((await books(server)).logs.map(({ quota }) => quota)).toEqual([2, 1].map((images) => images * 0.02 * unitsOfDollar))
    await requireBalancedBooks(server)
  })

  it('an address inside the network of the server is not fetched', async () => {
    const { server, ask, url, heard } = await sharedStage(() => ({ json: { created: 1, data: [{ url: `${url}/secret` }] } }), {
      type: 26,
      models: 'cogview-4',
    })
    const answer = await ask({ model: 'cogview-4', prompt: 'a lock', response_format: 'b64_json' }, generations)
    expect([answer.status, heard.map(({ path }) => path)]).toEqual([502, ['/api/paas/v4/images/generations']])
    expect(await settledCharges(server)).toEqual([])
  })

  it('a task that never ends is aborted at the deadline of the channel, and a failed one reports its reason', async () => {
    const reply = { value: { output: { task_id: 't', task_status: 'RUNNING' } } as object }
    const { server, ask } = await sharedStage(() => ({ json: reply.value }), {
      type: 17,
      models: 'wanx-v1',
      setting: JSON.stringify({ headers_timeout_ms: 1500 }),
    })
    const startedMs = performance.now()
    const late = await ask({ model: 'wanx-v1', prompt: 'a lock' }, generations)
    expect([late.status, performance.now() - startedMs < scaledByLoad(8000)]).toEqual([504, true])
    reply.value = { output: { task_id: 't', task_status: 'FAILED', code: 'DataInspectionFailed', message: 'not this' } }
    const failed = await ask({ model: 'wanx-v1', prompt: 'a lock' }, generations)
    expect([failed.status, JSON.parse(failed.text).error.message]).toEqual([400, expect.stringContaining('not this')])
    expect(await settledCharges(server)).toEqual([])
    await requireBalancedBooks(server)
  })

  it("a caller that disconnects while a task runs is charged the vendor's possible cost, and polling stops", async () => {
    const { server, token, heard } = await sharedStage(() => ({ json: { output: { task_id: 't', task_status: 'RUNNING' } } }), {
      type: 17,
      models: 'wanx-v1',
    })
    const leaving = new AbortController()
    const gone = post(server, token.key, { model: 'wanx-v1', prompt: 'a lock', n: 2 }, generations, { signal: leaving.signal })
    await eventually('the task is asked about', () => heard.some(({ method }) => method === 'GET'))
    leaving.abort()
    await expect(gone).rejects.toThrow()
    expect((await settledCharges(server)).map(({ amount }) => amount)).toEqual([2 * 0.02 * unitsOfDollar])
    const before = heard.length
    await new Promise((resolve) => setTimeout(resolve, 1500))
    expect(heard.length).toBe(before)
  })

  it('a caller that disconnects while several calls run: each of them is aborted', async () => {
    let broken = 0
    let open = 0
    const url = await httpUpstream((request, response) => {
      request.resume()
      open++
      response.on('close', () => broken++)
    })
    const { server, token } = await stage(kind, url, { channel: { type: 24, models: 'gemini-image' } })
    await setOptions(server, { ModelPrice: { 'gemini-image': 0.04 } })
    const leaving = new AbortController()
    const gone = post(server, token.key, { model: 'gemini-image', prompt: 'a lock', n: 8 }, generations, {
      signal: leaving.signal,
    })
    await eventually('five calls are open', () => open === 5)
    leaving.abort()
    await expect(gone).rejects.toThrow()
    await eventually('all of them are closed', () => broken === 5)
    expect((await settledCharges(server)).map(({ amount }) => amount)).toEqual([8 * 0.04 * unitsOfDollar])
    expect(open).toBe(5)
    await requireBalancedBooks(server)
  })

  it.each([
    ['no JSON', { bytes: '<html>', type: 'text/html' }, 502],
    ['nothing', { bytes: '', type: 'application/json' }, 502],
    ['half of it', { bytes: '{"candidates":[', type: 'application/json' }, 502],
    ['a list', { json: [1] }, 502],
    ['an error under a status of success', { json: { error: { code: 400, message: 'no', status: 'INVALID_ARGUMENT' } } }, 400],
    ['a refusal of the key', { json: { error: { code: 401, message: 'no' } }, status: 401 }, 503],
    ['too many requests', { json: { error: { code: 429, message: 'no' } }, status: 429 }, 429],
  ] as [string, ProgrammedReply, number][])('a vendor that answers with %s: nothing is charged', async (_name, told, status) => {
    const { server, ask } = await sharedStage(() => told, { type: 24, models: 'gemini-image' })
    expect((await ask({ model: 'gemini-image', prompt: 'a lock', n: 2 }, generations)).status).toBe(status)
    expect(await settledCharges(server)).toEqual([])
    await requireBalancedBooks(server)
  })

  it('all calls together must end within the total timeout', async () => {
    const { server, ask } = await sharedStage(() => undefined, {
      type: 24,
      models: 'gemini-image',
      setting: JSON.stringify({ total_timeout_ms: 1000 }),
    })
    const startedMs = performance.now()
    const answer = await ask({ model: 'gemini-image', prompt: 'a lock', n: 10 }, generations)
    expect([answer.status, performance.now() - startedMs < scaledByLoad(4000)]).toEqual([504, true])
    expect(await settledCharges(server)).toEqual([])
  })

  it('[238] edits: files in a form and URLs in JSON are converted for a vendor with another format', async () => {
    const site = await httpUpstream((_request, response) => {
      response.writeHead(200, { 'content-type': 'image/webp' })
      response.end('a picture from elsewhere')
    })
    const { server, token, ask, heard } = await directStage(kind, () => ({ json: geminiImage('AAAA') }), {
      channel: { type: 24, models: 'gemini-image' },
      prices: { 'gemini-image': 0.04 },
    })
    const client = new OpenAI({ apiKey: token.key, baseURL: `${server.url}/v1`, maxRetries: 0 })
    const pictures = ['one', 'two', 'three']
    const image = await Promise.all(
      pictures.map((name) => toFile(Buffer.from(`\x89PNG ${name}`, 'latin1'), `${name}.png`, { type: 'image/png' })),
    )
    const { data } = await client.images.edit({ model: 'gemini-image', prompt: 'join them', image, n: 1 })
    expect(data).toEqual([{ b64_json: 'AAAA' }])
    const partsOf = (at: number) =>
      arrayAt(heard[at]?.body ?? {}, 'contents').flatMap((content) => (isObject(content) ? arrayAt(content, 'parts') : []))
    expect(partsOf(0)).toEqual([
      ...pictures.map((name) => ({
        inlineData: { mimeType: 'image/png', data: Buffer.from(`\x89PNG ${name}`, 'latin1').toString('base64') },
      })),
      { text: 'join them' },
    ])

    const body = { model: 'gemini-image', prompt: 'change it', images: [{ image_url: `${site}/x.webp` }] }
    expect((await ask(body, '/v1/images/edits')).status).toBe(400)
    openLoopback(server)
    expect((await ask(body, '/v1/images/edits')).status).toBe(200)
    expect(partsOf(1)).toEqual([
      { inlineData: { mimeType: 'image/webp', data: Buffer.from('a picture from elsewhere').toString('base64') } },
      { text: 'change it' },
    ])
    expect((await books(server)).logs.map(({ quota }) => quota)).toEqual(Array(2).fill(0.04 * unitsOfDollar))
  })

  it('[238] edits: a form passes with all its files and their names in order, and without members that the model refuses', async () => {
    const bodies: FormData[] = []
    const { server, token } = await sharedStage(
      async ({ bytes, headers }) => {
        bodies.push(
          await new Response(new Uint8Array(bytes), { headers: { 'content-type': String(headers['content-type']) } }).formData(),
        )
        return {
          json: { created: 1, data: [{ b64_json: 'AAAA' }], usage: { input_tokens: 10, output_tokens: 20, total_tokens: 30 } },
        }
      },
      { models: 'gpt-image-1' },
    )
    const form = new FormData()
    form.append('model', 'gpt-image-1')
    for (const name of ['a', 'b', 'c']) form.append('image[]', new Blob([`image ${name}`], { type: 'image/png' }), `${name}.png`)
    form.append('mask', new Blob(['mask'], { type: 'image/png' }), 'mask.png')
    form.append('response_format', 'b64_json')
    form.append('prompt', 'join them')
    const answer = await fetch(`${server.url}/v1/images/edits`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token.key}` },
      body: form,
    })
    expect(answer.status).toBe(200)
    const sent = await Promise.all(
      [...(bodies[0] ?? [])].map(async ([name, value]) => [
        name,
        typeof value === 'string' ? value : `${value.name}: ${await value.text()}`,
      ]),
    )
    expect(sent).toEqual([
      ['model', 'gpt-image-1'],
      ['image[]', 'a.png: image a'],
      ['image[]', 'b.png: image b'],
      ['image[]', 'c.png: image c'],
      ['mask', 'mask.png: mask'],
      ['prompt', 'join them'],
    ])
  })

  it('a stream passes byte for byte except its end, which waits for the charge; both majors of the SDK read it', async () => {
    const stream = fixture('openai-other/images_stream.sse')
    const { server, token, ask } = await sharedStage(() => ({ bytes: stream, type: 'text/event-stream' }), {
      models: 'gpt-image-1',
    })
    const body = { model: 'gpt-image-1', prompt: 'a lock', stream: true, partial_images: 1 }
    expect((await ask(body, generations)).text).toBe(stream.toString())
    // The calls used here are the same in both majors; their types only differ in name.
    for (const Client of [OpenAI, OpenAI6 as unknown as typeof OpenAI]) {
      const client = new Client({ apiKey: token.key, baseURL: `${server.url}/v1`, maxRetries: 0 })
      const events: string[] = []
      for await (const event of await client.images.generate({ model: 'gpt-image-1', prompt: 'a lock', stream: true }))
        events.push(`${event.type} ${event.b64_json}`)
      expect(events).toEqual(['image_generation.partial_image AA==', 'image_generation.completed AAA='])
    }
    const { logs } = await books(server)
    const { image_completion_ratio: ratio } = JSON.parse(logs[0]?.other ?? '{}')
    expect(logs.map(({ quota }) => quota)).toEqual(Array(3).fill(5 * (12 + 272 * ratio)))
    await requireBalancedBooks(server)
  })

  it('a stream that is cut off before its image is complete ends with an error', async () => {
    const whole = fixture('openai-other/images_stream.sse').toString()
    const partial = `${whole.split('\n\n')[0]}\n\n`
    const { server, ask } = await sharedStage(() => ({ bytes: partial, type: 'text/event-stream' }), { models: 'gpt-image-1' })
    const { text } = await ask({ model: 'gpt-image-1', prompt: 'a lock', stream: true }, generations)
    expect(text.startsWith(partial)).toBe(true)
    expect(text.slice(partial.length)).toContain('"error"')
    await requireBalancedBooks(server)
  })

  it('a caller that requested a stream gets one from a vendor without streaming', async () => {
    const { server, token } = await sharedStage(() => ({ json: geminiImage('AAAA') }), { type: 24, models: 'gemini-image' })
    const client = new OpenAI({ apiKey: token.key, baseURL: `${server.url}/v1`, maxRetries: 0 })
    const events: unknown[] = []
    for await (const event of await client.images.generate({ model: 'gemini-image', prompt: 'a lock', stream: true }))
      events.push(event)
    expect(events).toMatchObject([{ type: 'image_generation.completed', b64_json: 'AAAA', usage: { output_tokens: 1290 } }])
    expect((await books(server)).logs.map(({ quota }) => quota)).toEqual([0.04 * unitsOfDollar])
  })

  it('[236] [220] the returned images of a large answer are counted without parsing it', async () => {
    const image = 'A'.repeat(400_000)
    const reply = (count: number) =>
      `{"created":1,"data":[${Array(count).fill(`{"b64_json":"${image}","revised_prompt":"a \\"]lock"}`).join(',')}]}`
    const { server, ask } = await sharedStage(
      (_heard, count) => ({ bytes: reply(count === 1 ? 3 : 0), type: 'application/json' }),
      { models: 'dall-e-2' },
    )
    const answer = await ask({ model: 'dall-e-2', prompt: 'a lock', n: 4 }, generations)
    expect(answer.text).toBe(reply(3))
    expect((await ask({ model: 'dall-e-2', prompt: 'a lock', n: 4 }, generations)).status).toBe(502)
    expect((await books(server)).logs.map(({ quota }) => quota)).toEqual([3 * 0.02 * unitsOfDollar])
    await requireBalancedBooks(server)
  })

  it.each([
    [26, 'cogview-4', '/api/paas/v4/images/generations', { created: 1, data: [{ url: 'https://x/1.png' }] }],
    [40, 'Qwen/Qwen-Image', '/v1/images/generations', { images: [{ url: 'https://x/1.png' }], timings: {}, seed: 1 }],
    [
      45,
      'doubao-seedream-4-0',
      '/api/v3/images/generations',
      { model: 'm', created: 1, data: [{ url: 'https://x/1.png', size: '1x1' }] },
    ],
    [48, 'grok-2-image', '/v1/images/generations', { created: 1, data: [{ url: 'https://x/1.png' }] }],
    [
      17,
      'qwen-image',
      '/api/v1/services/aigc/multimodal-generation/generation',
      { output: { choices: [{ message: { content: [{ image: 'https://x/1.png' }] } }] } },
    ],
  ])('type %i: %s is called at its own URL and charged by the image', async (type, model, path, reply) => {
    const { server, ask, heard } = await sharedStage(() => ({ json: reply }), { type, models: model })
    const answer = await ask({ model, prompt: 'a lock', size: '1024x1024', quality: 'hd' }, generations)
    expect([answer.status, JSON.parse(answer.text).data.map(({ url }: { url: string }) => url)]).toEqual([
      200,
      ['https://x/1.png'],
    ])
    expect(heard.map((one) => one.path)).toEqual([path])
    expect((await books(server)).logs.map(({ quota }) => quota)).toEqual([0.01 * unitsOfDollar])
  })
})
