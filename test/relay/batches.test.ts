import OpenAI, { toFile } from 'openai'
import { describe, expect, it } from 'vitest'
import { serverOfTest } from '../helpers/app.ts'
import { eachDatabase } from '../helpers/databases.ts'
import { seedFile } from '../helpers/files.ts'
import { addChannel, addToken, books, requireBalancedBooks, setOptions, tokenOfSecondUser } from '../helpers/seed.ts'
import {
  answered,
  type BatchStage,
  batchStage,
  bill,
  charges,
  create,
  dueNow,
  follow,
  generated,
  google,
  held,
  mapped,
  message,
  order,
  other,
  request,
  sdks,
  upload,
  usage,
} from './batch-stage.ts'
import type { VendorBatch } from './batch-vendor.ts'
import { claude, model } from './stage.ts'

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
    expect(await held(at)).toBeGreaterThan(bill(model) * 3 + bill(other))
    expect(await charges(server)).toEqual([])
    expect((await openai.batches.retrieve(made.id)).status).toBe('in_progress')

    vendor.end(theirs, {
      reply: (body, id) => (id === 'd' ? undefined : answered(body, id === 'c' ? { usage: usage(60) } : {})),
    })
    const done = await openai.batches.retrieve(made.id)
    expect(done).toMatchObject({ id: made.id, status: 'completed', input_file_id: made.input_file_id })
    const sums = { [model]: bill(model) + bill(model, 60), [other]: bill(other) }
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
    expect(await held(at)).toBeGreaterThan(3 * bill(claude))
    await expect(batches.results(made.id)).rejects.toThrow()

    vendor.end(vendor.only(), { reply: (body, id) => (id === 'b' ? undefined : message(body)) })
    const done = await batches.retrieve(made.id)
    expect(done).toMatchObject({
      processing_status: 'ended',
      results_url: `${server.url}/v1/messages/batches/${made.id}/results`,
    })
    expect(await charges(server)).toEqual([{ reference: `charge:${made.id}.1`, amount: 2 * bill(claude) }])
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

  it('Gemini: a batch is ordered from its requests or from a file, charged once, and its results are read under its name', async () => {
    const at = await batchStage(kind)
    const { server, vendor, gemini } = at
    const { batches } = gemini
    const requests = ['one', 'two', 'three'].map((text) => ({
      contents: [{ role: 'user', parts: [{ text }] }],
      config: { maxOutputTokens: 50 },
    }))
    const made = await batches.create({ model: google, src: requests, config: { displayName: 'nightly' } })
    const name = made.name ?? ''
    expect(name).toMatch(/^batches\/[a-z0-9]{24}$/)
    expect(made).toMatchObject({ displayName: 'nightly', state: 'JOB_STATE_RUNNING', model: `models/${google}` })
    expect(await held(at)).toBeGreaterThan(3 * bill(google))
    const theirs = vendor.only()
    let turn = 0
    vendor.end(theirs, { reply: () => (turn++ === 0 ? undefined : generated()) })
    const done = await batches.get({ name })
    expect(done.state).toBe('JOB_STATE_SUCCEEDED')
    expect(
      done.dest?.inlinedResponses?.map(
        ({ response, error }) => response?.candidates?.[0]?.content?.parts?.[0]?.text ?? error?.code,
      ),
    ).toEqual(['four', 'four', 13])
    expect(JSON.stringify(done)).not.toContain(theirs.id)
    expect(await charges(server)).toEqual([{ reference: `charge:${name.slice('batches/'.length)}.1`, amount: 2 * bill(google) }])

    const lines = ['a', 'b'].map((key) => ({
      key,
      request: { contents: [{ parts: [{ text: key }] }], generationConfig: { maxOutputTokens: 50 } },
    }))
    const bytes = Buffer.from(lines.map((line) => JSON.stringify(line)).join('\n'))
    vendor.files.set('ours', { key: 'key-gemini', purpose: '', bytes })
    const { channel_id: channelId } = await server.app.db.selectFrom('batches').select('channel_id').executeTakeFirstOrThrow()
    await seedFile(server, { id: 'ours', channelId, dialect: 'gemini' })
    const second = await batches.create({ model: google, src: { fileName: 'files/ours' } })
    vendor.end(vendor.only(), { reply: generated })
    const read = await batches.get({ name: second.name ?? '' })
    const [, file = ''] = /^files\/(\w+)$/.exec(read.dest?.fileName ?? '') ?? []
    const content = await fetch(`${server.url}/v1beta/files/${file}:download?alt=media`, {
      headers: { 'x-goog-api-key': at.key },
    })
    expect(
      (await content.text())
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).key)
        .sort(),
    ).toEqual(['a', 'b'])
    const names: (string | undefined)[] = []
    for await (const job of await batches.list({ config: { pageSize: 1 } })) names.push(job.name)
    expect(names.sort()).toEqual([name, second.name].sort())
    expect((await charges(server)).map(({ amount }) => amount)).toEqual([2 * bill(google), 2 * bill(google)])

    const third = await batches.create({ model: google, src: requests })
    await batches.cancel({ name: third.name ?? '' })
    vendor.end(vendor.only(), { status: 'cancelled', reply: () => undefined })
    expect((await batches.get({ name: third.name ?? '' })).state).toBe('JOB_STATE_CANCELLED')
    await batches.delete({ name: third.name ?? '' })
    await expect(batches.get({ name: third.name ?? '' })).rejects.toMatchObject({ status: 404 })
    const stranger = sdks(server, (await tokenOfSecondUser(server)).key).gemini.batches
    for (const probe of [() => stranger.get({ name }), () => stranger.cancel({ name }), () => stranger.delete({ name })])
      await expect(probe()).rejects.toMatchObject({ status: 404 })
    await expect(stranger.create({ model: google, src: { fileName: 'files/ours' } })).rejects.toMatchObject({ status: 404 })
    expect(await held(at)).toBe(0)
    await requireBalancedBooks(server)
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
    expect(await charges(server)).toEqual([{ reference: `charge:${made.id}.1`, amount: 250 * bill(model) }])
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
    const at = await batchStage('sqlite', { unlimited_quota: false, remain_quota: 2000 })
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

  it('lets a hard budget and a balance be exceeded by no batch, also with 50 that are ordered at once on two nodes', async () => {
    const at = await batchStage('postgres')
    const { server, vendor, openai } = at
    const one = await create(openai, [request('0')])
    const each = await held(at)
    vendor.end(vendor.only(), { reply: () => undefined })
    await openai.batches.retrieve(one.id)
    const amount = each * 7 + 1
    await server.call('POST /api/budget/', { scope: 'token', subject: String(at.tokenId), period: 'day', amount })
    const second = sdks(await serverOfTest('postgres', { database: server.database }), at.key).openai
    const inputs = await Promise.all(Array.from({ length: 50 }, () => upload(openai, [request('0')])))
    const outcomes = await Promise.all(
      inputs.map((input_file_id, index) =>
        (index % 2 === 0 ? openai : second).batches.create({ input_file_id, ...order }).then(
          ({ status }) => status,
          (error: { code?: string }) => error.code ?? '',
        ),
      ),
    )
    const count = (outcome: string) => outcomes.filter((each) => each === outcome).length
    expect([count('in_progress'), count('budget_exceeded')]).toEqual([7, 43])
    expect(vendor.batches.size).toBe(8)
    expect(await held(at)).toBe(each * 7)
    for (const batch of vendor.batches.values()) endIfRuns(vendor, batch)
    await dueNow(server)
    await follow(server)
    expect((await charges(server)).map(({ amount: charged }) => charged)).toEqual(Array(7).fill(bill(model)))
    const sums = await server.app.db.selectFrom('budget_sums').select(['charged', 'held']).execute()
    expect(sums).toEqual([{ charged: 7 * bill(model), held: 0 }])
    await requireBalancedBooks(server)
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
    expect(amounts.sort((one, two) => one - two)).toEqual([bill(model), bill(mapped)].sort((one, two) => one - two))
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
    expect(charge?.amount).toBeGreaterThan(bill(model))
    expect(charge?.amount).toBeLessThan(2 * bill(model))
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

it('an order of Messages without an answer is taken for a batch of its vendor only where that is certain', async () => {
  const at = await batchStage()
  const { server, vendor, anthropic } = at
  const { batches } = anthropic.messages
  const params = { model: claude, max_tokens: 50, messages: [{ role: 'user' as const, content: 'one' }] }
  const lost = async (size: number) => {
    vendor.state.losesAnswers = true
    const requests = Array.from({ length: size }, (_, index) => ({ custom_id: `${index}`, params }))
    const { id } = await batches.create({ requests })
    vendor.state.losesAnswers = false
    return id
  }
  const stateOf = async (id: string) => {
    const row = await server.app.db.selectFrom('batches').select('state').where('id', '=', id).executeTakeFirst()
    return row?.state
  }
  const look = async () => {
    await dueNow(server)
    await follow(server)
  }
  const single = await lost(2)
  const alike = [await lost(3), await lost(3)]
  await look()
  expect(await stateOf(single)).toBe('running')
  expect(await Promise.all(alike.map(stateOf))).toEqual(['creating', 'creating'])
  const holds = await held(at)
  for (const [id, { requests }] of vendor.batches) if (requests.length === 3) vendor.batches.delete(id)
  await look()
  expect(await Promise.all(alike.map(stateOf))).toEqual([undefined, undefined])
  expect(await held(at)).toBeLessThan(holds)
  vendor.end(vendor.only(), { reply: message })
  expect((await batches.retrieve(single)).processing_status).toBe('ended')
  expect((await charges(server)).map(({ amount }) => amount)).toEqual([2 * bill(claude)])
  await requireBalancedBooks(server)
})

function endIfRuns(vendor: BatchStage['vendor'], batch: VendorBatch): void {
  if (batch.status === 'in_progress') vendor.end(batch, { reply: answered })
}

describe('the console', () => {
  it('lists batches with their progress, cost and requests, to their owner and to admins, and cancels', async () => {
    const { server, vendor, openai } = await batchStage()
    const made = await create(openai, [request('a'), request('b')])
    interface Listed {
      readonly items: readonly Record<string, unknown>[]
      readonly total: number
    }
    const lists = async () => Promise.all(['self', ''].map((own) => server.call<Listed>(`GET /api/batch/${own}`)))
    for (const { items, total } of await lists()) {
      expect(total).toBe(1)
      expect(items[0]).toMatchObject({ batch_id: made.id, state: 'running', requests: 2, done: 0, quota: 0, models: [model] })
      expect(items[0]?.held).toBeGreaterThan(0)
    }
    await server.call('POST /api/batch/self/cancel', { batch_id: made.id })
    expect(vendor.only().status).toBe('cancelling')
    vendor.end(vendor.only(), { status: 'cancelled', reply: (body, id) => (id === 'a' ? answered(body) : undefined) })
    await openai.batches.retrieve(made.id)
    const [own, all] = await lists()
    expect(own?.items[0]).toMatchObject({ state: 'settled', held: 0, quota: bill(model), username: '', channel_id: 0 })
    expect(all?.items[0]).toMatchObject({ username: 'root', channel_id: 1, quota: bill(model) })
    for (const path of ['self/lines', 'lines']) {
      const { items, total } = await server.call<Listed>(`GET /api/batch/${path}?batch_id=${made.id}&page_size=1`)
      expect(total).toBe(2)
      expect(items).toEqual([expect.objectContaining({ line: 1, custom_id: 'a', charged: true, quota: bill(model) })])
      const csv = await (await server.raw(`GET /api/batch/${path}/export.csv?batch_id=${made.id}`)).text()
      expect(csv.trim().split(/\r?\n/)).toHaveLength(3)
    }

    const { id } = await server.app.db.selectFrom('batches').select('id').executeTakeFirstOrThrow()
    await tokenOfSecondUser(server)
    await server.app.db.updateTable('batches').set({ user_id: 2 }).where('id', '=', id).execute()
    const unknown = { success: false, code: 'batch_unknown' }
    for (const line of [`GET /api/batch/self/lines?batch_id=${id}`, `GET /api/batch/self/lines/export.csv?batch_id=${id}`])
      expect(await (await server.raw(line)).json()).toMatchObject(unknown)
    expect(await (await server.raw('POST /api/batch/self/cancel', { batch_id: id })).json()).toMatchObject(unknown)
    expect((await server.call<Listed>('GET /api/batch/self')).total).toBe(0)
  })
})
