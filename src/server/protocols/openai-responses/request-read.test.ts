import { describe, expect, it } from 'vitest'
import { seeded } from '../../../../test/helpers/codecs.ts'
import { AppError } from '../../lib/failure.ts'
import type { JsonObject } from '../wire-format.ts'
import { readSealed, writeSealed } from './envelope.ts'
import { readRequest } from './request-read.ts'

const base = { model: 'm', input: 'Hi' }
const read = (more: JsonObject = {}) => readRequest({ ...base, ...more }, {})
const items = (...input: unknown[]) => read({ input })
const user = { role: 'user', content: 'Hi' }

const oddities: readonly unknown[] = [null, '', 0, -1, true, [], {}, [null], [[]], 'x', ['x'], { type: 'text' }]

function oddly(value: unknown, random: () => number): unknown {
  if (random() < 0.06) return oddities[Math.floor(random() * oddities.length)]
  if (Array.isArray(value)) return value.map((entry) => oddly(entry, random))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, oddly(member, random)]))
}

/** The message of the error. */
function refusalOf(body: JsonObject): { code: string; field: unknown; text: string } | undefined {
  try {
    read(body)
  } catch (error) {
    if (error instanceof AppError) return { code: error.code, field: error.params.field, text: error.text('en') }
    throw error
  }
  return undefined
}

describe('a request in Responses', () => {
  it('[197] may have a string as input, which is one user turn', () => {
    expect(read()).toMatchObject({
      from: 'openai.responses',
      system: [],
      turns: [{ role: 'user', parts: [{ kind: 'text', text: 'Hi' }] }],
      stop: [],
      wantsUsage: true,
      extra: {},
    })
  })

  it('[198] has all leading system items as instructions, [138] developer items too; later ones keep their position', () => {
    const dialogue = read({
      instructions: 'First',
      input: [
        { role: 'system', content: 'Second' },
        { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'Third' }] },
        user,
        { role: 'developer', content: 'Later' },
      ],
    })
    expect(dialogue.system.map(({ text }) => text)).toEqual(['First', 'Second', 'Third'])
    expect(dialogue.turns).toMatchObject([{ role: 'user' }, { role: 'system', parts: [{ text: 'Later' }] }])
  })

  it("has the model's items in one turn, and the tool results in another", () => {
    const { turns } = items(
      user,
      { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'Hm' }], encrypted_content: 'gAAA' },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Checking' }] },
      { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'f', arguments: '{}' },
      { type: 'custom_tool_call', call_id: 'call_2', name: 'patch', input: '***' },
      { type: 'function_call_output', call_id: 'call_1', output: 'high' },
      { type: 'custom_tool_call_output', call_id: 'call_2', output: [{ type: 'input_text', text: 'done' }] },
      user,
    )
    expect(turns).toEqual([
      { role: 'user', parts: [{ kind: 'text', text: 'Hi' }] },
      {
        role: 'assistant',
        parts: [
          { kind: 'reasoning', text: 'Hm', opaque: { family: 'openai', kind: 'encrypted', value: 'gAAA' } },
          { kind: 'text', text: 'Checking' },
          { kind: 'tool-call', callId: 'call_1', name: 'f', input: '{}', isCustom: false },
          { kind: 'tool-call', callId: 'call_2', name: 'patch', input: '***', isCustom: true },
        ],
      },
      {
        role: 'user',
        parts: [
          { kind: 'tool-result', callId: 'call_1', parts: [{ kind: 'text', text: 'high' }], isError: false, isCustom: false },
          { kind: 'tool-result', callId: 'call_2', parts: [{ kind: 'text', text: 'done' }], isError: false, isCustom: true },
        ],
      },
      { role: 'user', parts: [{ kind: 'text', text: 'Hi' }] },
    ])
  })

  it('[201] keeps images in tool results', () => {
    const output = [
      { type: 'input_text', text: 'look' },
      { type: 'input_image', image_url: 'https://a.test/b.png' },
    ]
    expect(items(user, { type: 'function_call_output', call_id: 'c', output }).turns[1]?.parts).toMatchObject([
      { parts: [{ kind: 'text' }, { kind: 'media', media: 'image', source: { kind: 'url', url: 'https://a.test/b.png' } }] },
    ])
  })

  it('accepts media of every form, [172] by the sniffed type, [175] also without the prefix of a data URL', () => {
    const png = 'iVBORw0KGgo='
    const pdf = Buffer.from('%PDF-1.7 and more').toString('base64')
    const content = [
      { type: 'input_image', image_url: `data:image/jpeg;base64,${png}`, detail: 'high' },
      { type: 'input_image', file_id: 'file_1' },
      { type: 'input_file', filename: 'a.pdf', file_data: pdf },
      { type: 'input_file', file_url: 'https://a.test/c.pdf' },
      { type: 'input_file', filename: 'n.txt', file_data: 'aGVsbG8=' },
      { type: 'input_audio', input_audio: { data: 'AAAA', format: 'mp3' } },
    ]
    expect(items({ role: 'user', content }).turns[0]?.parts).toEqual([
      { kind: 'media', media: 'image', source: { kind: 'base64', mediaType: 'image/png', data: png }, detail: 'high' },
      { kind: 'media', media: 'image', source: { kind: 'file', id: 'file_1', family: 'openai' } },
      {
        kind: 'media',
        media: 'document',
        source: { kind: 'base64', mediaType: 'application/pdf', data: pdf },
        title: 'a.pdf',
      },
      expect.objectContaining({ source: expect.objectContaining({ kind: 'url', url: 'https://a.test/c.pdf' }) }),
      { kind: 'media', media: 'document', source: { kind: 'base64', mediaType: 'text/plain', data: 'aGVsbG8=' }, title: 'n.txt' },
      expect.objectContaining({ media: 'audio', source: { kind: 'base64', mediaType: 'audio/mp3', data: 'AAAA' } }),
    ])
  })

  it('keeps images generated by the model, with their prompt', () => {
    const made = { type: 'image_generation_call', id: 'ig_1', status: 'completed', result: 'iVBORw0KGgo=' }
    expect(items(user, made, { type: 'web_search_call', id: 'ws_1' }).turns[1]?.parts).toMatchObject([{ media: 'image' }])
    expect(items(user, { ...made, revised_prompt: 'A cat' }).turns[1]?.parts).toMatchObject([
      { text: '\n[Called the tool image_generation with A cat]\n' },
      { media: 'image' },
    ])
  })

  it('has uses of hosted tools as text, in the turn of the side that ran them', () => {
    const screenshot = { type: 'computer_screenshot', image_url: 'data:image/png;base64,iVBORw0KGgo=' }
    const cases: [JsonObject, string, string[]][] = [
      [
        {
          type: 'code_interpreter_call',
          container_id: 'c',
          code: 'print(1)',
          outputs: [
            { type: 'logs', logs: '1' },
            { type: 'image', url: 'https://a.test' },
          ],
        },
        'assistant',
        ['\n[Called the tool code_interpreter with print(1)]\n[The tool code_interpreter answered] 1\n[image]\n'],
      ],
      [
        { type: 'file_search_call', queries: ['a', 'b'], results: null },
        'assistant',
        ['\n[Called the tool file_search with a\nb]\n'],
      ],
      [
        { type: 'web_search_call', action: { type: 'search', query: 'q' } },
        'assistant',
        ['\n[Called the tool web_search with q]\n'],
      ],
      [
        { type: 'mcp_call', server_label: 's', name: 'f', arguments: '{"a":1}', error: 'down' },
        'assistant',
        ['\n[Called the tool s.f with {"a":1}]\n[The tool s.f answered] Error: down\n'],
      ],
      [
        { type: 'mcp_approval_response', approval_request_id: 'a', approve: false },
        'user',
        ['\n[The tool mcp_approval answered] {"approve":false}\n'],
      ],
      [
        { type: 'shell_call', call_id: 'c', action: { commands: ['ls'], timeout_ms: null } },
        'assistant',
        ['\n[Called the tool shell with {"commands":["ls"]}]\n'],
      ],
      [{ type: 'local_shell_call_output', id: 'c', output: 'a.txt' }, 'user', ['\n[The tool local_shell answered] a.txt\n']],
      [
        { type: 'apply_patch_call_output', call_id: 'c', status: 'failed' },
        'user',
        ['\n[The tool apply_patch answered] Error: failed\n'],
      ],
      [
        { type: 'computer_call_output', call_id: 'c', output: screenshot },
        'user',
        ['\n[The tool computer answered] [image attached]\n', 'image'],
      ],
      [
        { type: 'computer_call_output', call_id: 'c', output: { type: 'computer_screenshot', file_id: 'f' } },
        'user',
        ['\n[The tool computer answered] [image]\n'],
      ],
      [{ type: 'program_output', call_id: 'c', result: '4' }, 'assistant', ['\n[The tool program answered] 4\n']],
    ]
    for (const [item, role, told] of cases) {
      const [, turn] = items(user, item).turns
      expect([
        item.type,
        turn?.role,
        turn?.parts.map((part) => ('text' in part ? part.text : 'media' in part && part.media)),
      ]).toEqual([item.type, role, told])
    }
    const lost = items(user, { type: 'mcp_list_tools', tools: [] }, ...cases.map(([item]) => item), user)
    expect(lost.unread).toEqual(['input.mcp_list_tools', 'input.image'])
    expect(items(user, cases[0]?.[0] ?? {}).turns.at(-1)).toEqual({ role: 'user', parts: [{ kind: 'text', text: 'Continue.' }] })
  })

  it('has tools that only their vendor has in a separate list, with their paths for errors', () => {
    const sites = { type: 'web_search', filters: { allowed_domains: ['a.test'] } }
    const folder = { type: 'namespace', name: 'n', tools: [{ type: 'mcp' }] }
    const tools = [{ type: 'function', name: 'f' }, { type: 'file_search', vector_store_ids: [] }, sites, folder]
    expect(read({ tools })).toMatchObject({
      tools: [{ name: 'f' }],
      search: undefined,
      vendorOnly: [
        { field: 'tools[1].type', name: 'tools.file_search' },
        { field: 'tools[2].filters', name: 'tools.web_search' },
        { field: 'tools[3].tools[0].type', name: 'tools.mcp' },
      ],
    })
  })

  it('[195] is refused, by name, with features that need stored replies', () => {
    const cases: [JsonObject, string][] = [
      [{ previous_response_id: 'resp_1' }, 'previous_response_id'],
      [{ conversation: 'conv_1' }, 'conversation'],
      [{ conversation: { id: 'conv_1' } }, 'conversation'],
      [{ prompt: { id: 'p' } }, 'prompt'],
      [{ background: true }, 'background'],
      [{ context_management: [{ type: 'compaction' }] }, 'context_management'],
      [{ top_logprobs: 2 }, 'top_logprobs'],
      [{ include: ['message.output_text.logprobs'] }, 'include'],
      [{ tools: [{ type: 'function', name: 'f' }], tool_choice: { type: 'file_search' } }, 'tool_choice.type'],
      [{ text: { format: { type: 'grammar' } } }, 'text.format.type'],
      [{ input: [{ role: 'system', content: [{ type: 'input_image', file_id: 'f' }] }] }, 'input[0].content'],
    ]
    for (const [body, field] of cases) expect(refusalOf(body)).toMatchObject({ code: 'untranslatable', field })
    expect(refusalOf({ background: false, previous_response_id: null, top_logprobs: 0, context_management: [] })).toBeUndefined()
  })

  it('[200] is refused, by name, with items that only their vendor supports, and [177] parts of unknown types', () => {
    for (const type of ['compaction', 'item_reference', 'configuration_update']) {
      expect(refusalOf({ input: [user, { type, id: 'x' }] })).toMatchObject({
        code: 'untranslatable',
        field: 'input[1].type',
        text: expect.stringContaining(type),
      })
    }
    expect(refusalOf({ input: [{ role: 'user', content: [{ type: 'input_smell' }] }] })).toMatchObject({
      field: 'input[0].content[0].type',
      text: expect.stringContaining('input_smell'),
    })
  })

  it('is refused with invalid members', () => {
    const cases: [JsonObject, string][] = [
      [{ input: [{ role: 'robot', content: 'Hi' }] }, 'input[0].role'],
      [{ input: [{ role: 'user', content: 7 }] }, 'input[0].content'],
      [{ input: ['Hi'] }, 'input[0]'],
      [{ input: [{ type: 'function_call', call_id: 'c' }] }, 'input[0].name'],
      [{ input: [{ role: 'user', content: [{ type: 'input_image' }] }] }, 'input[0].content[0].image_url'],
      [{ tools: [{ type: 'function' }] }, 'tools[0].name'],
      [{ tools: ['f'] }, 'tools[0]'],
      [{ tools: [{ type: 'function', name: 'f' }], tool_choice: 'some' }, 'tool_choice'],
      [{ temperature: 'hot' }, 'temperature'],
      [{ reasoning: { effort: 'huge' } }, 'reasoning.effort'],
      [{ instructions: ['a'] }, 'instructions'],
      [{ text: { format: { type: 'json_schema', name: 'a' } } }, 'text.format.schema'],
    ]
    for (const [body, field] of cases) expect(refusalOf(body)).toMatchObject({ code: 'field_invalid', field })
  })

  it('[196] ignores store: nothing is stored', () => {
    expect(read({ store: true }).extra).toEqual({})
    expect(read({ store: false }).extra).toEqual({})
  })

  it("[202] has the vendor's web search, in any version", () => {
    for (const type of ['web_search', 'web_search_preview', 'web_search_2025_08_26']) {
      const tool = { type, search_context_size: 'low', user_location: { type: 'approximate', city: 'Rye' }, filters: null }
      expect(read({ tools: [tool] })).toMatchObject({
        tools: [],
        search: { contextSize: 'low', location: { type: 'approximate', city: 'Rye' } },
      })
    }
  })

  it('has its tools and the choice among them', () => {
    const tools = [
      { type: 'function', name: 'f', description: 'F', parameters: { type: 'object' }, strict: true },
      { type: 'custom', name: 'c', format: { type: 'grammar', syntax: 'lark', definition: 'x' } },
    ]
    const choice = (tool_choice: unknown) => read({ tools, tool_choice }).toolChoice
    expect(read({ tools, parallel_tool_calls: false })).toMatchObject({
      tools: [
        { name: 'f', description: 'F', schema: { type: 'object' }, strict: true, custom: undefined },
        { name: 'c', schema: undefined, custom: { format: { type: 'grammar', syntax: 'lark', definition: 'x' } } },
      ],
      parallelTools: false,
    })
    expect(choice('required')).toEqual({ kind: 'required' })
    expect(choice({ type: 'custom', name: 'c' })).toEqual({ kind: 'tool', name: 'c' })
    expect(choice({ type: 'allowed_tools', mode: 'required', tools: [{ type: 'function', name: 'f' }] })).toEqual({
      kind: 'allowed',
      names: ['f'],
      isRequired: true,
    })
    expect(read({ tool_choice: 'auto' }).toolChoice).toBeUndefined()
  })

  it.each<[unknown, unknown]>([
    [
      { effort: 'high', summary: 'auto' },
      { mode: { effort: 'high' }, show: 'summary' },
    ],
    [{ effort: 'none' }, { mode: 'off', show: undefined }],
    [
      { effort: null, summary: 'detailed' },
      { mode: 'auto', show: 'summary' },
    ],
    [{ generate_summary: 'concise' }, { mode: 'auto', show: 'summary' }],
    [{}, undefined],
    [null, undefined],
  ])('has the reasoning %j', (reasoning, expected) => {
    expect(read({ reasoning }).reasoning).toEqual(expected)
  })

  it('[188] reads the form of the answer', () => {
    const format = { type: 'json_schema', name: 'tide', schema: { type: 'object' }, strict: true }
    expect(read({ text: { format } }).output).toEqual({
      kind: 'schema',
      name: 'tide',
      description: undefined,
      schema: { type: 'object' },
      strict: true,
    })
    expect(read({ text: { format: { type: 'json_object' } } }).output).toEqual({ kind: 'json' })
    expect(read({ text: { format: { type: 'text' }, verbosity: 'low' } })).toMatchObject({
      output: undefined,
      extra: { verbosity: 'low' },
    })
  })

  it("has OpenAI's own members in `extra`, without those set to their default", () => {
    const extra = read({
      service_tier: 'flex',
      metadata: { a: 'b' },
      truncation: 'auto',
      include: ['reasoning.encrypted_content', 'web_search_call.action.sources'],
      reasoning: { effort: 'low', mode: 'pro' },
      user: 'u',
      safety_identifier: 's',
      stream_options: { include_obfuscation: false },
      x_unknown: 1,
    }).extra
    expect(extra).toEqual({
      service_tier: 'flex',
      metadata: { a: 'b' },
      truncation: 'auto',
      include: ['web_search_call.action.sources'],
      'reasoning.mode': 'pro',
      safety_identifier: 's',
      x_unknown: 1,
    })
    const plain = { service_tier: 'auto', metadata: {}, truncation: 'disabled', include: ['reasoning.encrypted_content'] }
    expect(read(plain).extra).toEqual({})
    expect(read({ safety_identifier: 's' })).toMatchObject({ user: 's', extra: {} })
  })

  it('has no limit when the value is invalid, and keeps a small one', () => {
    expect(read({ max_output_tokens: 5 }).outputTokensMax).toBe(5)
    expect(read({ max_output_tokens: 0 }).outputTokensMax).toBeUndefined()
  })

  it('throws only named errors, for any input', () => {
    const body: JsonObject = {
      ...base,
      instructions: 'I',
      input: [
        { role: 'user', content: [{ type: 'input_image', image_url: 'data:;base64,AA', detail: 'low' }] },
        { type: 'reasoning', summary: [{ text: 'a' }], encrypted_content: 'sluice:google:signature:text:x' },
        { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' },
        { type: 'function_call_output', call_id: 'c', output: [{ type: 'input_file', file_data: 'AA', filename: 'a.pdf' }] },
        { type: 'image_generation_call', result: 'AAAA' },
      ],
      tools: [
        { type: 'custom', name: 'c', format: {} },
        { type: 'web_search', filters: {} },
      ],
      tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [{ name: 'c' }] },
      reasoning: { effort: 'low' },
      text: { format: { type: 'json_schema', schema: {} }, verbosity: 'low' },
      include: ['x'],
      metadata: {},
    }
    let read = 0
    for (let seed = 1; seed <= 3000; seed++) {
      const random = seeded(seed)
      // A member with any value at any path.
      const sent = oddly(body, random) as JsonObject
      if (refusalOf({ ...sent, model: 'm' }) === undefined) read++
    }
    expect(read).toBeGreaterThan(100)
  })

  // Quadratic time would exceed the test's timeout.
  it('[183] is read in linear time in the number of items', () => {
    const input = Array.from({ length: 30_000 }, (_, at) => (at % 2 === 0 ? user : { role: 'assistant', content: 'Yes' }))
    expect(read({ input }).turns).toHaveLength(30_000)
  })
})

describe('opaque state that a caller sends back', () => {
  const opaque = { family: 'google', kind: 'signature', value: 'a:b+c/d==\n"' } as const

  it('is unchanged and at its position', () => {
    for (const place of ['here', 'text', { callId: 'call:with "odd" — signs' }] as const) {
      expect(readSealed(writeSealed({ opaque, place }))).toEqual({ opaque, place })
    }
    const own = { family: 'openai', kind: 'encrypted', value: 'gAAA' } as const
    expect(writeSealed({ opaque: own, place: 'here' })).toBe('gAAA')
    expect(readSealed('gAAA')).toEqual({ opaque: own, place: 'here' })
  })

  it('[152] is added to the call or the text that it belongs to', () => {
    const { turns } = items(
      user,
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'A' }] },
      { type: 'reasoning', summary: [], encrypted_content: writeSealed({ opaque, place: 'text' }) },
      { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{}' },
      { type: 'function_call', call_id: 'c2', name: 'f', arguments: '{}' },
      { type: 'reasoning', summary: [], encrypted_content: writeSealed({ opaque, place: { callId: 'c1' } }) },
      { type: 'reasoning', summary: [], encrypted_content: writeSealed({ opaque, place: { callId: 'gone' } }) },
    )
    expect(turns[1]?.parts).toEqual([
      { kind: 'text', text: 'A', opaque },
      { kind: 'tool-call', callId: 'c1', name: 'f', input: '{}', isCustom: false, opaque },
      { kind: 'tool-call', callId: 'c2', name: 'f', input: '{}', isCustom: false },
    ])
  })

  it('is dropped when it is invalid, and never read as another kind', () => {
    for (const content of [
      'sluice:',
      'sluice:acme:signature::x',
      'sluice:google:smell::x',
      'sluice:google:signature::',
      'sluice:x',
    ]) {
      expect(readSealed(content)).toEqual({ opaque: undefined, place: 'here' })
    }
  })
})
