import OpenAI from 'openai'
import { expect, it } from 'vitest'
import { anyDatabase } from '../helpers/databases.ts'
import { requireBalancedBooks } from '../helpers/seed.ts'
import { type Foreign, foreignNames, foreignStages } from './foreign-stage.ts'
import { caller, type Event } from './realtime-stage.ts'
import { settledCharges } from './stage.ts'

/** Tools as Codex offers them: flat ones, its own multi-agent tools, and an MCP server with long names. */
const parameters = { type: 'object', properties: { port: { type: 'string' } }, required: ['port'] }
const fn = (name: string) => ({ type: 'function' as const, name, description: `Runs ${name}`, parameters, strict: false })
const long = 'list_every_tide_of_every_port_of_the_whole_coast_with_its_height_and_its_hour'
const tools = [
  fn('shell'),
  fn('agents__spawn'),
  { type: 'namespace' as const, name: 'agents', description: 'Manages helpers.', tools: [fn('spawn'), fn('wait')] },
  { type: 'namespace' as const, name: 'mcp__harbour__', description: 'The harbour.', tools: [fn('tide'), fn(long)] },
]
const wanted = [
  { namespace: 'agents', name: 'wait' },
  { namespace: 'mcp__harbour__', name: long },
  { namespace: 'agents', name: 'spawn' },
  { name: 'agents__spawn' },
  { name: 'shell' },
]
const namesMax: Readonly<Record<Foreign, number>> = { Anthropic: 128, Gemini: 64, 'Chat alone': 64 }
const question = { role: 'user' as const, content: 'When is high tide?' }

/** Positions of the calls in the upstream's tool list: the flat tools first, then the namespaces in their order. */
const called = [3, 5, 2, 1, 0]

anyDatabase('tools in namespaces', (_fresh, kind) => {
  const foreignStageOf = foreignStages(kind)

  for (const name of foreignNames) {
    const staged = () =>
      foreignStageOf(name, ({ tools: offered }, turn) =>
        turn === 2
          ? { text: 'At noon.' }
          : { calls: called.map((at) => ({ name: offered[at] ?? '', input: { port: `p${at}` } })) },
      )

    for (const isStream of [false, true]) {
      it(`${name}, ${isStream ? 'streamed' : 'whole'}: are flattened for the model, called by namespace and name, and accepted back by them`, async () => {
        const { server, token, asked, model } = await staged()
        const client = new OpenAI({ apiKey: token.key, baseURL: `${server.url}/v1`, maxRetries: 0 })
        const answer = (input: OpenAI.Responses.ResponseInput): Promise<OpenAI.Responses.Response> =>
          isStream
            ? client.responses.stream({ model, input, tools }).finalResponse()
            : client.responses.create({ model, input, tools })

        const first = await answer([question])
        const calls = first.output.filter((item) => item.type === 'function_call')
        expect(calls.map((call) => ({ ...(call.namespace ? { namespace: call.namespace } : {}), name: call.name }))).toEqual(
          wanted,
        )
        expect(calls.map((call) => JSON.parse(call.arguments).port)).toEqual(called.map((at) => `p${at}`))
        expect(first.tools.map((tool) => [tool.type, 'name' in tool && tool.name])).toEqual(
          tools.map((tool) => [tool.type, tool.name]),
        )
        const [one] = asked
        expect(one?.isStream).toBe(isStream)
        expect(one?.tools.slice(0, 2)).toEqual(['shell', 'agents__spawn'])
        expect(one?.tools[2]).toMatch(/^agents__spawn_\w{6}$/)
        expect(one?.tools.slice(3, 5)).toEqual(['agents__wait', 'mcp__harbour____tide'])
        expect(new Set(one?.tools).size).toBe(6)
        expect(one?.tools.filter((offered) => offered.length > namesMax[name])).toEqual([])
        // The description of a namespace is sent once.
        expect(JSON.stringify(one?.body).match(/Manages helpers\./g)).toHaveLength(1)

        // Output is sent back as input, as the vendor's guide shows; the types of the SDK do not allow that.
        const results = calls.map(({ call_id }) => ({ type: 'function_call_output' as const, call_id, output: 'high' }))
        const second = await answer([question, ...first.output, ...results] as OpenAI.Responses.ResponseInput)
        expect(second.output_text).toBe('At noon.')
        expect(asked[1]?.tools).toEqual(asked[0]?.tools)
        const history = JSON.stringify(asked[1]?.body.messages ?? asked[1]?.body.contents)
        for (const at of called) expect(history).toContain(`"name":"${asked[0]?.tools[at]}"`)
        expect(await settledCharges(server)).toHaveLength(2)
        await requireBalancedBooks(server)
      })
    }

    it(`${name}, over a WebSocket: are called by namespace and name, and remembered by them`, async () => {
      const { server, token, asked, model } = await staged()
      const client = caller(server.url, token.key, { path: '/v1/responses' })
      await client.opened()
      client.say({ type: 'response.create', model, input: [question], tools, store: false })
      const { response } = (await client.hears('response.completed')) as Event & { response: { id: string; output: Event[] } }
      const calls = response.output.filter(({ type }) => type === 'function_call')
      expect(calls).toMatchObject(wanted)
      const done = client.heard.filter(({ type }) => type === 'response.output_item.done').map(({ item }) => item)
      expect(done).toMatchObject(wanted)

      const input = calls.map(({ call_id }) => ({ type: 'function_call_output', call_id, output: 'high' }))
      client.say({ type: 'response.create', model, previous_response_id: response.id, input, tools, store: false })
      expect(JSON.stringify(await client.hears('response.completed', 2))).toContain('At noon.')
      const history = JSON.stringify(asked[1]?.body.messages ?? asked[1]?.body.contents)
      for (const at of called) expect(history).toContain(`"name":"${asked[0]?.tools[at]}"`)
      client.socket.close(1000)
      expect(await settledCharges(server)).toHaveLength(2)
      await requireBalancedBooks(server)
    })
  }

  it('keep their names in a conversation that this server stores', async () => {
    const { asked, ask, model } = await foreignStageOf('Gemini', ({ tools: offered }, turn) =>
      turn === 1 ? { calls: [{ name: offered[3] ?? '', input: {} }] } : { text: 'Done.' },
    )
    const first = JSON.parse((await ask({ model, input: 'hi', tools }, '/v1/responses')).text)
    const [call] = first.output.filter(({ type }: Event) => type === 'function_call')
    expect(call).toMatchObject({ namespace: 'agents', name: 'wait' })
    const input = [{ type: 'function_call_output', call_id: call.call_id, output: 'done' }]
    // Its tools have changed since: the earlier call keeps its name.
    const later = { model, previous_response_id: first.id, input, tools: [fn('shell')] }
    expect((await ask(later, '/v1/responses')).status).toBe(200)
    expect(JSON.stringify(asked[1]?.body.contents)).toContain('"name":"agents__wait"')
  })

  it('may be chosen by name, and a whole namespace may be allowed', async () => {
    const { asked, ask, model } = await foreignStageOf('Anthropic', () => ({ text: 'ok' }))
    const choose = (tool_choice: unknown) => ask({ model, input: 'hi', tools, tool_choice }, '/v1/responses')
    await choose({ type: 'function', name: 'tide' })
    expect(asked[0]?.body.tool_choice).toEqual({ type: 'tool', name: 'mcp__harbour____tide' })
    await choose({ type: 'allowed_tools', mode: 'auto', tools: [{ type: 'namespace', name: 'agents' }] })
    expect(asked[1]?.tools).toEqual([expect.stringMatching(/^agents__spawn_/), 'agents__wait'])
  })
})
