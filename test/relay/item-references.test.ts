import { createOpenAI } from '@ai-sdk/openai'
import { generateText, jsonSchema, type ModelMessage, stepCountIs, streamText, tool } from 'ai'
import { expect, it, onTestFinished } from 'vitest'
import { startServer } from '../helpers/app.ts'
import { anyDatabase } from '../helpers/databases.ts'
import { addChannel, requireBalancedBooks } from '../helpers/seed.ts'
import { messagesReply } from '../helpers/vendor-replies.ts'
import { vendor } from './responses-vendor.ts'
import { answeringUpstream, ask as askServer, claude, model, settledCharges, stage } from './stage.ts'

const path = '/v1/responses'
const channel = { type: 14, models: claude }
const reference = (id: string) => ({ type: 'item_reference', id })

interface Sent {
  readonly stream?: boolean
  readonly messages: readonly { readonly role: string; readonly content: readonly Record<string, unknown>[] }[]
}

/** A simulated Claude that asks for the weather first and then answers with the number of the request. */
async function claudeUpstream() {
  const asked: Sent[] = []
  const { url } = await answeringUpstream(({ body }, count) => {
    // What the server writes for this vendor.
    asked.push(body as unknown as Sent)
    const says =
      body.tools && count === 1 ? { calls: [{ name: 'weather', input: { city: 'Bern' } }] } : { text: `Answer ${count}.` }
    return messagesReply({ model: claude, usage: [5, 2], ...says }, body.stream === true)
  })
  return { url, asked }
}

const said = ({ messages }: Sent) =>
  messages.map(({ role, content }) => `${role}: ${content.map((part) => part.text ?? part.type).join(', ')}`)

anyDatabase('an item that a request references by id', (_fresh, kind) => {
  for (const streams of [false, true])
    it(`is replaced from the stored turns: the Vercel AI SDK continues, ${streams ? 'streamed' : 'whole'}, with a channel that stores nothing`, async () => {
      const { url, asked } = await claudeUpstream()
      const { server, token } = await stage(kind, url, { channel })
      const bodies: string[] = []
      const provider = createOpenAI({
        apiKey: token.key,
        baseURL: `${server.url}/v1`,
        fetch: (address, init) => {
          bodies.push(String(init?.body))
          return fetch(address, init)
        },
      })
      const messages: ModelMessage[] = [{ role: 'user', content: 'How is it in Bern?' }]
      const tools = {
        weather: tool({
          inputSchema: jsonSchema<{ city: string }>({ type: 'object', properties: { city: { type: 'string' } } }),
          execute: ({ city }) => `Rain in ${city}`,
        }),
      }
      const settings = { model: provider.responses(claude), maxRetries: 0, tools, stopWhen: stepCountIs(4) }
      for (const question of ['And in Basel?', 'Thanks.']) {
        const asking = { ...settings, messages }
        const { response } = streams ? streamText(asking) : await generateText(asking)
        messages.push(...(await response).messages, { role: 'user', content: question })
      }
      expect(bodies.at(-1)).toContain('item_reference')
      expect(asked.map(said)).toEqual([
        ['user: How is it in Bern?'],
        ['user: How is it in Bern?', 'assistant: tool_use', 'user: tool_result'],
        ['user: How is it in Bern?', 'assistant: tool_use', 'user: tool_result', 'assistant: Answer 2.', 'user: And in Basel?'],
      ])
      expect(await settledCharges(server)).toHaveLength(3)
      await requireBalancedBooks(server)
    })

  it('is replaced on any channel and listed with the input; a turn stored with references can be continued', async () => {
    const { url, asked } = await claudeUpstream()
    const native = await vendor()
    const { server, ask, token } = await stage(kind, url, { channel })
    await addChannel(server, { url: native.url, models: model })
    const first = JSON.parse((await ask({ model: claude, input: 'One?' }, path)).text)
    const input = [{ role: 'user', content: 'One?' }, reference(first.output[0].id), { role: 'user', content: 'Two?' }]
    const second = JSON.parse((await ask({ model: claude, input }, path)).text)
    await ask({ model: claude, input: 'Three?', previous_response_id: second.id }, path)
    expect(asked.map(said).at(-1)).toEqual([
      'user: One?',
      'assistant: Answer 1.',
      'user: Two?',
      'assistant: Answer 2.',
      'user: Three?',
    ])
    const listed = await fetch(`${server.url}${path}/${second.id}/input_items?order=asc`, {
      headers: { authorization: `Bearer ${token.key}` },
    })
    expect((await listed.json()).data[1]).toMatchObject({ id: first.output[0].id, content: [{ text: 'Answer 1.' }] })

    expect((await ask({ model, input }, path)).status).toBe(200)
    expect(JSON.parse(native.asked[0]?.body ?? '').input[1]).toMatchObject({
      role: 'assistant',
      content: [{ text: 'Answer 1.' }],
    })
  })

  it('is a 404 for the caller, with the reason, when it is not stored for them', async () => {
    const { url, asked } = await claudeUpstream()
    const native = await vendor()
    const { server, ask } = await stage(kind, url, { channel })
    await addChannel(server, { url: native.url, models: model })
    const unkept = JSON.parse((await ask({ model: claude, input: 'One?', store: false }, path)).text)
    const kept = JSON.parse((await ask({ model: claude, input: 'Two?' }, path)).text)
    await server.app.db.updateTable('own_responses').set({ user_id: 77 }).execute()
    const [wasAsked, nativeAsked] = [asked.length, native.asked.length]
    for (const id of [unkept.output[0].id, kept.output[0].id, 'msg_nobody', `rs_${'x'.repeat(300)}`, 'msg_\u0000'])
      for (const name of [claude, model])
        for (const more of [{}, { stream: true }]) {
          const refused = await ask({ model: name, input: [reference(id)], ...more }, path)
          expect([refused.status, JSON.parse(refused.text).error]).toEqual([
            404,
            {
              type: 'invalid_request_error',
              code: 'item_not_found',
              param: 'input',
              message: expect.stringContaining('Send the item itself'),
            },
          ])
        }
    expect([asked.length, native.asked.length]).toEqual([wasAsked, nativeAsked])
    await requireBalancedBooks(server)
  })

  it('selects the channel and key whose upstream stores it, before higher priorities, from another node too', async () => {
    const provider = await vendor()
    const other = await vendor()
    const { server, ask, token } = await stage(kind, provider.url, { channel: { key: 'key-number-one', priority: 5 } })
    const first = JSON.parse((await ask({ model, input: 'Hi' }, path)).text)
    const streamed = (await ask({ model, input: 'Hi', stream: true }, path)).text
    expect(streamed).toContain('response.completed')
    await addChannel(server, { url: other.url, models: `${model},gpt-4o`, priority: 9 })
    const input = [{ role: 'user', content: 'Hi' }, reference(first.output[0].id), { role: 'user', content: 'And?' }]
    expect((await ask({ model, input }, path)).status).toBe(200)
    expect(other.asked).toEqual([])
    expect(JSON.parse(provider.asked.at(-1)?.body ?? '').input).toEqual(input)

    const elsewhere = await ask({ model: 'gpt-4o', input }, path)
    expect([elsewhere.status, JSON.parse(elsewhere.text).error.message]).toEqual([
      404,
      expect.stringContaining('does not serve this model'),
    ])
    await requireBalancedBooks(server)

    if (kind === 'postgres') {
      const node = await startServer('postgres', { database: server.database })
      onTestFinished(() => node.stop())
      expect((await askServer(node, token.key, { model, input }, path)).status).toBe(200)
      expect(other.asked).toEqual([])
    }
  })

  it.each([
    ['whole', {}],
    ['streamed by a host that ends with all items at once', { stream: true }],
  ])("of a reply that arrived %s and that its upstream has lost is a 404 in the caller's dialect", async (_, more) => {
    const message = "Item with id 'rs_1' not found. Items are not persisted when `store` is set to false."
    const error = { message, type: 'invalid_request_error', param: 'input', code: null }
    const made = {
      ...{ id: 'resp_1', object: 'response', status: 'completed', model },
      output: [{ type: 'reasoning', id: 'rs_1', summary: [] }],
      usage: { input_tokens: 3, output_tokens: 4, total_tokens: 7 },
    }
    const events = [
      { type: 'response.created', response: { ...made, status: 'in_progress', output: [], usage: null } },
      { type: 'response.completed', response: made },
    ].map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
    const { url, heard } = await answeringUpstream((_, count) => {
      if (count > 1) return { json: { error }, status: 404 }
      return 'stream' in more ? events.join('') : { json: made }
    })
    const { server, ask } = await stage(kind, url)
    await ask({ model, input: 'Hi', ...more }, path)
    const answer = await ask({ model, input: [reference('rs_1')] }, path)
    expect([answer.status, JSON.parse(answer.text).error.message]).toEqual([404, expect.stringContaining(message)])
    expect(heard).toHaveLength(2)
    await requireBalancedBooks(server)
  })
})

it('an item that one node has stored is inserted by another', async () => {
  const { url, asked } = await claudeUpstream()
  const { server, ask, token } = await stage('postgres', url, { channel })
  const first = JSON.parse((await ask({ model: claude, input: 'One?' }, path)).text)
  const node = await startServer('postgres', { database: server.database })
  onTestFinished(() => node.stop())
  const input = [reference(first.output[0].id), { role: 'user', content: 'Two?' }]
  expect((await askServer(node, token.key, { model: claude, input }, path)).status).toBe(200)
  expect(asked.map(said).at(-1)?.slice(-2)).toEqual(['assistant: Answer 1.', 'user: Two?'])
})
