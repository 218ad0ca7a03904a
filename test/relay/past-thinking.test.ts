import Anthropic from '@anthropic-ai/sdk'
import { expect, it } from 'vitest'
import { anyDatabase } from '../helpers/databases.ts'
import { addChannel, addToken, books, requireBalancedBooks } from '../helpers/seed.ts'
import { sharedStages } from './shared-stage.ts'
import { answeringUpstream, ask as askServer, completion, model } from './stage.ts'

const claude = 'claude-3-7-sonnet-20250219'
const usage = { input_tokens: 10, output_tokens: 2 }

interface Block {
  readonly type: string
  readonly signature?: string
}
interface Sent {
  readonly messages: readonly { readonly role: string; readonly content: string | readonly Block[] }[]
  readonly thinking?: { readonly type: string }
}

/** A simulated Claude that refuses what the vendor refuses: thinking that is not its own, and calls without the thinking before them. */
async function claudeUpstream(isOwn: (signature: string) => boolean = (signature) => signature === 'own') {
  const asked: Sent[] = []
  const { url } = await answeringUpstream(({ body }) => {
    // What the server writes for this vendor.
    const sent = body as unknown as Sent
    asked.push(sent)
    const message = refusalOf(sent, isOwn)
    if (message) return { json: { type: 'error', error: { type: 'invalid_request_error', message } }, status: 400 }
    return {
      json: {
        ...{ id: 'msg_1', type: 'message', role: 'assistant', model: claude, stop_sequence: null, usage },
        ...{ content: [{ type: 'text', text: 'Rain.' }], stop_reason: 'end_turn' },
      },
    }
  })
  return { url, asked }
}

function refusalOf({ messages, thinking }: Sent, isOwn: (signature: string) => boolean): string | undefined {
  const blocks = messages.map(({ content }) => (typeof content === 'string' ? [] : content))
  for (const [at, list] of blocks.entries())
    for (const [index, { type, signature = '' }] of list.entries())
      if ((type === 'thinking' && !isOwn(signature)) || type === 'redacted_thinking')
        return `messages.${at}.content.${index}: Invalid \`signature\` in \`thinking\` block`
  const last = blocks[messages.findLastIndex(({ role }) => role === 'assistant')] ?? []
  if (thinking?.type === 'enabled' && last.some(({ type }) => type === 'tool_use') && last[0]?.type !== 'thinking')
    return 'Expected `thinking` or `redacted_thinking`, but found `tool_use`'
  return undefined
}

const tools = [{ name: 'weather', input_schema: { type: 'object' as const, properties: { city: { type: 'string' } } } }]
const asking = { max_tokens: 4000, thinking: { type: 'enabled' as const, budget_tokens: 2000 }, tools }
const question = { role: 'user' as const, content: 'How is it in Bern?' }
const call = { type: 'tool_use', id: 'toolu_1', name: 'weather', input: { city: 'Bern' } }
const result = { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'Rain' }] }

const thinking = completion({
  choices: [
    {
      index: 0,
      message: {
        ...{ role: 'assistant', content: null, reasoning_content: 'I look it up.' },
        tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{"city":"Bern"}' } }],
      },
      finish_reason: 'tool_calls',
    },
  ],
})
/** A vendor of Chat that thinks and calls the tool. */
const thinker = async () => (await answeringUpstream(thinking)).url

anyDatabase('a conversation in Messages that another vendor answered', (_fresh, kind) => {
  const sharedStage = sharedStages(kind)

  it('returns to Claude without thinking written for it, and without thinking before its calls', async () => {
    const { url, asked } = await claudeUpstream()
    const { server, token } = await sharedStage(await thinker(), { type: 8 })
    await addChannel(server, { url, type: 14, models: claude })
    const client = new Anthropic({ apiKey: token.key, baseURL: server.url, maxRetries: 0 })
    const first = await client.messages.create({ ...asking, model, messages: [question] })
    expect(first.content.map(({ type }) => type)).toEqual(['thinking', 'tool_use'])
    const [, used] = first.content
    if (used?.type !== 'tool_use') throw new Error('no tool was called')
    const answered = { type: 'tool_result' as const, tool_use_id: used.id, content: 'Rain' }
    const messages: Anthropic.MessageParam[] = [
      question,
      { role: 'assistant', content: first.content },
      { role: 'user', content: [answered] },
    ]
    const { data, response } = await client.messages.create({ ...asking, model: claude, messages }).withResponse()
    expect(data.content).toMatchObject([{ type: 'text', text: 'Rain.' }])
    expect(response.headers.get('x-sluice-dropped')).toBe('thinking')
    expect(asked).toHaveLength(1)
    expect(asked[0]).not.toHaveProperty('thinking')
    expect(asked[0]?.messages[1]?.content).toMatchObject([{ type: 'tool_use', id: used.id }])
    expect(JSON.parse((await books(server)).logs.at(-1)?.other ?? '{}').dropped).toEqual(['thinking'])

    const over = [
      ...messages,
      { role: 'assistant' as const, content: data.content },
      { role: 'user' as const, content: 'Thanks.' },
    ]
    const next = await client.messages.create({ ...asking, model: claude, messages: over }).withResponse()
    expect(next.response.headers.get('x-sluice-dropped')).toBeNull()
    expect(asked[1]?.thinking).toEqual(asking.thinking)

    const strict = await addToken(server, { strict_translation: true })
    const refused = await askServer(server, strict.key, { ...asking, model: claude, messages }, '/v1/messages')
    expect([refused.status, JSON.parse(refused.text).error.message]).toEqual([400, expect.stringContaining('thinking')])
    expect(asked).toHaveLength(2)
    await requireBalancedBooks(server)
  })

  it('is sent again without any reasoning when Claude refuses the signatures', async () => {
    const { url, asked } = await claudeUpstream()
    const { server, ask } = await sharedStage(url, { type: 14, models: claude })
    const thought = (signature: string) => ({ type: 'thinking', thinking: 'I look it up.', signature })
    const before = [
      question,
      { role: 'assistant', content: [thought('of another account'), { type: 'text', text: 'Rain.' }] },
      { role: 'user', content: 'And in Basel?' },
    ]
    const answer = await ask({ ...asking, model: claude, messages: before }, '/v1/messages')
    expect(answer.status).toBe(200)
    expect(asked.map(({ thinking }) => thinking?.type)).toEqual(['enabled', 'enabled'])
    expect(asked[1]?.messages[1]?.content).toEqual([{ type: 'text', text: 'Rain.' }])
    expect(answer.headers.get('x-sluice-dropped')).toBe('messages.thinking')

    const calling = [question, { role: 'assistant', content: [thought('of a third account'), call] }, result]
    expect((await ask({ ...asking, model: claude, messages: calling }, '/v1/messages')).status).toBe(200)
    expect(asked).toHaveLength(4)
    expect(asked[3]).not.toHaveProperty('thinking')
    await requireBalancedBooks(server)
  })

  it('is sent only once when there is no reasoning to leave out', async () => {
    const { url, asked } = await claudeUpstream(() => false)
    const { ask } = await sharedStage(url, { type: 14, models: claude })
    const plain = [question, { role: 'assistant', content: [call] }, result]
    expect((await ask({ ...asking, model: claude, messages: plain }, '/v1/messages')).status).toBe(400)
    expect(asked).toHaveLength(1)
  })
})
