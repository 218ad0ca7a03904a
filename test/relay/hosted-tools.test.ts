import { expect, it } from 'vitest'
import { anyDatabase } from '../helpers/databases.ts'
import { addChannel, addToken, books, requireBalancedBooks, setOptions } from '../helpers/seed.ts'
import { type Foreign, foreignNames, foreignStage, foreignStages } from './foreign-stage.ts'
import { ask as askAs, httpUpstream, settledCharges } from './stage.ts'

const parameters = { type: 'object', properties: {} }
const shell = { type: 'function', name: 'shell', parameters, strict: false }
/** The tools that agents send with every request. `telescope` has no price. */
const offered = [shell, { type: 'web_search' }, { type: 'image_generation' }, { type: 'telescope' }]
const path = '/v1/responses'

/** The tools above that each of them lacks, in addition to a function. */
const lacks: Readonly<Record<Foreign, string>> = {
  Anthropic: 'tools.image_generation, tools.telescope',
  Gemini: 'tools.image_generation, tools.telescope, tools.web_search',
  'Chat alone': 'tools.image_generation, tools.telescope, tools.web_search',
}

const codeOf = ({ status, text }: { status: number; text: string }) => [status, JSON.parse(text).error]
const refusal = (param: string) => [400, expect.objectContaining({ code: 'unsupported_parameter', param })]

anyDatabase('hosted tools that the upstream model lacks', (_fresh, kind) => {
  const foreignStageOf = foreignStages(kind)

  for (const name of foreignNames) {
    it(`${name}: are left out with a receipt as long as another tool remains, whole and streamed, and cost nothing`, async () => {
      const { server, asked, ask, model } = await foreignStageOf(name, () => ({ text: 'ok' }))
      for (const stream of [false, true]) {
        const answer = await ask({ model, input: 'hi', tools: offered, tool_choice: 'auto', stream }, path)
        expect([answer.status, answer.headers.get('x-sluice-dropped')], answer.text).toEqual([200, lacks[name]])
        // The answer repeats the tools that the model has.
        expect(answer.text.includes('"type":"web_search"')).toBe(name === 'Anthropic')
        expect(answer.text).not.toContain('telescope')
      }
      expect(asked.map(({ tools }) => tools)).toEqual(
        Array.from({ length: 2 }, () => (name === 'Anthropic' ? ['shell', 'web_search'] : ['shell'])),
      )
      expect(JSON.stringify(asked.map(({ body }) => body))).not.toMatch(
        /telescope|image_generation|googleSearch|web_search_options/,
      )
      expect(await settledCharges(server)).toHaveLength(2)
      for (const row of (await books(server)).logs) {
        const other = JSON.parse(row.other)
        expect(other.dropped.join(', ')).toBe(lacks[name])
        expect([other.searches ?? 0, other.tool_calls]).toEqual([0, undefined])
        expect(row.quota).toBe(Math.ceil(row.prompt_tokens + row.completion_tokens * Number(other.completion_ratio)))
      }
      await requireBalancedBooks(server)
    })

    it(`${name}: refuse the request if no other tool remains, if one is forced, and if the token is strict`, async () => {
      const { server, asked, ask, model } = await foreignStageOf(name, () => ({ text: 'ok' }))
      const only = await ask({ model, input: 'hi', tools: [{ type: 'file_search' }] }, path)
      expect(codeOf(only)).toEqual(refusal('tools[0].type'))
      for (const [tool_choice, param] of [
        [{ type: 'web_search_preview' }, 'tool_choice.type'],
        [{ type: 'allowed_tools', mode: 'auto', tools: [{ type: 'image_generation' }] }, 'tool_choice.tools[0].type'],
      ] as const) {
        expect(codeOf(await ask({ model, input: 'hi', tools: offered, tool_choice }, path))).toEqual(refusal(param))
      }
      const { key } = await addToken(server, { strict_translation: true })
      const strict = await askAs(server, key, { model, input: 'hi', tools: offered }, path)
      expect(codeOf(strict)).toEqual([400, expect.objectContaining({ param: lacks[name].split(', ').toSorted().join(', ') })])
      expect(asked).toEqual([])
      expect((await books(server)).ledger.filter(({ kind }) => kind === 'charge')).toEqual([])
      await requireBalancedBooks(server)
    })
  }

  it('include a search that is converted for a model with its own search, and refused as the only tool for a model without one', async () => {
    const search = { input: 'hi', tools: [{ type: 'web_search' }] }
    const gemini = await foreignStageOf('Gemini', () => ({ text: 'ok' }))
    const carried = await gemini.ask({ ...search, model: gemini.model }, path)
    expect([carried.status, carried.headers.get('x-sluice-dropped')]).toEqual([200, null])
    expect(gemini.asked[0]?.body.tools).toEqual([{ googleSearch: {} }])
    const chat = await foreignStageOf('Chat alone', () => ({ text: 'ok' }))
    expect(codeOf(await chat.ask({ ...search, model: chat.model }, path))).toEqual(refusal('tools.web_search'))
    // No other vendor can limit a search to some sites.
    const sites = {
      model: gemini.model,
      input: 'hi',
      tools: [shell, { type: 'web_search', filters: { allowed_domains: ['a.test'] } }],
    }
    expect((await gemini.ask(sites, path)).headers.get('x-sluice-dropped')).toBe('tools.web_search')
  })

  it('refuse the request where the site, the channel or the token does not allow to leave tools out', async () => {
    const { server, asked, ask, model, channelId } = await foreignStage(kind, 'Gemini', () => ({ text: 'ok' }))
    const request = { model, input: 'hi', tools: [shell, { type: 'web_search' }] }
    const set = (value: boolean) => setOptions(server, { 'translation.refuse_hosted_tools': value })
    const setChannel = (setting: object) => server.call('PUT /api/channel/', { id: channelId, setting: JSON.stringify(setting) })

    await set(true)
    expect(codeOf(await ask(request, path))).toEqual(refusal('tools.web_search'))
    await set(false)
    await setChannel({ refuse_hosted_tools: true })
    expect(codeOf(await ask(request, path))).toEqual(refusal('tools.web_search'))
    await setChannel({})
    const { key } = await addToken(server, { refuse_hosted_tools: true })
    expect(codeOf(await askAs(server, key, request, path))).toEqual(refusal('tools.web_search'))
    expect(asked).toEqual([])
    expect((await ask(request, path)).status).toBe(200)
  })

  it('without a price are refused by a channel that would run them, and left out for the next one, which lacks them', async () => {
    const { server, asked, ask, model } = await foreignStage(kind, 'Anthropic', () => ({ text: 'ok' }))
    await setOptions(server, { RetryTimes: 2 })
    let native = 0
    const url = await httpUpstream((_request, response) => {
      native++
      response.end()
    })
    await addChannel(server, { url, models: model, type: 1, priority: 10 })
    const answer = await ask({ model, input: 'hi', tools: [shell, { type: 'telescope' }] }, path)
    expect([answer.status, answer.headers.get('x-sluice-dropped')]).toEqual([200, 'tools.telescope'])
    expect([native, asked.length]).toEqual([0, 1])
    await requireBalancedBooks(server)
  })

  it('are passed on where the request is only rewritten in the format of its vendor, and need a price there', async () => {
    const tidy = { setting: JSON.stringify({ force_format: true }) }
    const { server, asked, ask, model } = await foreignStage(kind, 'Chat alone', () => ({ text: 'ok' }), tidy)
    const hosted = { type: 'telescope', telescope: { lens: 'wide' } }
    const request = { model, messages: [{ role: 'user', content: 'hi' }], tools: [hosted] }
    expect((await ask(request)).text).toContain('ToolPrice')
    await setOptions(server, { ToolPrice: { telescope: 0.01 } })
    const answer = await ask(request)
    expect([answer.status, answer.headers.get('x-sluice-dropped')]).toEqual([200, null])
    expect(asked.map(({ body }) => body.tools)).toEqual([[hosted]])
    expect(JSON.parse((await books(server)).logs.at(-1)?.other ?? '{}').tool_calls).toEqual({ telescope: 1 })
    await requireBalancedBooks(server)
  })

  it('of Messages, Gemini and Chat callers are left out too', async () => {
    const { ask, model, asked } = await foreignStage(kind, 'Chat alone', () => ({ text: 'ok' }))
    const messages = {
      ...{ model, max_tokens: 100, messages: [{ role: 'user', content: 'hi' }] },
      tools: [
        { name: 'shell', input_schema: parameters },
        { type: 'web_search_20250305', name: 'web_search' },
        { type: 'code_execution_20250825', name: 'code_execution' },
      ],
    }
    const generate = {
      contents: [{ role: 'user', parts: [{ text: 'hi' }] }],
      tools: [{ functionDeclarations: [{ name: 'shell' }] }, { googleSearch: {} }, { urlContext: {} }],
    }
    const dropped = async (body: object, to?: string) => {
      const answer = await ask(body, to)
      expect(answer.status, answer.text).toBe(200)
      return answer.headers.get('x-sluice-dropped')
    }
    expect(await dropped(messages, '/v1/messages')).toBe('tools.code_execution, tools.web_search')
    expect(await dropped(generate, `/v1beta/models/${model}:generateContent`)).toBe('tools.googleSearch, tools.urlContext')
    expect(asked.map(({ tools }) => tools)).toEqual([['shell'], ['shell']])
    const forced = await ask({ ...messages, tool_choice: { type: 'tool', name: 'web_search' } }, '/v1/messages')
    expect([forced.status, forced.text]).toEqual([400, expect.stringContaining('tool_choice')])

    const gemini = await foreignStage(kind, 'Gemini', () => ({ text: 'ok' }))
    const chat = {
      ...{ model: gemini.model, messages: [{ role: 'user', content: 'hi' }], web_search_options: {} },
      tools: [
        { type: 'function', function: { name: 'shell' } },
        { type: 'builtin_function', function: { name: '$web_search' } },
      ],
    }
    await setOptions(gemini.server, { ToolPrice: { $web_search: 0.01 } })
    const answer = await gemini.ask(chat)
    expect([answer.status, answer.headers.get('x-sluice-dropped')]).toEqual([200, 'tools.$web_search, web_search_options'])
    const choice = { type: 'function', function: { name: '$web_search' } }
    expect(codeOf(await gemini.ask({ ...chat, tool_choice: choice }))[0]).toBe(400)
  })
})
