import OpenAI from 'openai'
import { describe, expect, it } from 'vitest'
import { addToken, books, requireBalancedBooks } from '../helpers/seed.ts'
import { sharedDirectStages } from './direct-stage.ts'
import { httpUpstream, type ProgrammedReply, stage } from './stage.ts'

const luna = 'gpt-6-luna'
const path = '/v1/decisions'
const stageOf = sharedDirectStages('sqlite', {
  ModelRatio: { [luna]: 2, asked: 1 },
  CompletionRatio: { [luna]: 5, asked: 3 },
})

const questions = [
  { type: 'predicate', name: 'urgent', instructions: 'The customer is in a hurry.' },
  {
    type: 'choice',
    name: 'topic',
    instructions: 'The topic.',
    choices: [{ value: 'bill' }, { value: false, description: 'None' }],
  },
  { type: 'score', instructions: 'The mood.', levels: [{ label: 'bad' }, { label: 'fair' }, { label: 'good' }] },
]
const request = (more: object = {}) => ({ model: 'asked', input: 'Charged twice!', questions, ...more })
const decided = JSON.stringify({ q1: [0.75], q2: [3, 1], q3: [0, 0.5, 0.5] })
const answers = [
  { type: 'predicate', name: 'urgent', probability: 0.75 },
  {
    ...{ type: 'choice', name: 'topic', choice: 'bill', confidence: 0.75 },
    probabilities: [
      { value: 'bill', probability: 0.75 },
      { value: false, probability: 0.25 },
    ],
  },
  {
    ...{ type: 'score', name: null, score: 1.5, confidence: 0.5 },
    probabilities: [
      { value: 0, label: 'bad', probability: 0 },
      { value: 1, label: 'fair', probability: 0.5 },
      { value: 2, label: 'good', probability: 0.5 },
    ],
  },
]

const chatReply = (content: string, finish = 'stop') => ({
  json: {
    ...{ id: 'c', object: 'chat.completion', created: 1, model: 'theirs' },
    choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: finish }],
    usage: { prompt_tokens: 20, completion_tokens: 5, total_tokens: 25 },
  },
})

/** A host by the type of its channel and its reply. */
const hosts: Readonly<Record<string, { type: number; reply: object }>> = {
  Chat: { type: 1, reply: chatReply(decided).json },
  Messages: {
    type: 14,
    reply: {
      ...{ id: 'm', type: 'message', role: 'assistant', model: 'theirs', stop_reason: 'end_turn', stop_sequence: null },
      content: [{ type: 'text', text: decided }],
      usage: { input_tokens: 20, output_tokens: 5 },
    },
  },
  Gemini: {
    type: 24,
    reply: {
      candidates: [{ content: { role: 'model', parts: [{ text: decided }] }, finishReason: 'STOP', index: 0 }],
      usageMetadata: { promptTokenCount: 20, candidatesTokenCount: 5, totalTokenCount: 25 },
    },
  },
}

describe('decisions of the vendor', () => {
  const usage = {
    ...{ input_tokens: 100, input_tokens_details: { cached_tokens: 40, cache_write_tokens: 20 } },
    ...{ output_tokens: 9, output_tokens_details: { reasoning_tokens: 0 }, total_tokens: 109 },
  }
  const body = `{ "model":"${luna}","answers":${JSON.stringify(answers)}, "usage":${JSON.stringify(usage)} }`

  it('keep their bytes and cost their whole input, cached or not, and no output', async () => {
    const { server, token, ask, heard } = await stageOf(() => ({ bytes: body, type: 'application/json' }), { models: luna })
    const sent = JSON.stringify(request({ model: luna, prompt_cache_key: 'k' }))
    const answer = await ask(sent, path)
    expect([answer.status, answer.text, answer.headers.get('x-sluice-dropped')]).toEqual([200, body, null])
    expect(heard.map(({ path, bytes }) => [path, bytes.toString()])).toEqual([[path, sent]])

    const client = new OpenAI({ apiKey: token.key, baseURL: `${server.url}/v1`, maxRetries: 0 })
    const decision = await client.decisions.create({
      model: luna,
      input: 'Charged twice!',
      questions: [{ type: 'predicate', instructions: 'The customer is in a hurry.' }],
    })
    expect(decision.answers).toEqual(answers)
    const { logs } = await books(server)
    // 100 tokens at a ratio of 2.
    expect(logs.map(({ quota, prompt_tokens, completion_tokens }) => [quota, prompt_tokens, completion_tokens])).toEqual(
      Array(2).fill([200, 100, 0]),
    )
    await requireBalancedBooks(server)
  })

  it('get the name of the model back that the caller used', async () => {
    const mapping = { models: 'asked', model_mapping: JSON.stringify({ asked: luna }) }
    const { ask, heard } = await stageOf(() => ({ bytes: body, type: 'application/json' }), mapping)
    const answer = await ask(request(), path)
    expect([JSON.parse(answer.text).model, heard[0]?.body.model, heard[0]?.path]).toEqual(['asked', luna, path])
  })

  it('are translated at a host that lacks the endpoint', async () => {
    const missing = { bytes: '<html><body><h1>404 Not Found</h1></body></html>', type: 'text/html', status: 404 }
    const reply = ({ path: asked }: { path: string }): ProgrammedReply => (asked === path ? missing : chatReply(decided))
    const { ask, heard } = await stageOf(reply, { models: luna })
    const answer = await ask(request({ model: luna }), path)
    expect([answer.status, JSON.parse(answer.text).answers]).toEqual([200, answers])
    expect(heard.map((each) => each.path)).toEqual([path, '/v1/chat/completions'])
  })
})

describe('decisions of another model', () => {
  it.each(Object.entries(hosts))('are asked for by a schema in %s, and cost its input and output', async (_, host) => {
    const { server, ask, heard } = await stageOf(() => ({ json: host.reply }), { type: host.type, models: 'asked' })
    const answer = await ask(request({ prompt_cache_options: { ttl: '30m' } }), path)
    expect([answer.status, JSON.parse(answer.text)]).toMatchObject([
      200,
      { model: 'asked', answers, usage: { input_tokens: 20, output_tokens: 5, total_tokens: 25 } },
    ])
    expect(answer.headers.get('x-sluice-dropped')?.split(', ')).toEqual(
      expect.arrayContaining(['answers.probabilities', 'prompt_cache_options']),
    )
    // Names of members stand in the schema alone, or in the instruction that quotes it.
    expect(heard[0]?.bytes.toString()).toMatch(/\\?"q3\\?"/)
    expect(heard[0]?.bytes.toString()).toContain('The customer is in a hurry.')

    const { logs } = await books(server)
    // 20 tokens of input, and 5 of output at a ratio of 3.
    expect(logs.map(({ quota, prompt_tokens, completion_tokens }) => [quota, prompt_tokens, completion_tokens])).toEqual([
      [35, 20, 5],
    ])
    expect(JSON.parse(logs[0]?.other ?? '{}').dropped).toContain('answers.probabilities')
    await requireBalancedBooks(server)
  })

  it('are about the whole conversation: messages, JSON, pictures, tool calls and their results', async () => {
    const { ask, heard } = await stageOf(() => chatReply(decided), { models: 'asked' })
    const input = [
      { role: 'system', content: 'You sell boats.' },
      {
        role: 'user',
        content: [
          { type: 'input_text', text: 'Look:' },
          { type: 'input_json', data: { order: 7 } },
          { type: 'input_image', image_url: 'data:image/png;base64,iVBORw0KGgo=' },
        ],
      },
      { type: 'function_call', call_id: 'c1', name: 'find_order', arguments: '{"id":7}' },
      { type: 'function_call_output', call_id: 'c1', output: 'shipped' },
    ]
    expect((await ask(request({ input }), path)).status).toBe(200)
    const sent = JSON.stringify(heard[0]?.body.messages)
    for (const part of ['You sell boats.', 'Look:', '{\\"order\\":7}', 'iVBORw0KGgo=', 'find_order', 'shipped'])
      expect(sent).toContain(part)
  })

  it.each<[string, string, unknown]>([
    [
      'an empty list declines one question',
      JSON.stringify({ q1: [], q2: [0, 0], q3: [1, 0, 0] }),
      ['refusal', 'refusal', 'score'],
    ],
    ['a fence around the JSON is left out', `\`\`\`json\n${decided}\n\`\`\``, ['predicate', 'choice', 'score']],
  ])('%s', async (_, content, types) => {
    const { ask } = await stageOf(() => chatReply(content), { models: 'asked' })
    const { answers: made } = JSON.parse((await ask(request(), path)).text)
    expect(made.map(({ type }: { type: string }) => type)).toEqual(types)
    expect(made.map(({ name }: { name: unknown }) => name)).toEqual(['urgent', 'topic', null])
  })

  it('are refused by name when the vendor refuses the whole conversation', async () => {
    const { ask } = await stageOf(() => chatReply('', 'content_filter'), { models: 'asked' })
    const answer = await ask(request(), path)
    expect(JSON.parse(answer.text).answers).toEqual(['urgent', 'topic', null].map((name) => ({ type: 'refusal', name })))
  })

  it.each([
    ['is no JSON', 'I think so.'],
    ['is cut', decided.slice(0, 20)],
    ['lacks a question', JSON.stringify({ q1: [1], q2: [1, 0] })],
    ['has another number of options', JSON.stringify({ q1: [1], q2: [1], q3: [1, 0, 0] })],
    ['has probabilities below zero', JSON.stringify({ q1: [-1], q2: [1, 0], q3: [1, 0, 0] })],
  ])('fail when the answer %s, and cost nothing', async (_, content) => {
    const { server, ask } = await stageOf(() => chatReply(content), { models: 'asked' })
    expect((await ask(request(), path)).status).toBe(502)
    expect((await books(server)).logs).toEqual([])
  })
})

it('decisions about listed words are refused, in their input and in their questions', async () => {
  const heard: string[] = []
  const url = await httpUpstream((request, response) => {
    heard.push(request.url ?? '')
    response.end('{}')
  })
  const { server, ask } = await stage('sqlite', url, { channel: { models: luna } })
  await server.call('PUT /api/option/', { key: 'SensitiveWords', value: 'badword' })
  const input = [{ role: 'user', content: [{ type: 'input_text', text: 'a badword' }] }]
  for (const more of [{ input }, { questions: [{ type: 'predicate', instructions: 'It has the badword.' }] }])
    expect((await ask(request({ model: luna, ...more }), path)).status).toBe(400)
  expect(heard).toEqual([])
})

describe('decisions are refused in words', () => {
  it('where no channel of the model can be asked for JSON', async () => {
    const { ask, heard } = await stageOf(() => undefined, { type: 38, models: 'asked' })
    const answer = await ask(request(), path)
    expect([answer.status, JSON.parse(answer.text).error.message]).toEqual([400, expect.stringContaining('decisions')])
    expect(heard).toEqual([])
  })

  it.each<[string, object, string]>([
    ['without input', { input: undefined }, 'input'],
    ['without questions', { questions: [] }, 'questions'],
    ['with a question of an unknown type', { questions: [{ type: 'box', instructions: 'x' }] }, 'questions[0].type'],
    [
      'with one choice',
      { questions: [{ type: 'choice', instructions: 'x', choices: [{ value: 'a' }] }] },
      'questions[0].choices',
    ],
    ['with more than 400 questions', { questions: Array(401).fill(questions[0]) }, 'questions'],
  ])('%s', async (_, more, field) => {
    const { ask, heard } = await stageOf(() => chatReply(decided), { models: 'asked' })
    const answer = await ask(request(more), path)
    expect([answer.status, JSON.parse(answer.text).error]).toMatchObject([400, { message: expect.stringContaining(field) }])
    expect(heard).toEqual([])
  })

  it("in Gemini's form, which differs", async () => {
    const { ask } = await stageOf(() => undefined, { type: 24, models: 'asked' })
    const answer = await ask({ model: 'models/asked', questions: {} }, '/v1beta/decisions')
    expect([answer.status, JSON.parse(answer.text).error.status]).toEqual([501, 'UNIMPLEMENTED'])
  })

  it('to a strict token', async () => {
    const { server, ask } = await stageOf(() => chatReply(decided), { models: 'asked' })
    const strict = await addToken(server, { strict_translation: true })
    const answer = await ask(request(), path, { authorization: `Bearer ${strict.key}` })
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining('answers.probabilities')])
  })
})
