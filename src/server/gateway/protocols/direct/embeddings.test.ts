import { describe, expect, it } from 'vitest'
import { conversionOfTest, convertOfTest, failureOf } from '../../../../../test/helpers/conversions.ts'
import { fixture } from '../../../../../test/helpers/upstream.ts'
import { openAiEmbeddings } from './embeddings.ts'
import { readVector, vectorToBase64 } from './vectors.ts'

const asked = (more: Record<string, unknown> = {}) => ({ model: 'm', input: ['a', 'b'], ...more })
/** The fixtures have one vector. */
const askedOne = (more: Record<string, unknown> = {}) => asked({ input: 'a', ...more })
const reply = (...data: unknown[]) =>
  Buffer.from(JSON.stringify({ object: 'list', data, model: 'm', usage: { prompt_tokens: 4 } }))
const entry = (index: number | undefined, embedding: unknown) => ({ object: 'embedding', index, embedding })
const mend = (body: Buffer, request: Record<string, unknown>) => {
  const mended = openAiEmbeddings.mendReply?.(body, request)
  return mended && JSON.parse(mended.toString())
}

describe('vectors', () => {
  it('[221] are base64 of 32-bit floats, little-endian', () => {
    expect(vectorToBase64([0.5, -0.25, 1])).toBe('AAAAPwAAgL4AAIA/')
    expect(readVector('AAAAPwAAgL4AAIA/')).toEqual([0.5, -0.25, 1])
    expect(readVector([1, 2])).toEqual([1, 2])
  })

  it('keep their length and, within the precision of such floats, their numbers', () => {
    const vector = Array.from({ length: 1536 }, (_, at) => Math.sin(at) / 7)
    const back = readVector(vectorToBase64(vector)) ?? []
    expect(back).toEqual(vector.map(Math.fround))
  })

  it('are undefined for any other value', () => {
    for (const odd of [undefined, null, '', 'AAAA', 'not base64 at all!', [], [[1]], [1, '2'], {}, 7])
      expect([odd, readVector(odd)]).toEqual([odd, undefined])
  })
})

describe('an answer with embeddings', () => {
  const floats = fixture('openai-other/embeddings_float.json')
  const base64 = fixture('openai-other/embeddings_base64.json')

  it('[221] becomes base64 for a caller that requested it, when the upstream sent numbers', () => {
    const { data, usage } = mend(floats, askedOne({ encoding_format: 'base64' }))
    expect([data, usage]).toEqual([JSON.parse(base64.toString()).data, JSON.parse(floats.toString()).usage])
  })

  it('[222] [223] becomes numbers for a caller that requested them or nothing, when the upstream sent base64', () => {
    for (const request of [askedOne(), askedOne({ encoding_format: 'float' })])
      expect(mend(base64, request).data).toEqual(JSON.parse(floats.toString()).data)
  })

  it('[264] is unchanged when it already has the requested encoding', () => {
    expect(mend(floats, askedOne())).toBeUndefined()
    expect(mend(floats, askedOne({ encoding_format: 'float' }))).toBeUndefined()
    expect(mend(base64, askedOne({ encoding_format: 'base64' }))).toBeUndefined()
  })

  it('[224] is sorted by the order of the inputs', () => {
    const shuffled = reply(entry(2, [3]), entry(0, [1]), entry(1, [2]))
    expect(mend(shuffled, asked()).data).toEqual([entry(0, [1]), entry(1, [2]), entry(2, [3])])
  })

  it('[224] gets indices by its order when a host sends none, or the same for all', () => {
    const told = [entry(0, [1]), entry(1, [2])]
    expect(mend(reply(entry(undefined, [1]), entry(undefined, [2])), asked()).data).toEqual(told)
    expect(mend(reply(entry(0, [1]), entry(0, [2])), asked()).data).toEqual(told)
  })

  it('is a failure of the host when it has fewer vectors than inputs, or an empty one', () => {
    const faulty = [
      reply(entry(0, [1])),
      reply(entry(0, [1]), entry(1, null)),
      reply(entry(0, []), entry(1, [1])),
      reply(entry(0, ''), entry(1, 'AAAA')),
      reply({ index: 0 }, { embedding: [1], object: 'embedding' }),
    ]
    for (const body of faulty) expect(failureOf(() => mend(body, asked()))).toMatchObject({ code: 'upstream_failed' })
    expect(mend(reply(entry(0, [1])), asked({ input: [1, 2, 3] }))).toBeUndefined()
    expect(mend(reply(entry(0, [1])), asked({ input: [{ text: 'a' }, { image: 'b' }] }))).toBeUndefined()
    expect(mend(reply({ embedding: [1], index: 0, object: 'embedding' }), askedOne())).toBeUndefined()
  })

  it('[228] is refused when the host ignored the number of dimensions', () => {
    expect(failureOf(() => mend(floats, askedOne({ dimensions: 2 })))).toMatchObject({
      code: 'untranslatable',
      params: { field: 'dimensions' },
    })
    expect(mend(floats, askedOne({ dimensions: 3 }))).toBeUndefined()
    expect(mend(base64, askedOne({ dimensions: 3, encoding_format: 'base64' }))).toBeUndefined()
  })

  it('is unchanged if the caller requests bits or bytes, or if it has no vectors', () => {
    expect(mend(base64, askedOne({ embedding_type: 'binary' }))).toBeUndefined()
    expect(mend(base64, askedOne({ output_dtype: 'int8' }))).toBeUndefined()
    for (const odd of ['{"data":[]}', '{"error":{"message":"no"}}', '{"data":7}', '[]', '{"data":[1'])
      expect(mend(Buffer.from(odd), asked({ encoding_format: 'base64' }))).toBeUndefined()
  })

  it('of many vectors is checked without parsing its numbers', () => {
    const vector = JSON.stringify(Array.from({ length: 1536 }, (_, at) => at / 1536))
    const entries = Array.from({ length: 200 }, (_, index) => `{"object":"embedding","embedding":${vector},"index":${index}}`)
    const body = Buffer.from(`{"object":"list","data":[${entries.join(',')}]}`)
    expect(mend(body, asked())).toBeUndefined()
    expect(mend(body, asked({ encoding_format: 'base64' })).data).toHaveLength(200)
  })
})

describe('embeddings by another vendor', () => {
  const vectors = [
    [0.5, -0.25],
    [1, 0],
  ]
  const openAi = (more: Record<string, unknown> = {}) => ({ model: 'asked', input: ['one', 'two'], ...more })
  const told = (usage: object | undefined) => ({
    object: 'list',
    model: 'asked',
    data: vectors.map((embedding, index) => ({ object: 'embedding', index, embedding })),
    ...(usage ? { usage } : {}),
  })

  it('[226] Gemini: a list becomes one batch, a single text a single request', () => {
    const batch = convertOfTest('openai.embeddings', 'gemini.batch_embed', openAi({ dimensions: 2, input_type: 'query' }))
    const content = (text: string) => ({
      content: { parts: [{ text }] },
      taskType: 'RETRIEVAL_QUERY',
      outputDimensionality: 2,
    })
    expect(batch.bodies).toEqual([
      {
        requests: [
          { model: 'models/theirs', ...content('one') },
          { model: 'models/theirs', ...content('two') },
        ],
      },
    ])
    const answered = { embeddings: vectors.map((values) => ({ values })), usageMetadata: { promptTokenCount: 7 } }
    expect(batch.read(answered)).toEqual(told({ prompt_tokens: 7, total_tokens: 7 }))

    const batched = conversionOfTest('openai.embeddings', 'gemini.batch_embed')
    expect([batched.fits?.(openAi()), batched.fits?.(openAi({ input: 'one' }))]).toEqual([true, false])
    const single = convertOfTest('openai.embeddings', 'gemini.embed', openAi({ input: 'one' }))
    expect(single.bodies).toEqual([{ content: { parts: [{ text: 'one' }] } }])
    expect(single.read({ embedding: { values: [1, 0] } })).toEqual({
      object: 'list',
      model: 'asked',
      data: [{ object: 'embedding', index: 0, embedding: [1, 0] }],
    })
  })

  it('[226] Gemini: more than a hundred texts are split into several batches, in order', () => {
    const input = Array.from({ length: 230 }, (_, at) => `text ${at}`)
    const { bodies, read } = convertOfTest('openai.embeddings', 'gemini.batch_embed', openAi({ input }))
    expect(bodies.map((body) => (body.requests as unknown[]).length)).toEqual([100, 100, 30])
    const replies = bodies.map((body, at) => ({
      embeddings: (body.requests as unknown[]).map((_, inner) => ({ values: [at * 100 + inner] })),
    }))
    const { data } = read(...replies) as { data: { index: number; embedding: number[] }[] }
    expect(data.every(({ index, embedding }) => embedding[0] === index)).toBe(true)
  })

  it('[221] base64 is written for callers that requested it', () => {
    const { read } = convertOfTest('openai.embeddings', 'ollama.embed', openAi({ encoding_format: 'base64' }))
    expect(read({ embeddings: vectors, prompt_eval_count: 3 })).toMatchObject({
      data: vectors.map((vector) => ({ embedding: vectorToBase64(vector) })),
      usage: { prompt_tokens: 3, total_tokens: 3 },
    })
  })

  it('[227] Ollama: two inputs give two vectors', () => {
    const { bodies, read } = convertOfTest('openai.embeddings', 'ollama.embed', openAi({ dimensions: 2 }))
    expect(bodies).toEqual([{ model: 'theirs', input: ['one', 'two'], dimensions: 2 }])
    expect(read({ embeddings: vectors })).toEqual(told(undefined))
  })

  it('Cohere: requests have a purpose and at most 96 texts', () => {
    const { bodies, read } = convertOfTest('openai.embeddings', 'cohere.embed', openAi({ dimensions: 2 }), {
      upstreamModel: 'embed-v4.0',
    })
    expect(bodies).toEqual([
      {
        model: 'embed-v4.0',
        texts: ['one', 'two'],
        input_type: 'search_document',
        output_dimension: 2,
        embedding_types: ['float'],
      },
    ])
    expect(read({ embeddings: { float: vectors }, meta: { billed_units: { input_tokens: 9 } } })).toEqual(
      told({ prompt_tokens: 9, total_tokens: 9 }),
    )
    const many = convertOfTest('openai.embeddings', 'cohere.embed', openAi({ input: Array(200).fill('x') }))
    expect(many.bodies.map(({ texts }) => (texts as unknown[]).length)).toEqual([96, 96, 8])
  })

  it('Vertex: older models get many texts in one call, Gemini models one text per call', () => {
    const old = convertOfTest('openai.embeddings', 'vertex.embed', openAi({ dimensions: 2 }), {
      upstreamModel: 'text-embedding-005',
    })
    expect(old.bodies).toEqual([{ instances: [{ content: 'one' }, { content: 'two' }], parameters: { outputDimensionality: 2 } }])
    const prediction = (values: number[]) => ({ embeddings: { values, statistics: { token_count: 4 } } })
    expect(old.read({ predictions: vectors.map(prediction) })).toEqual(told({ prompt_tokens: 8, total_tokens: 8 }))
    const single = convertOfTest('openai.embeddings', 'vertex.embed', openAi(), { upstreamModel: 'gemini-embedding-001' })
    expect(single.bodies).toEqual([{ instances: [{ content: 'one' }] }, { instances: [{ content: 'two' }] }])
    expect(single.read(...vectors.map((values) => ({ predictions: [prediction(values)] })))).toEqual(
      told({ prompt_tokens: 8, total_tokens: 8 }),
    )
  })

  it('Bedrock: Titan gets one text per call, Cohere many', () => {
    const titan = convertOfTest('openai.embeddings', 'bedrock.titan-embed', openAi(), {
      upstreamModel: 'amazon.titan-embed-text-v2:0',
    })
    expect(titan.bodies).toEqual([{ inputText: 'one' }, { inputText: 'two' }])
    expect(titan.read(...vectors.map((embedding) => ({ embedding, inputTextTokenCount: 2 })))).toEqual(
      told({ prompt_tokens: 4, total_tokens: 4 }),
    )
    const cohere = convertOfTest('openai.embeddings', 'bedrock.cohere-embed', openAi(), {
      upstreamModel: 'cohere.embed-english-v3',
    })
    expect(cohere.bodies).toEqual([{ texts: ['one', 'two'], input_type: 'search_document', embedding_types: ['float'] }])
    expect(cohere.read({ embeddings: vectors })).toEqual(told(undefined))
  })

  it('[225] token numbers are refused, with the field name', () => {
    for (const to of ['gemini.batch_embed', 'gemini.embed', 'cohere.embed', 'vertex.embed', 'ollama.embed'] as const)
      for (const input of [[1, 2, 3], [[1, 2], [3]], [{ image: 'x' }]])
        expect(failureOf(() => convertOfTest('openai.embeddings', to, openAi({ input })))).toMatchObject({
          code: 'untranslatable',
          params: { field: 'input' },
        })
  })

  it('[228] dimensions that a model does not support are refused, and so are vectors of another length', () => {
    const models = { 'cohere.embed': 'embed-english-v3.0', 'bedrock.titan-embed': 'amazon.titan-embed-text-v1' } as const
    for (const to of ['cohere.embed', 'bedrock.titan-embed'] as const)
      expect(
        failureOf(() => convertOfTest('openai.embeddings', to, openAi({ dimensions: 2 }), { upstreamModel: models[to] })),
      ).toMatchObject({ code: 'untranslatable', params: { field: 'dimensions' } })
    const { read } = convertOfTest('openai.embeddings', 'ollama.embed', openAi({ dimensions: 3 }))
    expect(failureOf(() => read({ embeddings: vectors }))).toMatchObject({ params: { field: 'dimensions' } })
  })

  it('a reply with too few vectors, or none, is refused', () => {
    const { answer } = convertOfTest('openai.embeddings', 'ollama.embed', openAi())
    for (const odd of [{}, { embeddings: [] }, { embeddings: [[1]] }, { embeddings: [[1], 'x'] }, { embeddings: [[], []] }])
      expect(answer(odd).kind).toBe('refused')
  })

  it('losses are reported', () => {
    const { lost } = convertOfTest(
      'openai.embeddings',
      'ollama.embed',
      openAi({ user: 'me', input_type: 'query', truncate: true }),
    )
    expect(lost).toEqual(['input_type', 'truncate', 'user'])
  })

  it('more texts than the maximum number of calls are refused for a vendor that accepts one text per call', () => {
    const input = Array(101).fill('x')
    expect(failureOf(() => convertOfTest('openai.embeddings', 'bedrock.titan-embed', openAi({ input })))).toMatchObject({
      code: 'untranslatable',
    })
  })
})

describe('Gemini embeddings from an upstream of another format', () => {
  const request = (text: string, more: object = {}) => ({ model: 'models/asked', content: { parts: [{ text }] }, ...more })

  it('one text becomes one input', () => {
    const { bodies, read, lost } = convertOfTest(
      'gemini.embed',
      'openai.embeddings',
      request('one', { task_type: 'RETRIEVAL_QUERY', output_dimensionality: 2 }),
    )
    expect(bodies).toEqual([{ model: 'theirs', input: 'one', encoding_format: 'float', dimensions: 2 }])
    expect(lost).toEqual(['taskType'])
    expect(read({ data: [{ index: 0, embedding: [1, 2] }], usage: { prompt_tokens: 3 } })).toEqual({
      embedding: { values: [1, 2] },
      usageMetadata: { promptTokenCount: 3, totalTokenCount: 3 },
    })
  })

  it("[224] a batch keeps its order, whatever the order and encoding of the upstream's reply", () => {
    const { bodies, read } = convertOfTest('gemini.batch_embed', 'openai.embeddings', {
      requests: [request('one'), request('two')],
    })
    expect(bodies).toEqual([{ model: 'theirs', input: ['one', 'two'], encoding_format: 'float' }])
    const data = [
      { index: 1, embedding: vectorToBase64([2]) },
      { index: 0, embedding: [1] },
    ]
    expect(read({ data, usage: { total_tokens: 5 } })).toEqual({
      embeddings: [{ values: [1] }, { values: [2] }],
      usageMetadata: { promptTokenCount: 5, totalTokenCount: 5 },
    })
  })

  it('purposes and titles are sent to vendors that support them', () => {
    const body = {
      requests: [
        request('one', { taskType: 'RETRIEVAL_DOCUMENT', title: 'T' }),
        request('two', { taskType: 'RETRIEVAL_DOCUMENT' }),
      ],
    }
    expect(convertOfTest('gemini.batch_embed', 'vertex.embed', body).bodies).toEqual([
      {
        instances: [
          { content: 'one', task_type: 'RETRIEVAL_DOCUMENT', title: 'T' },
          { content: 'two', task_type: 'RETRIEVAL_DOCUMENT' },
        ],
      },
    ])
    expect(convertOfTest('gemini.batch_embed', 'cohere.embed', body).bodies[0]).toMatchObject({ input_type: 'search_document' })
  })

  it('differing options within a batch, and media, are refused', () => {
    const differs = { requests: [request('a', { taskType: 'CLUSTERING' }), request('b')] }
    expect(failureOf(() => convertOfTest('gemini.batch_embed', 'openai.embeddings', differs))).toMatchObject({
      code: 'untranslatable',
      params: { field: 'taskType' },
    })
    const media = { content: { parts: [{ inlineData: { mimeType: 'image/png', data: 'AA' } }] } }
    expect(failureOf(() => convertOfTest('gemini.embed', 'openai.embeddings', media))).toMatchObject({ code: 'untranslatable' })
  })
})
