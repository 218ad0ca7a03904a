import { GoogleGenAI } from '@google/genai'
import OpenAI from 'openai'
import OpenAI6 from 'openai-6'
import { expect, it } from 'vitest'
import { vectorToBase64 } from '../../src/server/gateway/protocols/direct/vectors.ts'
import { anyDatabase } from '../helpers/databases.ts'
import { addChannel, books, requireBalancedBooks } from '../helpers/seed.ts'
import { sharedDirectStages } from './direct-stage.ts'

const model = 'text-embedding-3-small'
const titan = 'amazon.titan-embed-text-v2:0'
const vectors = [
  [0.5, -0.25, 1],
  [0.125, 2, -3],
]
const entry = (index: number, embedding: unknown) => ({ object: 'embedding', index, embedding })
const openAiReply = (...data: object[]) => ({ object: 'list', data, model, usage: { prompt_tokens: 8, total_tokens: 8 } })
const texts = ['one two', 'three']

anyDatabase('vectors', (_fresh, kind) => {
  const ratios = { [model]: 0.01, 'gemini-embedding-001': 2, [titan]: 1, asked: 1 }
  const sharedStage = sharedDirectStages(kind, { ModelRatio: ratios })
  const retryingStage = sharedDirectStages(kind, { ModelRatio: ratios, RetryTimes: 1 })

  it("[221] [224] [222] the official SDKs of both majors get every number in order, for any host's reply", async () => {
    const replies = [
      openAiReply(entry(1, vectors[1]), entry(0, vectors[0])),
      openAiReply(entry(0, vectorToBase64(vectors[0] ?? [])), entry(1, vectorToBase64(vectors[1] ?? []))),
    ]
    const { server, token, heard, ask } = await sharedStage((_heard, count) => ({ json: replies[count % 2] }), { models: model })
    for (const Client of [OpenAI, OpenAI6]) {
      const client = new Client({ apiKey: token.key, baseURL: `${server.url}/v1`, maxRetries: 0 })
      for (let round = 0; round < 2; round++) {
        const { data, usage } = await client.embeddings.create({ model, input: texts })
        expect(data.map(({ embedding }) => embedding)).toEqual(vectors)
        expect(usage).toEqual({ prompt_tokens: 8, total_tokens: 8 })
      }
    }
    expect(new Set(heard.map(({ body }) => body.encoding_format))).toEqual(new Set(['base64']))
    for (let round = 0; round < 2; round++)
      expect(JSON.parse((await ask({ model, input: texts }, '/v1/embeddings')).text).data).toEqual(
        vectors.map((vector, at) => entry(at, vector)),
      )
    const { logs } = await books(server)
    // 8 tokens at a ratio of 0.01.
    expect(logs.map(({ quota }) => quota)).toEqual(Array(6).fill(1))
    await requireBalancedBooks(server)
  })

  it('[264] an answer in the requested encoding keeps its bytes, at any length', async () => {
    const vector = Array.from({ length: 3000 }, (_, at) => at / 3000)
    const body = `{ "object":"list","data":[${[0, 1].map((index) => `{"index":${index},"embedding":${JSON.stringify(vector)}}`)}],"usage":{"prompt_tokens":8} }`
    const { ask } = await sharedStage(() => ({ bytes: body, type: 'application/json' }), { models: model })
    expect(body.length).toBeGreaterThan(64 * 1024)
    expect((await ask({ model, input: texts }, '/v1/embeddings')).text).toBe(body)
    const encoded = JSON.parse((await ask({ model, input: texts, encoding_format: 'base64' }, '/v1/embeddings')).text)
    expect(encoded.data[1].embedding).toBe(vectorToBase64(vector))
  })

  it.each([
    ['names the member', { status: 400, json: { error: { message: "Invalid value 'base64' for encoding_format" } } }],
    ['is a list without a message', { status: 422, json: { detail: [{ loc: ['body', 'encoding_format'], msg: 'unexpected' }] } }],
  ])(
    '[221] [295] a host whose refusal of base64 %s is asked for numbers, which are encoded here, and not asked again',
    async (_, refusal) => {
      const { ask, heard } = await sharedStage(
        ({ body }) => (body.encoding_format === 'base64' ? refusal : { json: openAiReply(entry(0, vectors[0])) }),
        { models: model },
      )
      const encoded = async () => {
        const { status, text } = await ask({ model, input: 'one', encoding_format: 'base64' }, '/v1/embeddings')
        return [status, JSON.parse(text).data[0].embedding]
      }
      const expected = [200, vectorToBase64(vectors[0] ?? [])]
      expect([await encoded(), await encoded()]).toEqual([expected, expected])
      expect(heard.map(({ body }) => body.encoding_format)).toEqual(['base64', 'float', 'float'])
    },
  )

  it('the model may be in the path, the older form', async () => {
    const { ask, heard } = await sharedStage(() => ({ json: openAiReply(entry(0, vectors[0])) }), {
      models: model,
      model_mapping: JSON.stringify({ [model]: 'theirs' }),
    })
    const answer = await ask({ input: 'one two' }, `/v1/engines/${model}/embeddings`)
    expect([answer.status, JSON.parse(answer.text).model]).toEqual([200, model])
    const other = await ask({ input: 'one two', model: 'other' }, `/v1/engines/${model}/embeddings`)
    expect(other.status).toBe(200)
    expect(heard.map(({ path, body }) => [path, body.model])).toEqual(Array(2).fill(['/v1/embeddings', 'theirs']))
  })

  it('[228] a host that ignores the number of dimensions fails over to one that does not; without one the request is refused', async () => {
    const { server, ask } = await retryingStage(() => ({ json: openAiReply(entry(0, vectors[0])) }), {
      models: model,
      priority: 10,
    })
    const body = { model, input: 'one two', dimensions: 2 }
    const refused = await ask(body, '/v1/embeddings')
    expect([refused.status, JSON.parse(refused.text).error]).toMatchObject([
      400,
      { code: 'unsupported_parameter', param: 'dimensions' },
    ])
    expect((await books(server)).logs).toEqual([])

    const good = await retryingStage(() => ({ json: openAiReply(entry(0, [1, 2])) }), { models: 'x' })
    await addChannel(server, { url: good.url, models: model })
    const answer = await ask(body, '/v1/embeddings')
    expect([answer.status, JSON.parse(answer.text).data[0].embedding]).toEqual([200, [1, 2]])
    await requireBalancedBooks(server)
  })

  it('[226] Gemini is called in its own format, and its tokens are charged', async () => {
    const { server, token, ask, heard } = await sharedStage(
      ({ path }) =>
        path.includes('batch')
          ? { json: { embeddings: vectors.map((values) => ({ values })), usageMetadata: { promptTokenCount: 30 } } }
          : { json: { embedding: { values: vectors[0] } } },
      { type: 24, models: 'gemini-embedding-001' },
    )
    const client = new OpenAI({ apiKey: token.key, baseURL: `${server.url}/v1`, maxRetries: 0 })
    const { data, usage } = await client.embeddings.create({ model: 'gemini-embedding-001', input: texts, user: 'me' })
    expect([data.map(({ embedding }) => embedding), usage.prompt_tokens]).toEqual([vectors, 30])

    const single = await ask({ model: 'gemini-embedding-001', input: 'one two' }, '/v1/embeddings')
    const { usage: counted, data: one } = JSON.parse(single.text)
    expect(one).toEqual([entry(0, vectors[0])])
    expect(heard.map(({ path }) => path)).toEqual([
      '/v1beta/models/gemini-embedding-001:batchEmbedContents',
      '/v1beta/models/gemini-embedding-001:embedContent',
    ])
    const { logs } = await books(server)
    // Usage that the upstream did not report is counted here, and sent to the caller as it is charged.
    expect(counted.prompt_tokens).toBeGreaterThan(0)
    expect(logs.map(({ quota, prompt_tokens }) => [quota, prompt_tokens])).toEqual([
      [60, 30],
      [2 * counted.prompt_tokens, counted.prompt_tokens],
    ])
    expect(logs.map(({ other }) => JSON.parse(other ?? '{}').upstream_format)).toEqual(['gemini.batch_embed', 'gemini.embed'])
    expect(JSON.parse(logs[0]?.other ?? '{}').dropped).toEqual(['user'])
    await requireBalancedBooks(server)
  })

  it('[225] a channel that cannot read token numbers is skipped; without another one they are refused by name', async () => {
    const { server, ask, heard } = await retryingStage(() => ({ json: {} }), { type: 34, models: model, priority: 10 })
    const refused = await ask({ model, input: [1, 2, 3] }, '/v1/embeddings')
    expect([refused.status, JSON.parse(refused.text).error]).toMatchObject([400, { param: 'input' }])
    expect(heard).toEqual([])

    const good = await retryingStage(() => ({ json: openAiReply(entry(0, vectors[0])) }), { models: 'x' })
    await addChannel(server, { url: good.url, models: model })
    expect((await ask({ model, input: [1, 2, 3] }, '/v1/embeddings')).status).toBe(200)
    expect(good.heard[0]?.body.input).toEqual([1, 2, 3])
  })

  it('a vendor that accepts one text per call gets a call for each text, and the order is kept', async () => {
    const { server, ask, heard } = await sharedStage(
      async ({ body }) => {
        const at = Number(String(body.inputText).slice(1))
        await new Promise((resolve) => setTimeout(resolve, (12 - at) * 5))
        return { json: { embedding: [at], inputTextTokenCount: 3 } }
      },
      { type: 33, key: 'ak|sk|us-east-1', models: titan },
    )
    const input = Array.from({ length: 12 }, (_, at) => `t${at}`)
    const { data, usage } = JSON.parse((await ask({ model: titan, input }, '/v1/embeddings')).text)
    expect(data).toEqual(input.map((_, at) => entry(at, [at])))
    expect(usage.prompt_tokens).toBe(36)
    expect(heard).toHaveLength(12)
    expect(new Set(heard.map(({ headers }) => /^AWS4-HMAC-SHA256/.test(String(headers.authorization))))).toEqual(new Set([true]))
    expect((await books(server)).logs.map(({ quota }) => quota)).toEqual([36])
  })

  it('vectors are returned all or none: one failed call fails them all, and costs nothing', async () => {
    const { server, ask, heard } = await sharedStage(
      ({ body }) =>
        body.inputText === 'bad'
          ? { json: { message: 'no' }, status: 500 }
          : { json: { embedding: [1], inputTextTokenCount: 1 } },
      { type: 33, key: 'ak|sk|us-east-1', models: titan },
    )
    const answer = await ask({ model: titan, input: ['bad', ...Array(40).fill('good')] }, '/v1/embeddings')
    expect(answer.status).toBe(502)
    expect(heard.length).toBeLessThan(20)
    expect((await books(server)).logs).toEqual([])
    await requireBalancedBooks(server)
  })

  it('a caller of Gemini gets vectors from Gemini unchanged, and from others in the format of Gemini', async () => {
    const request = (text: string) => ({ model: 'models/asked', content: { parts: [{ text }] } })
    const native = await sharedStage(
      ({ path }) => ({
        json: path.includes('batch')
          ? { embeddings: vectors.map((values) => ({ values })) }
          : { embedding: { values: vectors[0] } },
      }),
      { type: 24, models: 'asked', model_mapping: JSON.stringify({ asked: 'theirs' }) },
    )
    const whole = await native.ask(request('one two'), '/v1beta/models/asked:embedContent')
    expect(JSON.parse(whole.text)).toEqual({ embedding: { values: vectors[0] } })
    const batch = await native.ask({ requests: texts.map(request) }, '/v1beta/models/asked%3AbatchEmbedContents')
    expect(JSON.parse(batch.text).embeddings).toHaveLength(2)
    expect(native.heard.map(({ path, body }) => [path, body])).toEqual([
      ['/v1beta/models/theirs:embedContent', { content: { parts: [{ text: 'one two' }] } }],
      [
        '/v1beta/models/theirs:batchEmbedContents',
        { requests: texts.map((text) => ({ ...request(text), model: 'models/theirs' })) },
      ],
    ])
    expect((await books(native.server)).logs.every(({ quota }) => quota > 0)).toBe(true)

    const other = await sharedStage(() => ({ json: openAiReply(entry(1, vectors[1]), entry(0, vectors[0])) }), { models: model })
    const client = new GoogleGenAI({ apiKey: other.token.key, httpOptions: { baseUrl: other.server.url } })
    const { embeddings } = await client.models.embedContent({ model, contents: texts })
    expect(embeddings?.map(({ values }) => values)).toEqual(vectors)
    expect(other.heard[0]?.body).toEqual({ model, input: texts, encoding_format: 'float' })
    const wrong = await fetch(`${other.server.url}/v1beta/models/${model}:embedContent`)
    expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'POST'])
    const empty = await other.ask({ requests: [{}] }, `/v1beta/models/${model}:batchEmbedContents`)
    expect([empty.status, JSON.parse(empty.text).error.status]).toEqual([400, 'INVALID_ARGUMENT'])
  })
})

anyDatabase('rankings', (_fresh, kind) => {
  const sharedStage = sharedDirectStages(kind, { ModelRatio: { 'rerank-1': 1 } })
  const documents = ['zero', { text: 'one' }, 'two']
  const asked = { model: 'rerank-1', query: 'which?', documents, top_n: 2, return_documents: true }
  const place = (index: number, relevance_score: number) => ({ index, relevance_score })
  const told = (extra: object) => ({
    results: [
      { ...place(1, 0.9), document: { text: 'one' } },
      { ...place(0, 0.4), document: { text: 'zero' } },
    ],
    ...extra,
  })

  it.each([
    [34, '/v2/rerank', { id: 'r', results: [place(1, 0.9), place(0, 0.4)], meta: { billed_units: { search_units: 1 } } }],
    [
      17,
      '/api/v1/services/rerank/text-rerank/text-rerank',
      { output: { results: [place(0, 0.4), place(1, 0.9), place(2, 0.1)] }, usage: { total_tokens: 20 }, request_id: 'r' },
    ],
    [
      38,
      '/v1/rerank',
      { model: 'rerank-1', results: [place(2, 0.1), place(1, 0.9), place(0, 0.4)], usage: { total_tokens: 20 } },
    ],
    [
      40,
      '/v1/rerank',
      { id: 'r', results: [{ ...place(1, 0.9), document: 'one' }, place(0, 0.4)], meta: { tokens: { input_tokens: 20 } } },
    ],
    [47, '/v1/rerank', { id: 'r', results: [{ ...place(1, 0.9), document: null }, place(0, 0.4)] }],
  ])('[229] [230] [231] type %i returns the common form, and is charged', async (type, path, reply) => {
    const { server, ask, heard } = await sharedStage(() => ({ json: reply }), { type, models: 'rerank-1' })
    for (const address of ['/v1/rerank', '/v2/rerank', '/rerank']) {
      const answer = await ask(asked, address)
      const { results, usage } = JSON.parse(answer.text)
      expect([answer.status, { results }]).toEqual([200, told({})])
      if ('usage' in reply || 'tokens' in (('meta' in reply && reply.meta) || {})) expect(usage.total_tokens).toBe(20)
    }
    expect(new Set(heard.map((one) => one.path))).toEqual(new Set([path]))
    const sent = JSON.stringify(heard[0]?.body)
    expect(sent).toContain(type === 38 ? '{"text":"one"}' : '["zero","one","two"]')
    const { logs } = await books(server)
    expect(logs).toHaveLength(3)
    const counts = logs.map(({ quota, prompt_tokens }) => quota === prompt_tokens && quota > 0)
    expect(counts).toEqual([true, true, true])
    await requireBalancedBooks(server)
  })
})
