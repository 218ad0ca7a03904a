import { expect, it } from 'vitest'
import { anyDatabase } from '../helpers/databases.ts'
import { requireBalancedBooks } from '../helpers/seed.ts'
import { foreignNames, foreignStages } from './foreign-stage.ts'
import { settledCharges } from './stage.ts'

const schema = { type: 'object', properties: {} }
const user = (text: string) => ({ role: 'user', content: text })
const assistant = (text: string) => ({ role: 'assistant', content: text })
const system = (...content: object[]) => ({ role: 'system', content })
const add = (tool: object) => ({ type: 'tool_addition', tool })
const remove = (name: string) => ({ type: 'tool_removal', tool: { type: 'tool_reference', name } })
const named = (name: string) => ({ type: 'tool_reference', name })
const defined = (name: string) => ({ type: 'tool_definition', definition: { name, input_schema: schema } })
const fn = (name: string, more: object = {}) => ({ type: 'function', name, parameters: schema, strict: false, ...more })

/** The members of a request other than its tools, as text. */
function saidIn({ tools: _tools, ...body }: Record<string, unknown>): string {
  return JSON.stringify(body)
}

anyDatabase('tools that change in the middle of a conversation', (_fresh, kind) => {
  const foreignStageOf = foreignStages(kind)

  for (const name of foreignNames.filter((each) => each !== 'Anthropic')) {
    it(`Messages to ${name}: are added and removed by system messages, which are not in the history`, async () => {
      const { server, asked, ask, model } = await foreignStageOf(name, () => ({ text: 'ok' }))
      const messages = async (...said: object[]) => {
        const tools = ['a', 'b'].map((tool) => ({ name: tool, input_schema: schema }))
        const later = { name: 'later', input_schema: schema, defer_loading: true }
        const body = { model, max_tokens: 100, tools: [...tools, later], messages: [user('one'), ...said, user('two')] }
        const { status, text } = await ask(body, '/v1/messages')
        expect(status, text).toBe(200)
        return asked.at(-1)?.tools
      }
      const answer = assistant('ok')
      expect(await messages(answer)).toEqual(['a', 'b'])
      expect(await messages(answer, system(add(named('later'))))).toEqual(['a', 'b', 'later'])
      const plain = saidIn(asked[0]?.body ?? {})
      expect(saidIn(asked[1]?.body ?? {})).toBe(plain)
      expect(await messages(answer, system(remove('a'), add(defined('c'))))).toEqual(['b', 'c'])
      expect(await messages(system(remove('a')), answer, system(add(named('a')), remove('b')))).toEqual(['a'])
      expect(await messages(answer, system(add(defined('c'))), answer, system(remove('c')))).toEqual(['a', 'b'])
      expect(await messages(answer, system(remove('b'), { type: 'text', text: 'Be brief.' }))).toEqual(['a'])
      expect(saidIn(asked.at(-1)?.body ?? {})).toContain('Be brief.')
      expect(await settledCharges(server)).toHaveLength(6)
      await requireBalancedBooks(server)
    })

    it(`Messages to ${name}: include those that the caller's search tool found`, async () => {
      const { asked, ask, model } = await foreignStageOf(name, () => ({ text: 'ok' }))
      const found = { type: 'tool_result', tool_use_id: 't', content: [{ type: 'tool_reference', tool_name: 'later' }] }
      const search = { name: 'find', input_schema: schema }
      const later = ['later', 'never'].map((tool) => ({ name: tool, input_schema: schema, defer_loading: true }))
      const messages = [
        user('one'),
        { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'find', input: {} }] },
        { role: 'user', content: [found] },
      ]
      await ask({ model, max_tokens: 100, tools: [search, ...later], messages }, '/v1/messages')
      expect(asked[0]?.tools).toEqual(['find', 'later'])
      // A search that the vendor runs cannot be translated: all of its tools are sent instead.
      const hosted = { type: 'tool_search_tool_regex_20251119', name: 'tool_search_tool_regex' }
      const { headers } = await ask(
        { model, max_tokens: 100, tools: [hosted, ...later], messages: [user('one')] },
        '/v1/messages',
      )
      expect(asked[1]?.tools).toEqual(['later', 'never'])
      expect(headers.get('x-sluice-dropped')).toBe('tools.tool_search_tool_regex')
    })
  }

  it('Messages: are refused where a change names an unknown tool; those defined inline are dropped or need a price like others', async () => {
    const { asked, ask, model, server, channelId } = await foreignStageOf('Chat alone', () => ({ text: 'ok' }))
    const request = (...content: object[]) => ({
      ...{ model, max_tokens: 100, tools: [{ name: 'a', input_schema: schema }] },
      messages: [user('one'), assistant('ok'), system(...content), user('two')],
    })
    const unknown = await ask(request(remove('ghost')), '/v1/messages')
    expect([unknown.status, unknown.text]).toEqual([400, expect.stringContaining('messages[2].content[0].tool.name')])
    const telescope = { type: 'tool_definition', definition: { type: 'telescope_20270101', name: 'telescope' } }
    expect((await ask(request(add(telescope)), '/v1/messages')).headers.get('x-sluice-dropped')).toBe('tools.telescope')
    await server.call('PUT /api/channel/', { id: channelId, type: 14 })
    const unpriced = await ask(request(add(telescope)), '/v1/messages')
    expect([unpriced.status, unpriced.text]).toEqual([400, expect.stringContaining('ToolPrice')])
    expect(asked).toHaveLength(1)
  })

  for (const name of foreignNames) {
    it(`Responses to ${name}: can be in items of the input, and replace earlier tools of the same name`, async () => {
      const { server, asked, ask, model } = await foreignStageOf(name, () => ({ text: 'ok' }))
      const folder = { type: 'namespace', name: 'harbour', description: 'The harbour.', tools: [fn('tide')] }
      const input = [
        user('one'),
        { type: 'message', role: 'developer', content: [] },
        { type: 'additional_tools', role: 'developer', tools: [fn('a', { description: 'newer' }), folder] },
        { type: 'function_call', call_id: 'c', namespace: 'harbour', name: 'tide', arguments: '{}' },
        { type: 'function_call_output', call_id: 'c', output: 'high' },
        { type: 'tool_search_output', call_id: null, execution: 'server', tools: [fn('found', { defer_loading: true })] },
      ]
      const tools = [fn('a', { description: 'older' }), fn('b')]
      const { status, text } = await ask({ model, input, tools }, '/v1/responses')
      expect(status, text).toBe(200)
      const [one] = asked
      expect(one?.tools).toEqual(['a', 'b', 'harbour__tide', 'found'])
      expect(JSON.stringify(one?.body)).toContain('newer')
      expect(JSON.stringify(one?.body)).not.toContain('older')
      expect(saidIn(one?.body ?? {})).toContain('"name":"harbour__tide"')
      expect(saidIn(one?.body ?? {})).not.toMatch(/"role":"(system|developer)"/)
      await requireBalancedBooks(server)
    })

    for (const stream of [false, true]) {
      it(`Responses to ${name}, ${stream ? 'streamed' : 'whole'}: are found by a search that the caller runs`, async () => {
        const { server, asked, ask, model } = await foreignStageOf(name, ({ tools }, turn) => {
          if (turn === 1) return { calls: [{ name: 'tool_search', input: { query: 'tides' } }] }
          if (turn === 2) return { calls: [{ name: tools.at(-1) ?? '', input: {} }] }
          return { text: 'At noon.' }
        })
        const search = {
          ...{ type: 'tool_search', execution: 'client', description: 'Finds tools.' },
          parameters: { type: 'object', properties: { query: { type: 'string' } } },
        }
        const tools = [fn('a'), search, fn('deferred', { defer_loading: true })]
        const input: object[] = [user('When is high tide?')]
        const next = async () => {
          const { text } = await ask({ model, input, tools, stream }, '/v1/responses')
          const done = stream ? /^data: (\{"type":"response\.completed".*)$/m.exec(text)?.[1] : `{"response":${text}}`
          const { response } = JSON.parse(done ?? '{}')
          input.push(...response.output)
          return response
        }

        const first = await next()
        expect(first.tools).toMatchObject([{ name: 'a' }, { type: 'tool_search', execution: 'client' }])
        expect(first.output).toMatchObject([
          { type: 'tool_search_call', execution: 'client', status: 'completed', arguments: { query: 'tides' } },
        ])
        const { call_id } = first.output[0]
        const folder = { type: 'namespace', name: 'harbour', description: '', tools: [fn('tide', { defer_loading: true })] }
        input.push({ type: 'tool_search_output', call_id, execution: 'client', status: 'completed', tools: [folder] })
        const second = await next()
        expect(second.output).toMatchObject([{ type: 'function_call', namespace: 'harbour', name: 'tide' }])
        input.push({ type: 'function_call_output', call_id: second.output[0].call_id, output: 'noon' })
        expect(JSON.stringify((await next()).output)).toContain('At noon.')
        expect(asked.map((each) => each.tools)).toEqual([
          ['a', 'tool_search'],
          ['a', 'tool_search', 'harbour__tide'],
          ['a', 'tool_search', 'harbour__tide'],
        ])
        expect(saidIn(asked[1]?.body ?? {})).toContain('harbour__tide')
        expect(await settledCharges(server)).toHaveLength(3)
        await requireBalancedBooks(server)
      })
    }
  }
})
