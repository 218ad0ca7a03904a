import Anthropic from '@anthropic-ai/sdk'
import OpenAI, { toFile } from 'openai'
import { describe, expect, it } from 'vitest'
import { followBatches } from '../../src/server/gateway/batches/follow.ts'
import { serverOfTest, type TestServer } from '../helpers/app.ts'
import { eachDatabase } from '../helpers/databases.ts'
import { addChannel, addToken, books, requireBalancedBooks, setOptions, tokenOfSecondUser } from '../helpers/seed.ts'
import { batchVendor, type VendorBatch } from './batch-vendor.ts'
import { claude, model } from './stage.ts'

const other = 'gpt-4.1'
const mapped = 'my-model'
const tokensIn = 100

interface BatchStage {
  readonly server: TestServer
  readonly vendor: Awaited<ReturnType<typeof batchVendor>>
  readonly openai: OpenAI
  readonly anthropic: Anthropic
  readonly key: string
  readonly tokenId: number
}

async function batchStage(kind: 'sqlite' | 'postgres' = 'sqlite', more: { token?: object } = {}): Promise<BatchStage> {
  const server = await serverOfTest(kind)
  const vendor = await batchVendor()
  await setOptions(server, {
    ModelRatio: { [model]: 2, [other]: 3, [mapped]: 5, [claude]: 1.5 },
    CompletionRatio: { [model]: 4, [other]: 2, [mapped]: 1, [claude]: 5 },
    CacheRatio: { [model]: 0.5 },
  })
  const models = `${model},${other},${mapped}`
  const mapping = JSON.stringify({ [mapped]: 'vendors-model' })
  await addChannel(server, { url: vendor.url, models, key: 'key-openai', model_mapping: mapping })
  await addChannel(server, { url: vendor.url, models: claude, type: 14, key: 'key-anthropic' })
  const { id: tokenId, key } = await addToken(server, more.token ? { ...more.token } : {})
  return { server, vendor, ...sdks(server, key), key, tokenId }
}

function sdks({ url }: Pick<TestServer, 'url'>, key: string) {
  const openai = new OpenAI({ apiKey: key, baseURL: `${url}/v1`, maxRetries: 0 })
  return { openai, anthropic: new Anthropic({ apiKey: key, baseURL: url, maxRetries: 0 }) }
}

const request = (id: string, more: Record<string, unknown> = {}) => ({
  custom_id: id,
  method: 'POST',
  url: '/v1/chat/completions',
  body: { model, max_tokens: 50, messages: [{ role: 'user', content: `say ${id}` }], ...more },
})

async function upload(openai: OpenAI, lines: readonly unknown[]): Promise<string> {
  const text = lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n')
  return (await openai.files.create({ file: await toFile(Buffer.from(text), 'in.jsonl'), purpose: 'batch' })).id
}

const order = { endpoint: '/v1/chat/completions', completion_window: '24h' } as const

async function create(openai: OpenAI, lines: readonly unknown[], more: object = {}) {
  return openai.batches.create({ input_file_id: await upload(openai, lines), ...order, ...more })
}

const usage = (cached = 0) => ({
  prompt_tokens: tokensIn,
  completion_tokens: 20,
  total_tokens: tokensIn + 20,
  prompt_tokens_details: { cached_tokens: cached },
})

const answered = (body: Record<string, unknown>, more: object = {}) => ({
  ...{ id: 'chatcmpl-1', object: 'chat.completion', created: 1, model: body.model, usage: usage() },
  choices: [{ index: 0, message: { role: 'assistant', content: 'four five six' }, finish_reason: 'stop' }],
  ...more,
})

const message = (body: Record<string, unknown>) => ({
  ...{ id: 'msg_1', type: 'message', role: 'assistant', model: body.model, content: [{ type: 'text', text: 'four' }] },
  ...{ stop_reason: 'end_turn', stop_sequence: null, usage: { input_tokens: 100, output_tokens: 20, service_tier: 'batch' } },
})

/** What a request of these tokens costs in a batch, computed apart from the server. */
const bill = (ratio: number, completionRatio: number, { cached = 0, cacheRatio = 1, output = 20 } = {}) =>
  Math.ceil((tokensIn - cached + cached * cacheRatio + output * completionRatio) * ratio * 0.5)

const charges = async (server: TestServer) => {
  const { ledger } = await books(server)
  return ledger.filter(({ kind }) => kind === 'charge').map(({ reference, amount }) => ({ reference, amount: -amount }))
}

const held = async ({ server, tokenId }: BatchStage) => {
  const row = await server.app.db.selectFrom('tokens').select('held').where('id', '=', tokenId).executeTakeFirstOrThrow()
  return row.held
}

const follow = ({ app }: TestServer) => followBatches(app, new AbortController().signal)
const dueNow = ({ app }: TestServer) => app.db.updateTable('batches').set({ ask_at: 1 }).where('ask_at', '>', 0).execute()

eachDatabase('batches of the official SDKs', (_fresh, kind) => {
  it('OpenAI: a batch is ordered from a file, charged once at its factor, and its results have the ids of this site', async () => {
    const at = await batchStage(kind)
    const { server, vendor, openai } = at
    const lines = [request('a'), request('b', { model: other }), request('c'), request('d')]
    const made = await create(openai, lines, { metadata: { job: 'nightly' } })
    expect(made).toMatchObject({ object: 'batch', status: 'in_progress', metadata: { job: 'nightly' }, output_file_id: null })
    expect(made.id).toMatch(/^batch_\w{24}$/)
    expect(made.request_counts).toMatchObject({ total: 4 })
    const theirs = vendor.only()
    expect(theirs.asked.input_file_id).not.toBe(made.input_file_id)
    expect(JSON.stringify(made)).not.toContain('vendor')
    expect(await held(at)).toBeGreaterThan(bill(2, 4) * 3 + bill(3, 2))
    expect(await charges(server)).toEqual([])
    expect((await openai.batches.retrieve(made.id)).status).toBe('in_progress')

    vendor.end(theirs, {
      reply: (body, id) => (id === 'd' ? undefined : answered(body, id === 'c' ? { usage: usage(60) } : {})),
    })
    const done = await openai.batches.retrieve(made.id)
    expect(done).toMatchObject({ id: made.id, status: 'completed', input_file_id: made.input_file_id })
    const sums = { [model]: bill(2, 4) + bill(2, 4, { cached: 60, cacheRatio: 0.5 }), [other]: bill(3, 2) }
    expect(await charges(server)).toEqual([
      { reference: `charge:${made.id}.1`, amount: sums[other] },
      { reference: `charge:${made.id}.2`, amount: sums[model] },
    ])
    const { logs } = await books(server)
    expect(logs.map(({ model_name, quota, prompt_tokens }) => ({ model_name, quota, prompt_tokens }))).toEqual([
      { model_name: other, quota: sums[other], prompt_tokens: 100 },
      { model_name: model, quota: sums[model], prompt_tokens: 200 },
    ])
    expect(JSON.parse(logs[1]?.other ?? '').batch).toEqual({ id: made.id, requests: 3, charged: 2, estimated: 0, factor: 0.5 })
    await requireBalancedBooks(server)

    const output = await (await openai.files.content(done.output_file_id ?? '')).text()
    expect(
      output
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).custom_id)
        .sort(),
    ).toEqual(['a', 'b', 'c'])
    expect(await (await openai.files.content(done.error_file_id ?? '')).text()).toContain('"d"')
    expect((await openai.files.list({ purpose: 'batch_output' })).data).toHaveLength(2)
    const second = await create(openai, [request('e')])
    const ids: string[] = []
    for await (const { id } of openai.batches.list({ limit: 1 })) ids.push(id)
    expect(ids.sort()).toEqual([made.id, second.id].sort())
    const cancelled = await openai.batches.cancel(second.id)
    expect(cancelled.status).toBe('cancelling')
    vendor.end(vendor.only(), { status: 'cancelled', reply: () => undefined })
    expect((await openai.batches.retrieve(second.id)).status).toBe('cancelled')
    expect(await held(at)).toBe(0)
    expect(await charges(server)).toHaveLength(2)
    await requireBalancedBooks(server)
  })

  it('Anthropic: a batch is ordered from its requests, charged once, and its results are read under its id', async () => {
    const at = await batchStage(kind)
    const { server, vendor, anthropic } = at
    const { batches } = anthropic.messages
    const params = { model: claude, max_tokens: 50, messages: [{ role: 'user' as const, content: 'one' }] }
    const requests = ['a', 'b', 'c'].map((id) => ({ custom_id: id, params }))
    const made = await batches.create({ requests })
    expect(made.id).toMatch(/^msgbatch_\w{24}$/)
    expect(made).toMatchObject({ type: 'message_batch', processing_status: 'in_progress', results_url: null })
    expect(made.request_counts).toMatchObject({ processing: 3, succeeded: 0 })
    expect(await held(at)).toBeGreaterThan(3 * bill(1.5, 5))
    await expect(batches.results(made.id)).rejects.toThrow()

    vendor.end(vendor.only(), { reply: (body, id) => (id === 'b' ? undefined : message(body)) })
    const done = await batches.retrieve(made.id)
    expect(done).toMatchObject({
      processing_status: 'ended',
      results_url: `${server.url}/v1/messages/batches/${made.id}/results`,
    })
    expect(await charges(server)).toEqual([{ reference: `charge:${made.id}.1`, amount: 2 * bill(1.5, 5) }])
    const results = []
    for await (const line of await batches.results(made.id)) results.push(`${line.custom_id} ${line.result.type}`)
    expect(results.sort()).toEqual(['a succeeded', 'b errored', 'c succeeded'])
    const ids: string[] = []
    for await (const { id } of batches.list({ limit: 1 })) ids.push(id)
    expect(ids).toEqual([made.id])
    await requireBalancedBooks(server)

    expect(await batches.delete(made.id)).toEqual({ id: made.id, type: 'message_batch_deleted' })
    await expect(batches.retrieve(made.id)).rejects.toMatchObject({ status: 404 })
    expect(vendor.batches.size).toBe(0)
  })

  it('is charged once by clients and jobs that notice its end at the same time', async () => {
    const at = await batchStage(kind)
    const { server, vendor, openai } = at
    const nodes = kind === 'postgres' ? [server, await serverOfTest(kind, { database: server.database })] : [server]
    const made = await create(
      openai,
      Array.from({ length: 250 }, (_, index) => request(`line-${index}`)),
    )
    vendor.end(vendor.only(), { reply: answered })
    await dueNow(server)
    const polls = nodes.flatMap((node) => [
      ...Array.from({ length: 4 }, () => sdks(node, at.key).openai.batches.retrieve(made.id)),
      follow(node),
    ])
    await Promise.all(polls)
    expect((await openai.batches.retrieve(made.id)).status).toBe('completed')
    expect(await charges(server)).toEqual([{ reference: `charge:${made.id}.1`, amount: 250 * bill(2, 4) }])
    await requireBalancedBooks(server)
  })
})

describe('the admission of a batch', () => {
  it('names every request that would be refused as a call, and holds nothing', async () => {
    const at = await batchStage()
    const { server, vendor, openai } = at
    await setOptions(server, { CheckSensitiveEnabled: true, SensitiveWords: 'forbidden' })
    const lines = [
      request('a'),
      request('a'),
      { ...request('b'), url: '/v1/embeddings' },
      request('c', { model: 'unknown-model' }),
      'no json',
      request('d', { stream: true }),
      request('e', { messages: [{ role: 'user', content: 'this is forbidden' }] }),
      request('f', { max_tokens: -1 }),
      { ...request('g'), custom_id: '' },
    ]
    const made = await create(openai, lines)
    expect(made.status).toBe('failed')
    expect(made.errors?.data?.map(({ line }) => line)).toEqual([2, 3, 4, 5, 6, 7, 8, 9])
    expect(made.errors?.data?.[0]?.message).toContain('custom_id a')
    expect(vendor.batches.size).toBe(0)
    expect(await held(at)).toBe(0)
    expect((await openai.batches.retrieve(made.id)).errors?.data).toHaveLength(8)
    expect(await server.app.db.selectFrom('batch_lines').selectAll().execute()).toEqual([])
    const empty = await create(openai, ['', ' '])
    expect(empty.status).toBe('failed')
  })

  it('refuses a model that the token may not use, and one of another channel', async () => {
    const { server, vendor, anthropic } = await batchStage()
    await addChannel(server, { url: vendor.url, models: 'claude-elsewhere', type: 14, key: 'key-other' })
    await setOptions(server, { ModelRatio: { [claude]: 1, 'claude-elsewhere': 1 } })
    const params = (name: string) => ({ model: name, max_tokens: 50, messages: [{ role: 'user' as const, content: 'one' }] })
    const requests = [claude, 'claude-elsewhere'].map((name, index) => ({ custom_id: `${index}`, params: params(name) }))
    await expect(anthropic.messages.batches.create({ requests })).rejects.toThrow(/number 2.*claude-elsewhere/)
    const { key } = await addToken(server, { model_limits_enabled: true, model_limits: 'claude-elsewhere' })
    const limited = sdks(server, key).anthropic
    await expect(limited.messages.batches.create({ requests: requests.slice(0, 1) })).rejects.toThrow(/number 1/)
    expect(vendor.batches.size).toBe(0)
    await requireBalancedBooks(server)
  })

  it('refuses a batch that the token does not afford before the vendor has it, and names the first request that is over', async () => {
    const at = await batchStage('sqlite', { token: { unlimited_quota: false, remain_quota: 2000 } })
    const { server, vendor, openai } = at
    const lines = Array.from({ length: 20 }, (_, index) => request(`${index}`))
    const refused = await create(openai, lines).catch((error: unknown) => error as InstanceType<typeof OpenAI.APIError>)
    if (!(refused instanceof OpenAI.APIError)) throw new Error('It was not refused')
    expect(refused).toMatchObject({ status: 403, code: 'batch_unaffordable' })
    expect(vendor.batches.size).toBe(0)
    expect(await server.app.db.selectFrom('batches').selectAll().execute()).toEqual([])
    expect((await create(openai, lines.slice(0, 2))).status).toBe('in_progress')
    // All requests are alike.
    const line = Math.floor(2000 / ((await held(at)) / 2)) + 1
    expect(refused.message).toContain(`the quota ends at request ${line}.`)
    expect(line).toBeGreaterThan(2)
  })

  it('withdraws what its vendor refuses', async () => {
    const at = await batchStage()
    const { server, vendor, openai } = at
    vendor.state.refuses = 400
    await expect(create(openai, [request('a')])).rejects.toMatchObject({ status: 400 })
    expect(await held(at)).toBe(0)
    expect(await server.app.db.selectFrom('batches').selectAll().execute()).toEqual([])
    await requireBalancedBooks(server)
  })

  it('sends the vendor its own names of models and files, and gives results the model that was asked', async () => {
    const { server, vendor, openai } = await batchStage()
    const document = await openai.files.create({ file: await toFile(Buffer.from('text'), 'a.txt'), purpose: 'user_data' })
    const content = [{ type: 'file', file: { file_id: document.id } }]
    const made = await create(openai, [request('a', { model: mapped }), request('b', { messages: [{ role: 'user', content }] })])
    expect(made.status).toBe('in_progress')
    const [first, second] = vendor.only().requests
    expect(first?.body.model).toBe('vendors-model')
    expect(JSON.stringify(second?.body)).toContain('file-vendor')
    vendor.end(vendor.only(), { reply: answered })
    const done = await openai.batches.retrieve(made.id)
    const output = await (await openai.files.content(done.output_file_id ?? '')).text()
    const models = output
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).response.body.model as string)
    expect(models.sort()).toEqual([model, mapped].sort())
    const amounts = (await charges(server)).map(({ amount }) => amount)
    expect(amounts.sort((one, two) => one - two)).toEqual([bill(2, 4), bill(5, 1)].sort((one, two) => one - two))
    await requireBalancedBooks(server)
  })
})

describe('a batch', () => {
  it('that was cancelled or has expired is charged for what ran; a reply without usage is counted', async () => {
    const at = await batchStage()
    const { server, vendor, openai } = at
    const lines = ['a', 'b', 'c'].map((id) => request(id))
    const made = await create(openai, lines)
    vendor.end(vendor.only(), {
      status: 'expired',
      reply: (body, id) => (id === 'a' ? answered(body) : id === 'b' ? answered(body, { usage: undefined }) : undefined),
    })
    expect((await openai.batches.retrieve(made.id)).status).toBe('expired')
    const [charge] = await charges(server)
    expect(charge?.amount).toBeGreaterThan(bill(2, 4))
    expect(charge?.amount).toBeLessThan(2 * bill(2, 4))
    const [log] = (await books(server)).logs
    expect(JSON.parse(log?.other ?? '').batch).toMatchObject({ requests: 3, charged: 2, estimated: 1 })
    await requireBalancedBooks(server)
  })

  it('is unknown to everybody but its owner', async () => {
    const { server, vendor, openai } = await batchStage()
    const made = await create(openai, [request('a')])
    const input = made.input_file_id
    const theirs = vendor.only()
    vendor.end(theirs, { reply: answered })
    const { output_file_id: output } = await openai.batches.retrieve(made.id)
    const second = sdks(server, (await tokenOfSecondUser(server)).key)
    const probes = [
      () => second.openai.batches.retrieve(made.id),
      () => second.openai.batches.cancel(made.id),
      () => second.openai.batches.list({ after: made.id }),
      () => second.openai.batches.create({ input_file_id: input, ...order }),
      () => second.openai.files.content(output ?? ''),
      () => second.anthropic.messages.batches.retrieve(made.id),
      () => second.anthropic.messages.batches.delete(made.id),
      () => second.anthropic.messages.batches.results(made.id),
      () => openai.batches.retrieve(theirs.id),
    ]
    for (const probe of probes) await expect(probe()).rejects.toMatchObject({ status: 404 })
    expect((await second.openai.batches.list()).data).toEqual([])
  })

  it('whose order was taken without an answer is found at its vendor by its mark, and otherwise withdrawn', async () => {
    const at = await batchStage()
    const { server, vendor, openai } = at
    vendor.state.losesAnswers = true
    vendor.state.pageSize = 2
    const made = await create(openai, [request('a')])
    expect(made.status).toBe('validating')
    const theirs = vendor.only()
    vendor.state.losesAnswers = false
    for (const id of ['b', 'c', 'd']) await create(openai, [request(id)])
    await follow(server)
    expect((await openai.batches.retrieve(made.id)).status).toBe('validating')
    await dueNow(server)
    await follow(server)
    expect((await openai.batches.retrieve(made.id)).status).toBe('in_progress')
    vendor.end(theirs, { reply: answered })
    expect((await openai.batches.retrieve(made.id)).status).toBe('completed')
    expect(await charges(server)).toHaveLength(1)

    vendor.state.losesAnswers = true
    const lost = await create(openai, [request('e')])
    vendor.batches.delete(vendor.only().id)
    await dueNow(server)
    await follow(server)
    await expect(openai.batches.retrieve(lost.id)).rejects.toMatchObject({ status: 404 })
    for (const batch of vendor.batches.values()) endIfRuns(vendor, batch)
    await dueNow(server)
    await follow(server)
    expect(await held(at)).toBe(0)
    await requireBalancedBooks(server)
  })
})

function endIfRuns(vendor: BatchStage['vendor'], batch: VendorBatch): void {
  if (batch.status === 'in_progress') vendor.end(batch, { reply: answered })
}
