import { describe, expect, it } from 'vitest'
import { written } from '../../../../../test/helpers/codecs.ts'
import { text, user } from '../../../../../test/helpers/dialogue.ts'
import type { JsonObject } from '../wire-format.ts'
import { anthropicMessagesFormat } from './format.ts'
import { readRequest } from './request-read.ts'

const { codec } = anthropicMessagesFormat
const read = (more: JsonObject) =>
  readRequest({ model: 'claude-opus-5', max_tokens: 64, messages: [{ role: 'user', content: 'Hi' }], ...more }, {})
const said = (content: unknown, role = 'user') => read({ messages: [{ role, content }] }).turns[0]?.parts
const png = 'iVBORw0KGgoAAAANSUhEUg=='

describe('a Messages request', () => {
  it('[182] is the same with a string and with one text block', () => {
    expect(said('Hi')).toEqual(said([{ type: 'text', text: 'Hi' }]))
  })

  it('has the simple members in neutral form', () => {
    const request = {
      temperature: 0.5,
      top_p: 0.9,
      top_k: 5,
      stop_sequences: ['END', ''],
      stream: true,
      metadata: { user_id: 'ann' },
    }
    expect(read(request)).toMatchObject({
      from: 'anthropic.messages',
      model: 'claude-opus-5',
      outputTokensMax: 64,
      sampling: { temperature: 0.5, topP: 0.9, topK: 5 },
      stop: ['END'],
      stream: true,
      wantsUsage: true,
      user: 'ann',
      extra: {},
    })
  })

  it('keeps members of its own family that have no neutral form', () => {
    const own = { service_tier: 'auto', speed: 'fast', context_management: { edits: [] }, cache_control: { type: 'ephemeral' } }
    expect(read({ ...own, diagnostics: null, anthropic_version: 'vertex-2023-10-16' }).extra).toEqual(own)
  })

  it('[126] is refused when it only warms the cache', () => {
    expect(() => read({ max_tokens: 0 })).toThrow('max_tokens')
    expect(() => readRequest({ model: 'm', messages: [{ role: 'user', content: 'Hi' }] }, {})).toThrow('max_tokens')
  })

  it.each([
    ['container', { container: 'container_1' }],
    ['mcp_servers', { mcp_servers: [{ type: 'url', url: 'https://a.test' }] }],
    ['inference_geo', { inference_geo: 'us' }],
    ['temperature', { temperature: 'hot' }],
    ['messages[0]', { messages: ['Hi'] }],
    ['messages[0].role', { messages: [{ role: 'tool', content: 'Hi' }] }],
    ['messages[0].content', { messages: [{ role: 'user', content: 7 }] }],
    ['system', { system: 7 }],
    ['output_config.effort', { output_config: { effort: 'huge' } }],
  ])('is refused by the name of %s when that is untranslatable or invalid', (field, more) => {
    expect(() => read(more)).toThrow(field)
  })

  it('has no billing header of the client, and keeps the instructions with their breakpoints', () => {
    const system = [
      { type: 'text', text: 'x-anthropic-billing-header: cc_version=2.1; cch=abc' },
      { type: 'text', text: 'You are a tool.', cache_control: { type: 'ephemeral', ttl: '1h' } },
      { type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } },
    ]
    expect(read({ system: 'x-anthropic-billing-header: cc_version=2.1;\n\nBe brief.' }).system).toEqual([text('Be brief.')])
    expect(read({ system }).system).toEqual([
      text('You are a tool.', { cache: { ttl: '1h' } }),
      text('Be brief.', { cache: { ttl: '5m' } }),
    ])
  })

  it('[136] keeps instructions in the middle, and has those before all messages at the head', () => {
    const messages = [
      { role: 'system', content: 'Head.' },
      { role: 'user', content: 'Hi' },
      { role: 'system', content: [{ type: 'text', text: 'Middle.' }] },
    ]
    expect(read({ system: 'First.', messages })).toMatchObject({
      system: [{ text: 'First.' }, { text: 'Head.' }],
      turns: [{ role: 'user' }, { role: 'system', parts: [{ text: 'Middle.' }] }],
    })
  })

  it('[82] has tool results before the rest of the turn', () => {
    const content = [
      { type: 'text', text: 'so' },
      { type: 'tool_result', tool_use_id: 'a', content: 'high', is_error: true },
    ]
    expect(said(content)).toEqual([
      { kind: 'tool-result', callId: 'a', parts: [text('high')], isError: true, isCustom: false },
      text('so'),
    ])
  })

  it('[85] [87] may have tool results of any form', () => {
    const image = { type: 'image', source: { type: 'base64', media_type: 'image/jpeg', data: png } }
    const resultOf = (content: unknown) => said([{ type: 'tool_result', tool_use_id: 'a', content }])
    expect(resultOf(undefined)).toMatchObject([{ parts: [] }])
    expect(resultOf([{ type: 'text', text: 'see' }, image, { type: 'tool_reference', tool_name: 'f' }])).toMatchObject([
      {
        parts: [
          text('see'),
          { kind: 'media', media: 'image', source: { kind: 'base64', mediaType: 'image/png' } },
          text('The tool f is available.'),
        ],
      },
    ])
  })

  it('may have images and documents from all kinds of sources', () => {
    const document = (source: object, more: object = {}) => said([{ type: 'document', source, ...more }])
    expect(said([{ type: 'image', source: { type: 'url', url: 'https://a.test/i.png' } }])).toMatchObject([
      { source: { kind: 'url' } },
    ])
    expect(said([{ type: 'image', source: { type: 'file', file_id: 'file_1' } }])).toMatchObject([
      { source: { kind: 'file', id: 'file_1', family: 'anthropic' } },
    ])
    expect(
      document({ type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' }, { title: 'a', context: 'from a' }),
    ).toMatchObject([text('from a'), { media: 'document', source: { mediaType: 'application/pdf' }, title: 'a' }])
    expect(document({ type: 'text', media_type: 'text/plain', data: 'abc' })).toMatchObject([{ source: text('abc') }])
    expect(document({ type: 'content', content: [{ type: 'text', text: 'b' }] }, { title: 'a' })).toMatchObject([
      { text: 'a' },
      { text: 'b' },
    ])
    expect(
      said([{ type: 'search_result', title: 'T', source: 'https://a.test', content: [{ type: 'text', text: 'b' }] }]),
    ).toMatchObject([text('T\nhttps://a.test\nb')])
  })

  it('[177] is refused by name with blocks that only the vendor understands', () => {
    expect(() => said([{ type: 'compaction', content: 'x' }], 'assistant')).toThrow('compaction')
    expect(() => said([{ type: 'scent', data: 'x' }])).toThrow('scent')
    expect(() => said([{ type: 'document', source: { type: 'text', data: 'x' }, citations: { enabled: true } }])).toThrow(
      'citations',
    )
  })

  it('has uses of hosted tools as text, and reports unreadable members', () => {
    const content = [
      { type: 'server_tool_use', id: 's', name: 'bash_code_execution', input: { command: 'ls' } },
      {
        type: 'bash_code_execution_tool_result',
        tool_use_id: 's',
        content: { type: 'bash_code_execution_result', stdout: 'a', stderr: '', return_code: 0, content: [] },
      },
      { type: 'mcp_tool_use', id: 'm', name: 'f', server_name: 'crm', input: {} },
      { type: 'mcp_tool_result', tool_use_id: 'm', is_error: true, content: [{ type: 'text', text: 'down' }] },
      {
        type: 'web_search_tool_result',
        tool_use_id: 'w',
        content: { type: 'web_search_tool_result_error', error_code: 'unavailable' },
      },
      {
        type: 'web_search_tool_result',
        tool_use_id: 'w',
        content: [{ type: 'web_search_result', url: 'https://a.test', title: 'A', encrypted_content: 'x', page_age: null }],
        cache_control: { type: 'ephemeral' },
      },
    ]
    const request = read({
      messages: [
        { role: 'assistant', content },
        { role: 'user', content: 'Go' },
      ],
    })
    expect(request.turns[0]?.parts).toEqual([
      text('\n[Called the tool bash_code_execution with {"command":"ls"}]\n'),
      {
        kind: 'text',
        text: '\n[The tool bash_code_execution answered] {"type":"bash_code_execution_result","stdout":"a","stderr":"","return_code":0}\n',
      },
      text('\n[Called the tool crm.f with {}]\n'),
      text('\n[The tool mcp answered] Error: down\n'),
      text('\n[The tool web_search answered] Error: unavailable\n'),
      {
        kind: 'text',
        text: '\n[The tool web_search answered] {"type":"web_search_result","url":"https://a.test","title":"A"}\n',
        cache: { ttl: '5m' },
      },
    ])
    expect(request.unread).toEqual(['messages.content.content.encrypted_content'])
  })

  it('asks the model to continue only after a turn that paused at a hosted tool', () => {
    const used = { type: 'server_tool_use', id: 's', name: 'web_search', input: { query: 'q' } }
    const turns = (...content: object[]) =>
      read({
        messages: [
          { role: 'user', content: 'Hi' },
          { role: 'assistant', content },
        ],
      }).turns
    expect(turns({ type: 'text', text: 'Hm.' }, used).at(-1)).toEqual(user('Continue.'))
    expect(turns(used, { type: 'text', text: 'It is' }).at(-1)?.role).toBe('assistant')
  })

  it('has assistant turns with thinking, text and calls, but without tool searches', () => {
    const content = [
      { type: 'thinking', thinking: 'Hm', signature: 'c2ln' },
      { type: 'redacted_thinking', data: 'cmVk' },
      { type: 'server_tool_use', id: 's', name: 'tool_search_tool_regex', input: { pattern: 'f' } },
      { type: 'tool_search_tool_result', tool_use_id: 's', content: { tool_references: [] } },
      { type: 'text', text: 'Yes.', citations: [] },
      { type: 'tool_use', id: 't', name: 'f', input: { a: 1 }, cache_control: { type: 'ephemeral' } },
    ]
    expect(said(content, 'assistant')).toEqual([
      { kind: 'reasoning', text: 'Hm', opaque: { family: 'anthropic', kind: 'signature', value: 'c2ln' } },
      { kind: 'reasoning', text: '', opaque: { family: 'anthropic', kind: 'redacted', value: 'cmVk' } },
      text('Yes.'),
      { kind: 'tool-call', callId: 't', name: 'f', input: '{"a":1}', isCustom: false, cache: { ttl: '5m' } },
    ])
  })

  it('[105] may have tools with and without a type', () => {
    const tool = { name: 'f', description: 'd', input_schema: { type: 'object' }, strict: true }
    const { tools } = read({ tools: [tool, { ...tool, type: 'custom' }, { ...tool, type: null }] })
    expect(tools).toEqual(
      Array.from({ length: 3 }, () => ({
        name: 'f',
        description: 'd',
        schema: { type: 'object' },
        strict: true,
        custom: undefined,
      })),
    )
  })

  it('[106] has the web search in neutral form, and every other hosted tool in a separate list', () => {
    const search = {
      type: 'web_search_20260209',
      name: 'web_search',
      max_uses: 5,
      user_location: { type: 'approximate', city: 'Rye' },
    }
    expect(read({ tools: [search] })).toMatchObject({ tools: [], search: { contextSize: 'medium', location: { city: 'Rye' } } })
    expect(read({ tools: [{ ...search, allowed_domains: ['a.test'] }] })).toMatchObject({
      search: undefined,
      vendorOnly: [{ field: 'tools[0].allowed_domains', name: 'tools.web_search' }],
    })
    for (const type of [
      'bash_20250124',
      'code_execution_20260521',
      'text_editor_20250728',
      'memory_20250818',
      'computer_20250124',
    ]) {
      const name = type.replace(/_\d+$/, '')
      expect(read({ tools: [{ type, name }] })).toMatchObject({
        tools: [],
        vendorOnly: [{ field: 'tools[0]', name: `tools.${name}`, reason: { en: expect.stringContaining(name) } }],
      })
    }
    expect(() => read({ tools: [search], tool_choice: { type: 'tool', name: 'web_search' } })).toThrow('web_search')
  })

  it.each([
    [{ type: 'auto' }, { kind: 'auto' }, undefined],
    [{ type: 'any', disable_parallel_tool_use: true }, { kind: 'required' }, false],
    [{ type: 'tool', name: 'f', disable_parallel_tool_use: false }, { kind: 'tool', name: 'f' }, true],
    [{ type: 'none' }, { kind: 'none' }, undefined],
  ])('has a tool choice that is read from %o', (tool_choice, toolChoice, parallelTools) => {
    expect(read({ tools: [{ name: 'f', input_schema: {} }], tool_choice })).toMatchObject({ toolChoice, parallelTools })
    expect(read({ tool_choice })).toMatchObject({ toolChoice: undefined, parallelTools: undefined })
  })

  it.each([
    [{ thinking: { type: 'enabled', budget_tokens: 5000 } }, { mode: { budgetTokens: 5000 }, show: undefined }],
    [{ thinking: { type: 'adaptive', display: 'omitted' } }, { mode: 'auto', show: 'none' }],
    [
      { thinking: { type: 'adaptive', display: 'summarized' }, output_config: { effort: 'max' } },
      { mode: { effort: 'max' }, show: 'summary' },
    ],
    [
      { thinking: { type: 'disabled' }, output_config: { effort: 'low' } },
      { mode: 'off', show: undefined },
    ],
    [{ thinking: { type: 'between_tools' } }, { mode: 'off', show: undefined }],
    [{ output_config: { effort: 'xhigh' } }, { mode: { effort: 'xhigh' }, show: undefined }],
    [{}, undefined],
  ])('has reasoning that is read from %o', (more, reasoning) => {
    expect(read(more).reasoning).toEqual(reasoning)
  })

  it('[188] has the schema of the answer from the newer or the older member', () => {
    const format = { type: 'json_schema', schema: { type: 'object' } }
    const output = { kind: 'schema', name: 'response', description: undefined, schema: { type: 'object' }, strict: true }
    expect(read({ output_config: { format } }).output).toEqual(output)
    expect(read({ output_format: format }).output).toEqual(output)
    expect(() => read({ output_config: { format: { type: 'xml' } } })).toThrow('output_config.format')
  })

  it('is written again unchanged', () => {
    const body = {
      model: 'claude-opus-4-8',
      max_tokens: 4096,
      system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }],
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'Hi' }] },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'Hm', signature: 'c2ln' },
            { type: 'tool_use', id: 'toolu_1', name: 'f', input: { a: 1 } },
          ],
        },
        {
          role: 'user',
          content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'high', cache_control: { type: 'ephemeral' } }],
        },
        { role: 'system', content: [{ type: 'text', text: 'Go on.' }] },
      ],
      tools: [{ name: 'f', description: 'd', input_schema: { type: 'object', properties: {} } }],
      tool_choice: { type: 'auto', disable_parallel_tool_use: true },
      thinking: { type: 'adaptive', display: 'summarized' },
      output_config: { effort: 'high' },
      stop_sequences: ['END'],
      metadata: { user_id: 'ann' },
      stream: true,
      service_tier: 'auto',
    }
    expect(written(codec, readRequest(body, {}), { model: body.model })).toMatchObject({ body, lost: [] })
  })
})
