import { expect, it } from 'vitest'
import { billOf } from '../../src/contract/bill.ts'
import { readFactors } from '../../src/contract/log-factors.ts'
import { settlePendingResponses } from '../../src/server/gateway/relay/stored-responses/settle-pending.ts'
import { verifyCharges } from '../../src/server/money/ledger/verify-charges.ts'
import type { TestServer } from '../helpers/app.ts'
import { eachDatabase } from '../helpers/databases.ts'
import { seedFile } from '../helpers/files.ts'
import { addChannel, addToken, books, requireBalancedBooks } from '../helpers/seed.ts'
import { caller, live, realtimeUpstream } from './realtime-stage.ts'
import { vendor } from './responses-vendor.ts'
import { sharedStages } from './shared-stage.ts'
import { answeringUpstream, ask, claude, event, eventually, model, settledCharges } from './stage.ts'

/** More than the context of any model. */
const reported = 30_000_000

const openAiUsage = { prompt_tokens: reported, completion_tokens: 5, total_tokens: reported + 5 }
const responsesUsage = { input_tokens: reported, output_tokens: 5, total_tokens: reported + 5 }
const named = (type: string, more: object) => `event: ${type}\n${event({ type, ...more })}`
const message = { id: 'msg_1', type: 'message', role: 'assistant', model: claude }
const content = [{ type: 'text', text: 'Rye.' }]
const claudeUsage = { input_tokens: reported, output_tokens: 5 }
const chunk = (more: object) => event({ id: 'c', object: 'chat.completion.chunk', created: 1, model, ...more })
const response = {
  id: 'resp_1',
  object: 'response',
  status: 'completed',
  model,
  output: [
    {
      type: 'message',
      id: 'm',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: 'Rye.', annotations: [] }],
    },
  ],
  usage: responsesUsage,
}
const picture = 'iVBORw0KGgo='

/** By a part of the path: the whole reply and, if there is one, the streamed one. */
const replies: readonly (readonly [string, object, string?])[] = [
  [
    '/chat/completions',
    {
      id: 'c',
      object: 'chat.completion',
      created: 1,
      model,
      choices: [{ index: 0, message: { role: 'assistant', content: 'Rye.' }, finish_reason: 'stop' }],
      usage: openAiUsage,
    },
    chunk({ choices: [{ index: 0, delta: { content: 'Rye.' }, finish_reason: null }] }) +
      chunk({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }) +
      chunk({ choices: [], usage: openAiUsage }) +
      event('[DONE]'),
  ],
  [
    '/messages',
    { ...message, content, stop_reason: 'end_turn', stop_sequence: null, usage: claudeUsage },
    named('message_start', {
      message: { ...message, content: [], stop_reason: null, usage: { ...claudeUsage, output_tokens: 1 } },
    }) +
      named('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }) +
      named('content_block_delta', { index: 0, delta: { type: 'text_delta', text: 'Rye.' } }) +
      named('content_block_stop', { index: 0 }) +
      named('message_delta', { delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: claudeUsage }) +
      named('message_stop', {}),
  ],
  [
    '/responses',
    response,
    named('response.created', { response: { ...response, status: 'in_progress' }, sequence_number: 0 }) +
      named('response.completed', { response, sequence_number: 1 }),
  ],
  ['/embeddings', { object: 'list', model, data: [{ object: 'embedding', index: 0, embedding: [0.1] }], usage: openAiUsage }],
  ['/rerank', { id: 'r', results: [{ index: 0, relevance_score: 0.5 }], usage: { total_tokens: reported } }],
  [
    '/audio/transcriptions',
    { text: 'Rye.', usage: { type: 'tokens', input_tokens: reported, output_tokens: 5, total_tokens: reported + 5 } },
  ],
  [
    '/audio/speech',
    {},
    event({ type: 'speech.audio.delta', audio: 'AAAA' }) + event({ type: 'speech.audio.done', usage: responsesUsage }),
  ],
  ['/images/generations', { created: 1, data: [{ b64_json: picture }], usage: responsesUsage }],
]

function recording(): FormData {
  const form = new FormData()
  form.set('model', 'gpt-4o-transcribe')
  form.set('response_format', 'json')
  form.set('file', new File([Buffer.alloc(4000)], 'a.mp3'))
  return form
}

const file = { type: 'file', file: { file_id: 'file-1' } }
const document = { type: 'document', source: { type: 'url', url: 'https://files.example/a.pdf' } }
const chat = (more: object) => ({ messages: [{ role: 'user', content: [file] }], max_tokens: 100, ...more })
const claudeAsked = (more: object) => ({ messages: [{ role: 'user', content: [document] }], max_tokens: 100, ...more })

type Case = readonly [name: string, path: string, body: object | (() => FormData)]
const both = (name: string, path: string, body: object): Case[] =>
  [false, true].map((stream) => [`${name}, ${stream ? 'streamed' : 'whole'}`, path, { ...body, stream }])

const cases: readonly Case[] = [
  ...both('Chat', '/v1/chat/completions', chat({ model })),
  ...both('Chat by a channel of Messages', '/v1/chat/completions', {
    ...chat({ model: claude }),
    messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: `data:image/png;base64,${picture}` } }] }],
  }),
  ...both('Messages', '/v1/messages', claudeAsked({ model: claude })),
  ...both('Messages by a channel of Chat', '/v1/messages', {
    ...claudeAsked({ model }),
    messages: [{ role: 'user', content: 'Hi' }],
  }),
  ...both('Responses', '/v1/responses', {
    model,
    max_output_tokens: 100,
    input: [{ role: 'user', content: [{ type: 'input_file', file_id: 'file-1' }] }],
  }),
  ...both('Responses by a channel of Messages', '/v1/responses', { model: claude, max_output_tokens: 100, input: 'Hi' }),
  ['Embeddings', '/v1/embeddings', { model: 'text-embedding-3-small', input: 'Hi' }],
  ['Rerank', '/v1/rerank', { model: 'rerank-1', query: 'Hi', documents: ['a'] }],
  ['Transcriptions', '/v1/audio/transcriptions', recording],
  ['Speech', '/v1/audio/speech', { model: 'gpt-4o-mini-tts', voice: 'alloy', input: 'Hi', stream_format: 'sse' }],
  ['Images', '/v1/images/generations', { model: 'gpt-image-1', prompt: 'Hi' }],
]

const ratios = ['rerank-1', 'gpt-4o-transcribe', 'gpt-4o-mini-tts', 'gpt-image-1', 'text-embedding-3-small', live, model, claude]

eachDatabase('[T259] an upstream that reports more than the context of the model', (_fresh, kind) => {
  const prices = { ModelRatio: Object.fromEntries(ratios.map((name) => [name, 0.5])) }
  const sharedStage = sharedStages(kind, prices)
  const own = ['rerank-1', 'gpt-4o-transcribe', 'gpt-4o-mini-tts', 'gpt-image-1', 'text-embedding-3-small']

  async function reporting() {
    const { url } = await answeringUpstream(({ path, body }) => {
      const [, whole, streamed] = replies.find(([part]) => path.includes(part)) ?? ['', {}]
      return (body.stream === true || body.stream_format === 'sse' ? streamed : undefined) ?? { json: whole }
    })
    const staged = await sharedStage(url, { models: [model, ...own].join(',') })
    await seedFile(staged.server, { id: 'file-1', channelId: staged.channelId })
    await addChannel(staged.server, { url, type: 14, models: claude })
    return staged
  }

  /** A charge that is cut is the hold or less, has the flag and a site cost, and agrees with its bill; nothing is below zero. */
  async function expectCut(server: TestServer, tokenId: number, count = 1) {
    const charges = await settledCharges(server)
    const { logs, tokens, users } = await books(server)
    const rows = logs.filter((row) => row.token_id === tokenId)
    expect(rows).toHaveLength(count)
    for (const row of rows) {
      const factors = readFactors(row.other)
      const { held = -1, above_hold: isAbove = false, usage_implausible: isImplausible = false } = factors
      expect(isAbove || isImplausible).toBe(true)
      expect(row.quota).toBeLessThanOrEqual(held)
      if (isAbove) expect(row.quota).toBe(held)
      expect(billOf({ quota: row.quota, factors })?.agrees).toBe(true)
      expect(charges.filter(({ id }) => id === row.request_id)).toMatchObject([{ amount: row.quota }])
      const costs = await server.app.db.selectFrom('site_costs').selectAll().where('request_id', '=', row.request_id).execute()
      expect(costs).toMatchObject([{ reason: isImplausible ? 'usage_implausible' : 'above_hold' }])
      expect(costs[0]?.amount).toBeGreaterThan(0)
    }
    for (const { remain_quota } of tokens.filter(({ id }) => id === tokenId)) expect(remain_quota).toBeGreaterThanOrEqual(0)
    for (const { quota } of users) expect(quota).toBeGreaterThanOrEqual(0)
    expect(await verifyCharges(server.app.db)).toMatchObject({ differing: 0 })
    await requireBalancedBooks(server)
    return rows.map(({ quota, other }) => ({ quota, factors: readFactors(other) }))
  }

  it.each(cases)('%s: is charged at most the hold, and the site bears the rest', async (_name, path, body) => {
    const { server } = await reporting()
    const token = await addToken(server, { unlimited_quota: false, remain_quota: 1_000_000 })
    const sent = typeof body === 'function' ? body() : JSON.stringify(body)
    const answer = await fetch(server.url + path, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token.key}`,
        ...(typeof sent === 'string' ? { 'content-type': 'application/json' } : {}),
      },
      body: sent,
    })
    expect([answer.status, await answer.text()]).toEqual([200, expect.not.stringContaining('"error":{')])
    await expectCut(server, token.id)
  })

  it('a response in the background at the upstream: the rest counts in the risk of its user for a day', async () => {
    const provider = await vendor({ next: () => 'completed', usage: responsesUsage })
    const { server, channelId } = await sharedStage(provider.url)
    await seedFile(server, { id: 'f', channelId })
    const token = await addToken(server, { unlimited_quota: false, remain_quota: 1_000_000 })
    const asked = { model, background: true, input: [{ role: 'user', content: [{ type: 'input_file', file_id: 'f' }] }] }
    expect((await ask(server, token.key, asked, '/v1/responses')).status).toBe(200)
    await eventually('its row is there', async () => (await openRows(server)) === 1)
    // As a short balance does: less than the greatest cost is held.
    const [row] = await server.app.db.selectFrom('open_responses').selectAll().execute()
    const bill = JSON.parse(row?.bill ?? '{}')
    expect(bill.kind).toMatchObject({ name: expect.any(String), prompt: expect.any(Number), output: expect.any(Number) })
    await server.app.db
      .updateTable('open_responses')
      .set({ bill: JSON.stringify({ ...bill, kind: { ...bill.kind, isLearnt: true } }), ask_at: 0 })
      .execute()
    const before = server.app.holdShares.riskLeft(1, 500_000_000)
    await settlePendingResponses(server.app, new AbortController().signal)
    const [charged] = await expectCut(server, token.id)
    expect(charged?.factors.above_hold).toBe(true)
    const [cost] = await server.app.db
      .selectFrom('site_costs')
      .selectAll()
      .where('request_id', '=', row?.request_id ?? '')
      .execute()
    expect(before - server.app.holdShares.riskLeft(1, 500_000_000)).toBe(cost?.amount)
    expect(await openRows(server)).toBe(0)
  })

  it('a response in the background of this server', async () => {
    const { server } = await reporting()
    const token = await addToken(server, { unlimited_quota: false, remain_quota: 1_000_000 })
    const asked = { model: claude, background: true, max_output_tokens: 100, input: 'Hi' }
    expect((await ask(server, token.key, asked, '/v1/responses')).status).toBe(200)
    await eventually('it is charged', async () => (await books(server)).logs.length === 1)
    await expectCut(server, token.id)
  })

  it('a realtime answer that was asked for', async () => {
    const usage = { total_tokens: reported + 5, input_tokens: reported, output_tokens: 5 }
    const upstream = await realtimeUpstream((talk, { type }) => {
      if (type !== 'response.create') return
      talk.say({ type: 'response.created', response: { id: 'one' } })
      talk.say({ type: 'response.done', response: { id: 'one', status: 'completed', usage } })
    })
    const { server } = await sharedStage(upstream.url, { models: live })
    const token = await addToken(server, { unlimited_quota: false, remain_quota: 100_000 })
    const client = caller(server.url, token.key)
    await client.hears('session.created')
    client.say({ type: 'response.create' })
    await client.hears('response.done')
    client.socket.close(1000)
    const [charged] = await expectCut(server, token.id)
    expect(charged?.factors.above_hold).toBe(true)
  })

  it('realtime answers that the upstream begins by itself, several at once: the last ones get what is free, and the session ends', async () => {
    const usage = { total_tokens: 60_000, input_tokens: 60_000, output_tokens: 0, input_token_details: { text_tokens: 60_000 } }
    const upstream = await realtimeUpstream((talk, { type }) => {
      if (type !== 'input_audio_buffer.append') return
      const ids = ['a', 'b', 'c', 'd', 'e']
      for (const id of ids) talk.say({ type: 'response.created', response: { id } })
      for (const id of ids) talk.say({ type: 'response.output_text.delta', response_id: id, delta: 'Rye.' })
      for (const id of ids) talk.say({ type: 'response.done', response: { id, status: 'completed', usage } })
    })
    const { server } = await sharedStage(upstream.url, { models: live })
    const token = await addToken(server, { unlimited_quota: false, remain_quota: 60_000 })
    const client = caller(server.url, token.key)
    await client.hears('session.created')
    client.say({ type: 'input_audio_buffer.append', audio: 'AAAA' })
    expect((await client.closed()).code).toBe(1008)
    expect(client.heard.at(-1)).toMatchObject({ type: 'error', error: { code: 'insufficient_quota' } })
    await eventually('all are charged', async () => (await books(server)).logs.length === 5)
    const charges = await settledCharges(server)
    expect(charges.reduce((sum, { amount }) => sum + amount, 0)).toBeLessThanOrEqual(60_000)
    const { logs, tokens } = await books(server)
    expect(tokens.find(({ id }) => id === token.id)?.remain_quota).toBeGreaterThanOrEqual(0)
    expect(logs.filter(({ other }) => readFactors(other).above_hold).length).toBeGreaterThan(0)
    for (const { request_id, other, quota } of logs) {
      const factors = readFactors(other)
      expect(billOf({ quota, factors })?.agrees).toBe(true)
      const costs = await server.app.db.selectFrom('site_costs').select('amount').where('request_id', '=', request_id).execute()
      expect(costs.length).toBe(factors.above_hold ? 1 : 0)
    }
    expect(await verifyCharges(server.app.db)).toMatchObject({ differing: 0 })
    await requireBalancedBooks(server)
  })
})

async function openRows(server: TestServer): Promise<number> {
  return (await server.app.db.selectFrom('open_responses').select('request_id').execute()).length
}
