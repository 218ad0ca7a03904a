import { expect, it } from 'vitest'
import { anyDatabase } from '../helpers/databases.ts'
import { addToken, books, requireBalancedBooks } from '../helpers/seed.ts'
import { type Asked, type Foreign, foreignNames, foreignStages } from './foreign-stage.ts'
import { ask as askAs } from './stage.ts'

type Data = Record<string, unknown>

/** The messages that an upstream received, one line each: the role and the texts of the parts. */
function linesOf({ body }: Asked): string[] {
  const list = (body.messages ?? body.contents) as readonly Data[]
  return list
    .filter(({ role }) => role !== 'system')
    .map(({ role, content, parts }) => `${role === 'model' ? 'assistant' : role}: ${told(content ?? parts)}`)
}

function told(content: unknown): string {
  if (typeof content === 'string') return content.trim().replaceAll(/\n+/g, ' ')
  const parts = Array.isArray(content) ? (content as readonly Data[]) : []
  return parts.map((part) => (typeof part.text === 'string' ? told(part.text) : `<${kindOf(part)}>`)).join(' ')
}

function kindOf(part: Data): string {
  return /image/.test(JSON.stringify(part)) ? 'image' : Object.keys(part).join('+')
}

const png = 'iVBORw0KGgo='
const hi = { role: 'user', content: 'How many rows?' }
const more = { role: 'user', content: 'And now?' }

const responses = {
  path: '/v1/responses',
  tools: [{ type: 'function', name: 'f', parameters: { type: 'object', properties: {} } }],
  items: [
    hi,
    { type: 'mcp_list_tools', id: 'l', server_label: 'crm', tools: [{ name: 'find', input_schema: {} }] },
    { type: 'web_search_call', id: 'w', status: 'completed', action: { type: 'search', query: 'rows' } },
    {
      ...{ type: 'code_interpreter_call', id: 'ci', container_id: 'c', status: 'completed', code: 'print(4)' },
      outputs: [{ type: 'logs', logs: '4' }],
    },
    {
      ...{ type: 'file_search_call', id: 'fs', status: 'completed', queries: ['rows'] },
      results: [{ file_id: 'file_1', filename: 'a.csv', text: '4 rows' }],
    },
    { type: 'mcp_call', id: 'm', server_label: 'crm', name: 'find', arguments: '{"q":1}', output: 'found 4' },
    { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Four.', annotations: [] }] },
    { type: 'mcp_approval_request', id: 'ma', server_label: 'crm', name: 'drop', arguments: '{}' },
    { type: 'mcp_approval_response', approval_request_id: 'ma', approve: false },
    { type: 'shell_call', call_id: 's', status: 'completed', action: { commands: ['wc -l'] } },
    { type: 'shell_call_output', call_id: 's', output: [{ stdout: '5', stderr: '', outcome: { type: 'exit', exit_code: 0 } }] },
    {
      type: 'computer_call',
      id: 'cc',
      call_id: 'c',
      status: 'completed',
      pending_safety_checks: [],
      action: { type: 'screenshot' },
    },
    {
      ...{ type: 'computer_call_output', call_id: 'c' },
      output: { type: 'computer_screenshot', image_url: `data:image/png;base64,${png}` },
    },
    more,
  ],
}

const carried = [
  'user: How many rows?',
  [
    'assistant: [Called the tool web_search with rows]',
    '[Called the tool code_interpreter with print(4)] [The tool code_interpreter answered] 4',
    '[Called the tool file_search with rows] [The tool file_search answered] {"file_id":"file_1","filename":"a.csv","text":"4 rows"}',
    '[Called the tool crm.find with {"q":1}] [The tool crm.find answered] found 4 Four.',
    '[Called the tool mcp_approval with {"server_label":"crm","name":"drop","arguments":"{}"}]',
  ].join(' '),
  'user: [The tool mcp_approval answered] {"approve":false}',
  'assistant: [Called the tool shell with {"commands":["wc -l"]}]',
  'user: [The tool shell answered] {"stdout":"5","stderr":"","outcome":{"type":"exit","exit_code":0}}',
  'assistant: [Called the tool computer with {"type":"screenshot"}]',
  'user: [The tool computer answered] [image attached] <image> And now?',
]

anyDatabase('hosted tools in the history of a conversation that moves to another vendor', (_fresh, kind) => {
  const foreignStageOf = foreignStages(kind)

  for (const name of foreignNames) {
    it(`${name}: become text, losses are reported, and the conversation continues`, async () => {
      const { server, ask, asked, model } = await foreignStageOf(name, () => ({ text: 'Five.' }))
      const request = { model, input: responses.items, tools: responses.tools }
      for (const stream of [false, true]) {
        const answer = await ask({ ...request, stream }, responses.path)
        expect([answer.status, answer.headers.get('x-sluice-dropped')], answer.text).toEqual([200, 'input.mcp_list_tools'])
        expect(answer.text).toContain('Five.')
      }
      for (const one of asked) {
        expect(linesOf(one).join('\n').replace(' And now?', '')).toContain(carried[0])
        // Chat keeps two messages of the user apart.
        expect(linesOf(one).join('\n').replace('\nuser: And now?', ' And now?')).toBe(carried.join('\n'))
      }
      for (const { other } of (await books(server)).logs) expect(JSON.parse(other).dropped).toEqual(['input.mcp_list_tools'])

      const strict = await addToken(server, { strict_translation: true })
      const refused = await askAs(server, strict.key, request, responses.path)
      expect([refused.status, JSON.parse(refused.text).error.param]).toEqual([400, 'input.mcp_list_tools'])
      const [, , ...told] = responses.items
      const taken = await askAs(server, strict.key, { ...request, input: [hi, ...told] }, responses.path)
      expect([taken.status, taken.headers.get('x-sluice-dropped')], taken.text).toEqual([200, null])
      await requireBalancedBooks(server)
    })
  }

  for (const name of ['Gemini', 'Chat alone'] satisfies Foreign[]) {
    it(`${name}: those of a Messages caller become text too, and a paused turn is continued`, async () => {
      const { server, ask, asked, model } = await foreignStageOf(name, () => ({ text: 'Five.' }))
      const uses = [
        { type: 'mcp_tool_listing', mcp_server_name: 'crm', tools: [] },
        { type: 'text', text: 'Let me see.' },
        { type: 'server_tool_use', id: 's1', name: 'web_search', input: { query: 'rows' } },
        {
          ...{ type: 'web_search_tool_result', tool_use_id: 's1' },
          content: [{ type: 'web_search_result', url: 'https://a.test', title: 'A', encrypted_content: 'sealed' }],
        },
        { type: 'server_tool_use', id: 's2', name: 'code_execution', input: { code: 'print(4)' } },
        {
          ...{ type: 'code_execution_tool_result', tool_use_id: 's2' },
          content: { type: 'code_execution_result', stdout: '4\n', stderr: '', return_code: 0, content: [] },
        },
      ]
      const tools = [{ name: 'f', input_schema: { type: 'object', properties: {} } }]
      const called = { type: 'tool_use', id: 't', name: 'f', input: {} }
      const result = { type: 'tool_result', tool_use_id: 't', content: 'five' }
      const request = (...messages: object[]) => ({ model, max_tokens: 100, tools, messages: [hi, ...messages] })
      const whole = request({ role: 'assistant', content: [...uses, called] }, { role: 'user', content: [result] })
      const paused = request({ role: 'assistant', content: uses })
      const lost = 'messages.content.content.encrypted_content, messages.content.mcp_tool_listing'
      for (const body of [whole, paused]) {
        const answer = await ask(body, '/v1/messages')
        expect([answer.status, answer.headers.get('x-sluice-dropped')], answer.text).toEqual([200, lost])
      }
      const said =
        'assistant: Let me see. [Called the tool web_search with {"query":"rows"}] ' +
        '[The tool web_search answered] {"type":"web_search_result","url":"https://a.test","title":"A"} ' +
        '[Called the tool code_execution with {"code":"print(4)"}] ' +
        '[The tool code_execution answered] {"type":"code_execution_result","stdout":"4\\n","stderr":"","return_code":0}'
      const [first, second] = asked.map(linesOf)
      expect(first?.[1]?.startsWith(said)).toBe(true)
      expect(first?.[2]).toMatch(/^(tool: five|user: <functionResponse>)$/)
      expect(second).toEqual(['user: How many rows?', said, 'user: Continue.'])

      const strict = await addToken(server, { strict_translation: true })
      const refused = await askAs(server, strict.key, whole, '/v1/messages')
      expect([refused.status, asked.length]).toEqual([400, 2])
      expect(refused.text).toContain('encrypted_content')
      await requireBalancedBooks(server)
    })
  }

  for (const name of ['Anthropic', 'Chat alone'] satisfies Foreign[]) {
    it(`${name}: those of a Gemini caller become text too`, async () => {
      const { ask, asked, model } = await foreignStageOf(name, () => ({ text: 'Five.' }))
      const parts = [
        { executableCode: { language: 'PYTHON', code: 'print(4)' } },
        { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '4\n' } },
        { toolCall: { id: 't', toolType: 'GOOGLE_SEARCH_WEB', args: { queries: ['rows'] } } },
        { toolResponse: { id: 't', toolType: 'GOOGLE_SEARCH_WEB', response: { pages: ['https://a.test'] } } },
        { text: 'Four.' },
      ]
      const contents = [
        { role: 'user', parts: [{ text: hi.content }] },
        { role: 'model', parts },
        { role: 'user', parts: [{ text: more.content }] },
      ]
      const answer = await ask({ contents }, `/v1beta/models/${model}:generateContent`)
      expect([answer.status, answer.headers.get('x-sluice-dropped')], answer.text).toEqual([200, null])
      expect(asked.flatMap(linesOf)).toEqual([
        'user: How many rows?',
        [
          'assistant: [Called the tool code_execution with print(4)] [The tool code_execution answered] 4',
          '[Called the tool google_search_web with {"queries":["rows"]}]',
          '[The tool google_search_web answered] {"pages":["https://a.test"]} Four.',
        ].join(' '),
        'user: And now?',
      ])
    })
  }
})
