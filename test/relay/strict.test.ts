import { describe, expect, it } from 'vitest'
import { anyDatabase } from '../helpers/databases.ts'
import { addToken, books } from '../helpers/seed.ts'
import { sharedStages } from './shared-stage.ts'
import { answeringUpstream, ask, chat, claude, completion, model, stage } from './stage.ts'

const reply = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: claude,
  content: [{ type: 'text', text: 'four' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 10, output_tokens: 2 },
}

const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`member_${at}`, 1]))

anyDatabase('a request that another protocol cannot carry completely', (_fresh, kind) => {
  it('names its losses in a header and in the log; a strict token is refused before any upstream call', async () => {
    const { url, heard } = await answeringUpstream({ json: reply })
    const { server, token } = await stage(kind, url, { channel: { type: 14, models: claude } })
    const lossy = chat({ model: claude, seed: 7, logit_bias: { 50256: -100 } })

    const answer = await ask(server, token.key, lossy)
    expect([answer.status, answer.headers.get('x-sluice-dropped')]).toEqual([200, 'logit_bias, seed'])
    const { logs } = await books(server)
    expect(JSON.parse(logs[0]?.other ?? '{}')).toMatchObject({
      dropped: ['logit_bias', 'seed'],
      upstream_format: 'anthropic.messages',
    })

    const odd = await ask(server, token.key, chat({ model: claude, 'a\r\nset-cookie: b': 1, 名: 2, ...many(500) }))
    expect(odd.status).toBe(200)
    expect(odd.headers.get('set-cookie')).toBeNull()
    expect(odd.headers.get('x-sluice-dropped')).toMatch(/^\?, a\?\?set-cookie:\?b, /)

    const strict = await addToken(server, { strict_translation: true })
    const refused = await ask(server, strict.key, lossy)
    expect([refused.status, JSON.parse(refused.text).error.code]).toEqual([400, 'unsupported_parameter'])
    expect(JSON.parse(refused.text).error.message).toContain('logit_bias')
    expect(heard).toHaveLength(2)
    const whole = await ask(server, strict.key, chat({ model: claude }))
    expect([whole.status, whole.headers.get('x-sluice-dropped')]).toEqual([200, null])
  })
})

/** Nested members of each dialect that no other dialect has. */
describe('nested members that another protocol cannot represent', () => {
  const sharedStage = sharedStages()
  const say = [{ role: 'user', content: 'Hi' }]
  const weather = { name: 'weather', description: 'd' }
  const schema = { type: 'object', properties: {} }
  const messages = (more: object) => ({ model, max_tokens: 100, messages: say, ...more })
  const responses = (more: object) => ({ model, input: 'Hi', ...more })
  const gemini = (more: object) => ({ contents: [{ role: 'user', parts: [{ text: 'Hi' }] }], ...more })
  const geminiTool = (more: object) => gemini({ tools: [{ functionDeclarations: [{ ...weather, ...more }] }] })
  const spoken = (more: object) => gemini({ contents: [{ role: 'user', parts: [{ text: 'Hi', ...more }] }] })
  const tool = { ...weather, input_schema: schema }
  const flat = { type: 'function', ...weather, parameters: schema }
  const image = { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' }
  const answered = (source: object) => [
    ...say,
    { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'weather', input: {} }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content: [{ type: 'image', source }] }] },
  ]
  const given = (more: object) => {
    const inlineData = { mimeType: 'image/png', data: image.data, ...more }
    const functionResponse = { name: 'weather', response: { output: 'sun' }, parts: [{ inlineData }] }
    const call = { functionCall: { name: 'weather', args: {} } }
    return gemini({
      contents: [
        { role: 'user', parts: [{ text: 'Hi' }] },
        { role: 'model', parts: [call] },
        { role: 'user', parts: [{ functionResponse }] },
      ],
    })
  }

  const paths = {
    messages: '/v1/messages',
    responses: '/v1/responses',
    chat: '/v1/chat/completions',
    gemini: `/v1beta/models/${model}:generateContent`,
  }
  const cases: [keyof typeof paths, string, object][] = [
    ['messages', 'output_config.task_budget', messages({ output_config: { task_budget: { type: 'tokens', total: 5000 } } })],
    ['messages', 'thinking.display', messages({ thinking: { type: 'adaptive', display: 'omitted' } })],
    ['messages', 'tools.input_examples', messages({ tools: [{ ...tool, input_examples: [{}] }] })],
    ['messages', 'tools.allowed_callers', messages({ tools: [{ ...tool, allowed_callers: ['code_execution_20260120'] }] })],
    ['responses', 'tools.async', responses({ tools: [{ type: 'function', ...weather, parameters: schema, async: true }] })],
    ['responses', 'tools.output_schema', responses({ tools: [{ type: 'function', ...weather, output_schema: schema }] })],
    [
      'responses',
      'input.phase',
      responses({ input: [...say, { role: 'assistant', content: 'Hm.', phase: 'commentary' }, ...say] }),
    ],
    [
      'chat',
      'tools.function.output_schema',
      chat({ tools: [{ type: 'function', function: { ...weather, output_schema: schema } }] }),
    ],
    ['gemini', 'contents.parts.partMetadata', spoken({ partMetadata: { source: 'a' } })],
    ['gemini', 'contents.parts.speechMetadata', spoken({ speech_metadata: { speaker: 'a' } })],
    ['gemini', 'tools.functionDeclarations.behavior', geminiTool({ behavior: 'NON_BLOCKING' })],
    ['gemini', 'tools.functionDeclarations.response', geminiTool({ response: { type: 'STRING' } })],
    ['messages', 'messages.content.content.source.pages', messages({ messages: answered({ ...image, pages: [1] }) })],
    [
      'responses',
      'tools.tools.async',
      responses({ tools: [{ type: 'namespace', name: 'n', tools: [{ ...flat, async: true }] }] }),
    ],
    [
      'responses',
      'input.summary.kind',
      responses({ input: [...say, { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Hm', kind: 'a' }] }, ...say] }),
    ],
    [
      'chat',
      'messages.tool_calls.function.partial',
      chat({
        messages: [
          ...say,
          {
            role: 'assistant',
            tool_calls: [{ id: 't', type: 'function', function: { name: 'f', arguments: '{}', partial: true } }],
          },
          { role: 'tool', tool_call_id: 't', content: 'sun' },
        ],
      }),
    ],
    ['gemini', 'contents.parts.functionResponse.parts.inlineData.resolution', given({ resolution: 'HIGH' })],
    ['gemini', 'contents.parts.mediaResolution.scale', spoken({ media_resolution: { scale: 2 } })],
  ]

  it('are named, and a strict token refuses each of them', async () => {
    const { url, heard } = await answeringUpstream(completion())
    // A host with only Chat, of another vendor: its requests are rewritten from every dialect, Chat's own included.
    const foreign = { type: 8, models: model }
    const { server, token } = await sharedStage(`${url}/v1/chat/completions`, foreign)
    const strict = await addToken(server, { strict_translation: true })
    const own = await sharedStage(url, { type: 14, models: model })
    const strictOwn = await addToken(own.server, { strict_translation: true })
    for (const [dialect, name, body] of cases) {
      const isChat = dialect === 'chat'
      const at = isChat ? own.server : server
      if (!isChat) {
        const answer = await ask(at, token.key, body, paths[dialect])
        expect([name, answer.status, answer.headers.get('x-sluice-dropped')]).toEqual([name, 200, name])
      }
      const before = heard.length
      const refused = await ask(at, (isChat ? strictOwn : strict).key, body, paths[dialect])
      expect([name, refused.status, heard.length]).toEqual([name, 400, before])
      expect(refused.text).toContain(name)
    }
    const { logs } = await books(server)
    const noted = logs.map(({ other }) => JSON.parse(other ?? '{}').dropped).filter(Boolean)
    expect(noted.flat().sort()).toEqual(cases.flatMap(([dialect, name]) => (dialect === 'chat' ? [] : [name])).sort())
  })

  it('are not reported when they only repeat other members', async () => {
    const { url } = await answeringUpstream(completion())
    const { server } = await sharedStage(`${url}/v1/chat/completions`, { type: 8, models: model })
    const strict = await addToken(server, { strict_translation: true })
    const history = [
      { role: 'user', content: [{ type: 'text', text: 'Hi' }] },
      { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'weather', input: {}, caller: { type: 'direct' } }] },
      {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: 't', content: [{ type: 'text', text: 'sun' }], is_error: false }],
      },
    ]
    const tools = [{ ...tool, type: 'custom', eager_input_streaming: true, allowed_callers: ['direct'] }]
    const plain = [
      [paths.messages, messages({ messages: history, tools, tool_choice: { type: 'auto' }, metadata: { user_id: 'u' } })],
      [paths.responses, responses({ tools: [{ type: 'function', ...weather, parameters: schema, strict: false }] })],
      [paths.gemini, geminiTool({ parameters: { type: 'OBJECT', properties: {} } })],
    ] as const
    for (const [path, body] of plain) {
      const answer = await ask(server, strict.key, body, path)
      expect([path, answer.status, answer.headers.get('x-sluice-dropped')]).toEqual([path, 200, null])
    }
  })
})
