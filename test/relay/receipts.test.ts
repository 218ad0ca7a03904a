import { describe, expect, it } from 'vitest'
import { addToken, books } from '../helpers/seed.ts'
import { ask, chat, completion, httpUpstream, model, stage } from './stage.ts'

type Data = Record<string, unknown>

/** An upstream that answers the same to everybody, and what it was sent. */
async function upstream(reply: string) {
  const sent: Data[] = []
  const url = await httpUpstream(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += chunk
    sent.push(JSON.parse(text))
    response.writeHead(200, { 'content-type': 'application/json' }).end(reply)
  })
  return { url, sent }
}

describe('what a channel of the same protocol is not sent', () => {
  it.each<[type: number, name: string, more: Data, dropped: string]>([
    [1, 'gpt-5', { temperature: 0.2 }, 'temperature'],
    [1, 'gpt-4o', { reasoning_effort: 'high' }, 'reasoning_effort'],
    [42, 'mistral-large-latest', { logit_bias: { 5: 1 } }, 'logit_bias'],
  ])(
    'by a channel of type %i for %s with %j is named in header and row; a strict token is refused',
    async (type, name, more, dropped) => {
      const { url, sent } = await upstream(completion({ model: name }))
      const { server, token } = await stage('sqlite', url, { channel: { type, models: name } })
      const body = chat({ model: name, ...more })
      const answer = await ask(server, token.key, body)
      expect([answer.status, answer.headers.get('x-sluice-dropped')]).toEqual([200, dropped])
      expect(sent[0]).not.toHaveProperty(dropped)
      const other = JSON.parse((await books(server)).logs[0]?.other ?? '{}')
      expect(other).toMatchObject({ dropped: [dropped] })
      expect(other).not.toHaveProperty('reasoning_effort')

      const strict = await addToken(server, { strict_translation: true })
      const refused = await ask(server, strict.key, body)
      expect([refused.status, sent.length]).toEqual([400, 1])
      expect(refused.text).toContain(dropped)
      const plain = await ask(server, strict.key, chat({ model: name, tools: [], presence_penalty: 0, max_tokens: 50 }))
      expect([plain.status, plain.headers.get('x-sluice-dropped')]).toEqual([200, null])
    },
  )

  it('is not charged: a tier that was left out costs nothing more', async () => {
    const gemini = 'gemini-2.0-flash'
    const reply = {
      candidates: [{ content: { role: 'model', parts: [{ text: 'Rye.' }] }, finishReason: 'STOP', index: 0 }],
      usageMetadata: { promptTokenCount: 100, candidatesTokenCount: 11, totalTokenCount: 111 },
    }
    const { url } = await upstream(JSON.stringify(reply))
    const { server, ask: call } = await stage('sqlite', url, { channel: { type: 24, models: gemini } })
    const set = (key: string, value: object) => server.call('PUT /api/option/', { key, value: JSON.stringify(value) })
    await set('ModelRatio', { [gemini]: 1 })
    await set('CompletionRatio', { [gemini]: 1 })
    await set('TierFactor', { priority: 2 })
    const answer = await call(chat({ model: gemini, service_tier: 'priority' }))
    expect([answer.status, answer.headers.get('x-sluice-dropped')]).toEqual([200, 'service_tier'])
    const [row] = (await books(server)).logs
    expect(row?.quota).toBe(111)
    expect(JSON.parse(row?.other ?? '{}')).not.toHaveProperty('tier_asked')
  })
})

describe('what a channel of another protocol cannot take', () => {
  const tool = (name: string, more: Data) => ({
    type: 'function',
    function: { name, parameters: { type: 'object', properties: {} }, ...more },
  })

  it('is named when only some of the tools are strict and Cohere has one switch for all', async () => {
    const reply = {
      id: 'c',
      finish_reason: 'COMPLETE',
      message: { role: 'assistant', content: [{ type: 'text', text: 'Rye.' }] },
    }
    const usage = { billed_units: { input_tokens: 5, output_tokens: 3 }, tokens: { input_tokens: 5, output_tokens: 3 } }
    const { url, sent } = await upstream(JSON.stringify({ ...reply, usage }))
    const name = 'command-r-plus'
    const { ask: call } = await stage('sqlite', url, { channel: { type: 34, models: name } })
    const some = await call(chat({ model: name, tools: [tool('a', { strict: true }), tool('b', {})] }))
    expect([some.status, some.headers.get('x-sluice-dropped')]).toEqual([200, 'strict'])
    const all = await call(chat({ model: name, tools: [tool('a', { strict: true })] }))
    expect([all.status, all.headers.get('x-sluice-dropped'), sent[1]?.strict_tools]).toEqual([200, null, true])
  })

  it('is named when a breakpoint of the prompt cache has no place in Responses, and carried where it has one', async () => {
    const item = {
      type: 'message',
      id: 'm',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: 'Rye.' }],
    }
    const reply = { id: 'resp_1', object: 'response', status: 'completed', output: [item] }
    const { url, sent } = await upstream(
      JSON.stringify({ ...reply, usage: { input_tokens: 5, output_tokens: 3, total_tokens: 8 } }),
    )
    const names = [model, 'gpt-5.6']
    const { server, ask: call } = await stage('sqlite', url, {
      channel: { type: 58, models: names.join(','), other: '{"speaks":{"openai.responses":"/v1/responses"}}' },
    })
    await server.call('PUT /api/option/', { key: 'ModelRatio', value: JSON.stringify({ [model]: 1, 'gpt-5.6': 1 }) })
    const cache_control = { type: 'ephemeral' }
    const said = (name: string, more: Data = {}) => ({
      model: name,
      max_tokens: 100,
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi', cache_control }] }],
      ...more,
    })
    const old = await call(said(model), '/v1/messages')
    expect([old.status, old.headers.get('x-sluice-dropped')]).toEqual([200, 'cache_control'])
    const kept = await call(said('gpt-5.6'), '/v1/messages')
    expect([kept.status, kept.headers.get('x-sluice-dropped')]).toEqual([200, null])
    expect(JSON.stringify(sent[1])).toContain('prompt_cache_breakpoint')
    const system = await call(said('gpt-5.6', { system: [{ type: 'text', text: 'Be brief.', cache_control }] }), '/v1/messages')
    expect(system.headers.get('x-sluice-dropped')).toBe('cache_control')
  })
})
