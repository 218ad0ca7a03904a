import { describe, expect, it } from 'vitest'
import { conversionOfTest, convertOfTest, failureOf } from '../../../../../test/helpers/conversions.ts'
import { fixture } from '../../../../../test/helpers/upstream.ts'
import { noUsage, type Usage } from '../../../../contract/usage.ts'
import type { Format } from '../format.ts'
import { objectAt, type UploadedFile } from '../wire-format.ts'
import { openAiImages } from './images.ts'

const png = Buffer.from('\x89PNG\r\n\x1a\nimage', 'latin1')
const asked = (more: Record<string, unknown> = {}) => ({ model: 'asked', prompt: 'a lock', ...more })
const file = (field: string, bytes = png): UploadedFile => ({ field, name: `${field}.png`, mediaType: 'image/png', bytes })

describe('the cost of images', () => {
  const facts = (more: Record<string, unknown> = {}) => openAiImages.readRequest({ model: 'dall-e-3', prompt: 'x', ...more })

  it('[220] [236] each returned image is charged by its size and quality, regardless of the requested number', () => {
    const paid = (images: number, more: Record<string, unknown>) =>
      openAiImages.readUsage({ data: Array(images).fill({ url: 'x' }) }, facts(more))?.calls
    expect([paid(1, {}), paid(4, { n: 4 }), paid(2, { n: 4 }), paid(0, { n: 4 })]).toEqual([1, 4, 2, 0])
    expect(paid(2, { n: 2, size: '1024x1792', quality: 'hd' })).toBe(6)
    // A host with its own member for the number of images.
    expect([paid(4, { n: 1, batch_size: 4 }), paid(5000, { n: 1 })]).toEqual([4, 10])
  })

  it('in a stream each completed image is counted, and the last reported token counts apply', () => {
    const done = (more: object = {}) => ({ type: 'image_generation.completed', b64_json: 'AA', ...more })
    const usage = { input_tokens: 12, output_tokens: 272 }
    const told = (...events: Record<string, unknown>[]) =>
      events.reduce<Usage | undefined>((before, event) => openAiImages.stream?.readUsage(event, before), undefined)
    expect(told({ type: 'image_generation.partial_image', b64_json: 'A' })).toBeUndefined()
    expect(told(done({ usage }))).toEqual({ ...noUsage, input: 12, imageOutput: 272 })
    expect(told(done({ usage }), done({ usage }), done({ usage }))).toMatchObject({ input: 12, calls: 3 })
    expect(told(done(), done())).toEqual({ ...noUsage, input: 2500, calls: 2 })
  })

  it('a failed image is not charged', () => {
    const data = [{ url: 'x' }, { error: { code: 'x' } }]
    expect(openAiImages.readUsage({ data }, facts({ n: 2 }))?.calls).toBe(1)
  })

  it('images are charged by tokens if the upstream reports them', () => {
    const reply = JSON.parse(fixture('openai-other/images.json').toString())
    expect(openAiImages.readUsage(reply, facts())).toEqual({ ...noUsage, input: 12, imageOutput: 272 })
  })
})

describe('images by Gemini', () => {
  const image = (data: string, more: object = {}) => ({
    candidates: [
      { content: { parts: [{ text: 'Here.' }, { inlineData: { mimeType: 'image/png', data } }] }, finishReason: 'STOP' },
    ],
    ...more,
  })
  const usage = (prompt: number, made: number) => ({
    promptTokenCount: prompt,
    candidatesTokenCount: made + 3,
    totalTokenCount: prompt + made + 3,
    candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: made }],
  })

  it('[236] several images are requested in several calls of one image each', () => {
    const { bodies, plan, read } = convertOfTest('openai.images', 'gemini.generate', asked({ n: 3 }))
    const body = {
      contents: [{ role: 'user', parts: [{ text: 'a lock' }] }],
      generationConfig: { responseModalities: ['TEXT', 'IMAGE'] },
    }
    expect([bodies, plan.takesSome]).toEqual([[body, body, body], true])
    expect(read(image('AAA', { usageMetadata: usage(5, 1290) }), image('BBB', { usageMetadata: usage(5, 1290) }))).toEqual({
      created: 1_700_000_000,
      data: [{ b64_json: 'AAA' }, { b64_json: 'BBB' }],
      output_format: 'png',
      usage: {
        input_tokens: 10,
        input_tokens_details: { text_tokens: 10, image_tokens: 0 },
        output_tokens: 2586,
        output_tokens_details: { text_tokens: 6, image_tokens: 2580 },
        total_tokens: 2596,
      },
    })
  })

  it('[237] an image is returned as bytes if the vendor gives no URL, which is reported', () => {
    const { lost } = convertOfTest(
      'openai.images',
      'gemini.generate',
      asked({ response_format: 'url', quality: 'hd', style: 'vivid' }),
    )
    expect(lost).toEqual(['quality', 'response_format', 'style'])
    expect(convertOfTest('openai.images', 'gemini.generate', asked({ response_format: 'b64_json' })).lost).toEqual([])
  })

  it('sizes become aspect ratios; a size without an exact ratio is reported as lost', () => {
    const configOf = (size: string, upstreamModel = 'gemini-3-pro-image') => {
      const { bodies, lost } = convertOfTest('openai.images', 'gemini.generate', asked({ size }), { upstreamModel })
      return [objectAt(objectAt(bodies[0] ?? {}, 'generationConfig') ?? {}, 'imageConfig'), lost]
    }
    expect(configOf('1024x1024')).toEqual([{ aspectRatio: '1:1' }, []])
    expect(configOf('1536x1024')).toEqual([{ aspectRatio: '3:2' }, []])
    expect(configOf('1792x1024')).toEqual([{ aspectRatio: '16:9' }, ['size']])
    expect(configOf('2048x2048')).toEqual([{ aspectRatio: '1:1', imageSize: '2K' }, []])
    expect(configOf('2048x2048', 'gemini-2.5-flash-image')).toEqual([{ aspectRatio: '1:1' }, []])
    expect(configOf('auto')).toEqual([undefined, []])
  })

  it('[238] all input images of an edit are sent, from a form and from JSON', () => {
    const files = [file('image[]'), file('image[]'), file('image[]')]
    const inline = { inlineData: { mimeType: 'image/png', data: png.toString('base64') } }
    const form = convertOfTest('openai.image-edits', 'gemini.generate', asked({ n: '2' }), { files })
    expect(form.bodies).toHaveLength(2)
    expect(form.bodies[0]).toMatchObject({ contents: [{ parts: [inline, inline, inline, { text: 'a lock' }] }] })

    const body = asked({
      images: [{ image_url: 'https://x/1.png' }, { image_url: `data:image/png;base64,${png.toString('base64')}` }],
    })
    expect(conversionOfTest('openai.image-edits', 'gemini.generate').addressesIn?.(body)).toEqual(['https://x/1.png'])
    const fetched = new Map([['https://x/1.png', { mediaType: 'image/webp', data: 'WWWW' }]])
    const json = convertOfTest('openai.image-edits', 'gemini.generate', body, { fetched })
    expect(json.bodies[0]).toMatchObject({
      contents: [{ parts: [{ inlineData: { mimeType: 'image/webp', data: 'WWWW' } }, inline, { text: 'a lock' }] }],
    })
  })

  it('a mask is refused: everything would be painted over', () => {
    const files = [file('image'), file('mask')]
    for (const to of ['gemini.generate', 'siliconflow.images', 'volcengine.images', 'dashscope.image-messages'] as const)
      expect(failureOf(() => convertOfTest('openai.image-edits', to, asked(), { files }))).toMatchObject({
        code: 'untranslatable',
        params: { field: 'mask' },
      })
  })

  it("a blocked request is the caller's error, a reply without image the upstream's", () => {
    const { answer } = convertOfTest('openai.images', 'gemini.generate', asked())
    expect(answer({ promptFeedback: { blockReason: 'PROHIBITED_CONTENT' } })).toMatchObject({ error: { status: 400 } })
    expect(answer({ candidates: [{ finishReason: 'IMAGE_SAFETY' }] })).toMatchObject({
      error: { status: 400, code: 'content_policy_violation' },
    })
    const words = { candidates: [{ content: { parts: [{ text: 'I would rather not.' }] }, finishReason: 'STOP' }] }
    expect(answer(words)).toMatchObject({ error: { status: 0, message: 'it made no image: I would rather not.' } })
    expect(answer({})).toMatchObject({ kind: 'refused' })
  })
})

describe('images by Imagen', () => {
  it('[236] up to four are requested per call', () => {
    const { bodies, read } = convertOfTest(
      'openai.images',
      'gemini.predict',
      asked({ n: 6, size: '1024x1024', output_format: 'jpeg' }),
    )
    const body = (sampleCount: number) => ({
      instances: [{ prompt: 'a lock' }],
      parameters: { sampleCount, aspectRatio: '1:1', outputOptions: { mimeType: 'image/jpeg' } },
    })
    expect(bodies).toEqual([body(4), body(2)])
    const made = (data: string) => ({ mimeType: 'image/png', bytesBase64Encoded: data })
    const filtered = { raiFilteredReason: 'no' }
    expect(read({ predictions: [made('A'), filtered] }, { predictions: [made('B')] })).toEqual({
      created: 1_700_000_000,
      data: [{ b64_json: 'A' }, { b64_json: 'B' }],
    })
  })

  it('the reason is reported when all are filtered', () => {
    const { answer } = convertOfTest('openai.images', 'gemini.predict', asked())
    expect(answer({ predictions: [{ raiFilteredReason: 'not this' }] })).toMatchObject({
      error: { status: 400, message: 'not this' },
    })
    expect(answer({})).toMatchObject({ error: { status: 400 } })
  })
})

describe('images by Alibaba', () => {
  it('a task is polled until its image is done', () => {
    const { bodies, plan, read } = convertOfTest('openai.images', 'dashscope.images', asked({ n: 5, size: '1024x768', seed: 7 }))
    const body = (n: number) => ({
      model: 'theirs',
      input: { prompt: 'a lock' },
      parameters: { size: '1024*768', n, seed: 7 },
    })
    expect(bodies).toEqual([body(4), body(1)])
    const task = (task_status: string, more: object = {}) => ({
      output: { task_id: 't-1', task_status, ...more },
      request_id: 'r',
    })
    expect(['PENDING', 'RUNNING', 'SUSPENDED'].map((status) => plan.pendingTask?.(task(status)))).toEqual(['t-1', 't-1', 't-1'])
    expect(['SUCCEEDED', 'FAILED', 'CANCELED', 'UNKNOWN', ''].map((status) => plan.pendingTask?.(task(status)))).toEqual(
      Array(5).fill(undefined),
    )
    const results = [{ url: 'https://x/1.png' }, { code: 'InternalError.Timeout', message: 'late' }]
    expect(read(task('SUCCEEDED', { results }))).toEqual({ created: 1_700_000_000, data: [{ url: 'https://x/1.png' }] })
  })

  it('a failed task reports its reason, and whether the caller or the upstream caused it', () => {
    const { answer } = convertOfTest('openai.images', 'dashscope.images', asked())
    const failed = (code: string) => ({ output: { task_id: 't', task_status: 'FAILED', code, message: 'because' } })
    expect(answer(failed('DataInspectionFailed'))).toMatchObject({ error: { status: 400, message: 'because' } })
    expect(answer(failed('InternalError'))).toMatchObject({ error: { status: 0, code: 'InternalError' } })
    expect(answer({ output: { task_status: 'UNKNOWN' } })).toMatchObject({ kind: 'refused' })
  })

  it('newer models return images without a task, as in a conversation, and accept input images', () => {
    const { bodies, read } = convertOfTest(
      'openai.image-edits',
      'dashscope.image-messages',
      asked({ n: 2, image: ['https://x/1.png', 'https://x/2.png'] }),
      { upstreamModel: 'qwen-image-edit-plus' },
    )
    expect(bodies).toEqual([
      {
        model: 'qwen-image-edit-plus',
        input: {
          messages: [{ role: 'user', content: [{ image: 'https://x/1.png' }, { image: 'https://x/2.png' }, { text: 'a lock' }] }],
        },
        parameters: { n: 2 },
      },
    ])
    const content = [{ image: 'https://y/1.png' }, { image: 'https://y/2.png' }]
    expect(read({ output: { choices: [{ message: { role: 'assistant', content } }] } }).data).toEqual([
      { url: 'https://y/1.png' },
      { url: 'https://y/2.png' },
    ])
    const single = convertOfTest('openai.images', 'dashscope.image-messages', asked({ n: 2 }), { upstreamModel: 'qwen-image' })
    expect(single.bodies.map(({ parameters }) => parameters)).toEqual([{}, {}])
  })
})

describe('images by SiliconFlow', () => {
  it('requests have its own members; only one model returns several images per call', () => {
    const { bodies, read, plan } = convertOfTest(
      'openai.images',
      'siliconflow.images',
      asked({ n: 3, size: '960x1280', response_format: 'b64_json', batch_size: 4, num_inference_steps: 20 }),
      { upstreamModel: 'Kwai-Kolors/Kolors' },
    )
    expect(bodies).toEqual([
      { model: 'Kwai-Kolors/Kolors', prompt: 'a lock', image_size: '960x1280', batch_size: 3, num_inference_steps: 20 },
    ])
    expect(plan.inlinesImages).toBe(true)
    expect(read({ images: [{ url: 'https://x/1' }], data: [{ url: 'https://x/1' }], timings: {} }).data).toEqual([
      { url: 'https://x/1' },
    ])
    const other = convertOfTest('openai.images', 'siliconflow.images', asked({ n: 3 }), { upstreamModel: 'Qwen/Qwen-Image' })
    expect(other.bodies).toEqual(Array(3).fill({ model: 'Qwen/Qwen-Image', prompt: 'a lock' }))
  })

  it('[238] each input image has its own member; those beyond the last member are reported as lost', () => {
    const { bodies, lost } = convertOfTest('openai.image-edits', 'siliconflow.images', asked(), {
      files: [1, 2, 3, 4].map(() => file('image')),
    })
    const url = `data:image/png;base64,${png.toString('base64')}`
    expect(bodies).toEqual([{ model: 'theirs', prompt: 'a lock', image: url, image2: url, image3: url }])
    expect(lost).toEqual(['image'])
  })
})

describe('images by Zhipu', () => {
  it('[236] one is requested per call, with its own members', () => {
    const { bodies, read } = convertOfTest(
      'openai.images',
      'zhipu.images',
      asked({ n: 2, quality: 'high', size: '1024x1024', user: 'user-123456' }),
    )
    const body = { model: 'theirs', prompt: 'a lock', size: '1024x1024', quality: 'hd', user_id: 'user-123456' }
    expect(bodies).toEqual([body, body])
    expect(read({ created: 1, data: [{ url: 'https://x/1' }] }, { data: [{ url: 'https://x/2' }] }).data).toEqual([
      { url: 'https://x/1' },
      { url: 'https://x/2' },
    ])
  })
})

describe('images by VolcEngine', () => {
  it('[236] [237] one is requested per call, as a URL or as bytes as the caller requested', () => {
    const { bodies, read } = convertOfTest(
      'openai.images',
      'volcengine.images',
      asked({ n: 2, size: '2K', response_format: 'b64_json' }),
    )
    const body = { model: 'theirs', prompt: 'a lock', size: '2K', response_format: 'b64_json' }
    expect(bodies).toEqual([body, body])
    expect(read({ data: [{ b64_json: 'AA', size: '2048x2048' }] }, { data: [{ error: { code: 'x' } }] }).data).toEqual([
      { b64_json: 'AA' },
    ])
    expect(convertOfTest('openai.images', 'volcengine.images', asked()).bodies[0]?.response_format).toBe('url')
  })

  it("a series is one call, limited to the caller's number of images", () => {
    const { bodies } = convertOfTest(
      'openai.images',
      'volcengine.images',
      asked({ n: 3, sequential_image_generation: 'auto', sequential_image_generation_options: { max_images: 15 } }),
    )
    expect(bodies).toEqual([
      {
        model: 'theirs',
        prompt: 'a lock',
        response_format: 'url',
        sequential_image_generation: 'auto',
        sequential_image_generation_options: { max_images: 3 },
      },
    ])
  })
})

describe('images by Cloudflare', () => {
  it('one is requested per call, and returned as bytes', () => {
    const { bodies, lost, read } = convertOfTest('openai.images', 'cloudflare.run', asked({ n: 2, size: '512x512', seed: 3 }))
    expect([bodies, lost]).toEqual([Array(2).fill({ prompt: 'a lock', seed: 3 }), ['size']])
    expect(read({ result: { image: 'AA' }, success: true }).data).toEqual([{ b64_json: 'AA' }])
  })
})

describe('sizes beside an aspect ratio', () => {
  const ratioOf = { aspect_ratio: '16:9', size: '1024x1024' }
  const targets = ['minimax.images', 'gemini.generate', 'gemini.predict'] as const

  it.each(targets)('%s: the ratio is sent, and a size of another one is reported as lost', (to) => {
    const upstreamModel = to === 'gemini.generate' ? 'gemini-3-pro-image' : 'theirs'
    const convert = (more: Record<string, unknown>) => convertOfTest('openai.images', to, asked(more), { upstreamModel })
    expect(convert(ratioOf).lost).toEqual(['size'])
    expect(JSON.stringify(convert(ratioOf).bodies)).toContain('16:9')
    expect(convert({ ...ratioOf, size: '1280x720' }).lost).toEqual([])
  })
})

describe('images by MiniMax', () => {
  it('[236] up to nine are requested per call, with its own members', () => {
    const { bodies, read } = convertOfTest(
      'openai.images',
      'minimax.images',
      asked({ n: 10, size: '1024x1024', response_format: 'b64_json', seed: 7 }),
    )
    const body = (n: number) => ({
      model: 'theirs',
      prompt: 'a lock',
      n,
      response_format: 'base64',
      aspect_ratio: '1:1',
      seed: 7,
    })
    expect(bodies).toEqual([body(9), body(1)])
    expect(read({ data: { image_base64: ['A', 'B'] } }, { data: { image_urls: ['https://x/1'] } }).data).toEqual([
      { b64_json: 'A' },
      { b64_json: 'B' },
      { url: 'https://x/1' },
    ])
  })
})

describe('edits by Grok', () => {
  it('[238] are sent as JSON instead of a form, with every image', () => {
    const url = `data:image/png;base64,${png.toString('base64')}`
    const several = convertOfTest('openai.image-edits', 'xai.image-edits', asked({ n: '2', size: '1024x1536' }), {
      files: [file('image[]'), file('image[]')],
    })
    const image = { type: 'image_url', url }
    const body = { model: 'theirs', prompt: 'a lock', response_format: 'url' }
    expect(several.bodies).toEqual([{ ...body, n: 2, images: [image, image], aspect_ratio: '2:3' }])
    const single = convertOfTest('openai.image-edits', 'xai.image-edits', asked(), { files: [file('image')] })
    expect(single.bodies).toEqual([{ ...body, n: 1, image }])
    expect(single.read({ data: [{ url: 'https://x/1', revised_prompt: '' }] }).data).toEqual([{ url: 'https://x/1' }])
  })
})

describe('any request for images', () => {
  const targets: Format[] = [
    'gemini.generate',
    'gemini.predict',
    'dashscope.images',
    'dashscope.image-messages',
    'siliconflow.images',
    'zhipu.images',
    'volcengine.images',
    'cloudflare.run',
    'minimax.images',
  ]

  it.each(targets)('%s: malformed replies are refused without throwing', (to) => {
    const { answer } = convertOfTest('openai.images', to, asked())
    const odd = [{}, { data: 7 }, { data: [null, 7, {}] }, { images: [{}] }, { output: { results: [1], choices: [{}] } }]
    for (const reply of [...odd, { predictions: [null] }, { candidates: [null, {}] }, { result: { image: 7 } }])
      expect(answer(reply).kind).toBe('refused')
  })

  it.each(targets)('%s: invalid images are refused', (to) => {
    expect(failureOf(() => convertOfTest('openai.images', to, asked({ images: [{ file_id: 'file-1' }] })))).toMatchObject({
      code: 'untranslatable',
    })
  })
})
