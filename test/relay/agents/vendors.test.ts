import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { anthropicRules } from '../../helpers/agents/anthropic.ts'
import { bedrockRules } from '../../helpers/agents/bedrock.ts'
import { geminiRules } from '../../helpers/agents/gemini.ts'
import { openAiRules } from '../../helpers/agents/openai.ts'
import { scenario } from '../../helpers/agents/scenario.ts'
import { startVendor, type Vendor, type VendorRules } from '../../helpers/agents/vendor-server.ts'

type Json = Record<string, unknown>

const { instruction, question, image, tools, answerName, answerSchema } = scenario
const userText = { type: 'text', text: question }

/** The first request of the scenario in the format of each vendor. */
const chat = {
  model: 'gpt-4.1',
  stream: true,
  messages: [
    { role: 'system', content: instruction },
    { role: 'user', content: [userText, { type: 'image_url', image_url: { url: `data:image/png;base64,${image}` } }] },
  ],
  tools: tools.map(({ schema, ...named }) => ({ type: 'function', function: { ...named, parameters: schema } })),
  response_format: { type: 'json_schema', json_schema: { name: answerName, schema: answerSchema, strict: true } },
}
const responses = {
  model: 'gpt-5.4',
  stream: true,
  store: false,
  include: ['reasoning.encrypted_content'],
  reasoning: { effort: 'low' },
  instructions: instruction,
  input: [
    {
      role: 'user',
      content: [
        { type: 'input_text', text: question },
        { type: 'input_image', image_url: `data:image/png;base64,${image}` },
      ],
    },
  ],
  tools: tools.map(({ schema, ...named }) => ({ type: 'function', ...named, parameters: schema })),
  text: { format: { type: 'json_schema', name: answerName, schema: answerSchema, strict: true } },
}
const messages = {
  model: 'claude-sonnet-4-6',
  max_tokens: 4096,
  stream: true,
  thinking: { type: 'enabled', budget_tokens: 2048 },
  system: instruction,
  messages: [
    {
      role: 'user',
      content: [userText, { type: 'image', source: { type: 'base64', media_type: 'image/png', data: image } }],
    },
  ],
  tools: tools.map(({ schema, ...named }) => ({ ...named, input_schema: schema })),
  output_config: { format: { type: 'json_schema', schema: answerSchema } },
}
const gemini = {
  systemInstruction: { parts: [{ text: instruction }] },
  contents: [{ role: 'user', parts: [{ text: question }, { inlineData: { mimeType: 'image/png', data: image } }] }],
  tools: [{ functionDeclarations: tools.map(({ schema, ...named }) => ({ ...named, parametersJsonSchema: schema })) }],
  generationConfig: { responseMimeType: 'application/json', responseJsonSchema: answerSchema },
}
const converse = {
  system: [{ text: instruction }],
  messages: [{ role: 'user', content: [{ text: question }, { image: { format: 'png', source: { bytes: image } } }] }],
  toolConfig: {
    tools: [...tools, { name: 'json_response', description: 'Answers', schema: answerSchema }].map(({ schema, ...named }) => ({
      toolSpec: { ...named, inputSchema: { json: schema } },
    })),
  },
  additionalModelRequestFields: { reasoningConfig: { type: 'enabled', maxReasoningEffort: 'low' } },
}

const authorization =
  'AWS4-HMAC-SHA256 Credential=AKID/20261120/us-east-1/bedrock/aws4_request, SignedHeaders=host;x-amz-date, Signature=' +
  'a'.repeat(64)
const vendors: Readonly<Record<string, { rules: () => VendorRules; path: string; headers: Record<string, string>; body: Json }>> =
  {
    chat: { rules: openAiRules, path: '/v1/chat/completions', headers: { authorization: 'Bearer k' }, body: chat },
    responses: { rules: openAiRules, path: '/v1/responses', headers: { authorization: 'Bearer k' }, body: responses },
    messages: {
      rules: anthropicRules,
      path: '/v1/messages',
      headers: { 'x-api-key': 'k', 'anthropic-version': '2023-06-01' },
      body: messages,
    },
    gemini: {
      rules: geminiRules,
      path: '/v1beta/models/gemini-3-pro-preview:streamGenerateContent?alt=sse',
      headers: { 'x-goog-api-key': 'k' },
      body: gemini,
    },
    converse: {
      rules: bedrockRules,
      path: '/model/us.amazon.nova-2-lite-v1%3A0/converse-stream',
      headers: { authorization, 'x-amz-date': '20261120T000000Z' },
      body: converse,
    },
  }
const running: Record<string, Vendor> = {}

beforeAll(async () => {
  for (const [name, { rules }] of Object.entries(vendors)) running[name] = await startVendor(rules())
})
afterAll(async () => {
  for (const vendor of Object.values(running)) await vendor.stop()
})

async function ask(name: string, change: (body: Json) => Json = (body) => body) {
  const vendor = vendors[name]
  if (!vendor) throw new Error(`${name} is not there`)
  const response = await fetch(`${running[name]?.url}${vendor.path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...vendor.headers },
    body: JSON.stringify(change(vendor.body)),
  })
  return { status: response.status, text: await response.text() }
}

describe('the simulated vendors', () => {
  it.each(Object.keys(vendors))('return a valid answer: %s', async (name) => {
    expect(await ask(name)).toMatchObject({ status: 200 })
  })

  it.each(Object.keys(vendors))('refuse members that they do not know, anywhere: %s', async (name) => {
    expect(await ask(name, (body) => ({ ...body, extra_member: 1 }))).toMatchObject({ status: 400 })
    const list = ['messages', 'input', 'contents'].find((member) => Array.isArray(vendors[name]?.body[member])) ?? ''
    const inner = await ask(name, (body) => ({ ...body, [list]: [{ ...first(body[list]), reasoning_content: 'x' }] }))
    expect(inner).toMatchObject({ status: 400, text: expect.stringContaining('reasoning_content') })
  })

  it.each<[string, string, (body: Json) => Json, string]>([
    [
      'chat',
      'a result without its call',
      (b) => more(b, 'messages', { role: 'tool', tool_call_id: 'x', content: 'y' }),
      'preceeding',
    ],
    [
      'chat',
      'a call without its result',
      (b) => more(b, 'messages', { role: 'assistant', content: null, tool_calls: [chatCall('a')] }),
      'did not have response messages: a',
    ],
    ['chat', 'a choice without tools', ({ tools: _, ...b }) => ({ ...b, tool_choice: 'auto' }), "only allowed when 'tools'"],
    ['chat', 'an open schema', (b) => ({ ...b, response_format: openFormat }), "'additionalProperties' is required"],
    ['chat', 'reasoning', (b) => ({ ...b, reasoning_effort: 'low' }), 'reasoning_effort'],
    ['chat', 'another image', (b) => JSON.parse(JSON.stringify(b).replaceAll(image, 'iVBORw0KGgo=')), 'the image is'],
    ['chat', 'no instructions', (b) => ({ ...b, messages: (b.messages as Json[]).slice(1) }), 'instructions'],
    ['responses', 'sampling', (b) => ({ ...b, temperature: 1 }), 'temperature'],
    ['responses', 'a limit below sixteen', (b) => ({ ...b, max_output_tokens: 5 }), 'max_output_tokens'],
    ['responses', 'what was never kept', (b) => more(b, 'input', { type: 'item_reference', id: 'rs_1' }), 'not found'],
    [
      'responses',
      'ids of others',
      (b) => more(b, 'input', { type: 'function_call', id: 'toolu_1', call_id: 'a', name: 'get_wind', arguments: '{}' }),
      "begins with 'fc'",
    ],
    [
      'responses',
      'an output without its call',
      (b) => more(b, 'input', { type: 'function_call_output', call_id: 'a', output: '' }),
      'No tool call found',
    ],
    [
      'responses',
      'reasoning that leads to nothing',
      (b) => more(b, 'input', { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'x' }),
      'required following item',
    ],
    ['messages', 'no limit', ({ max_tokens: _, ...b }) => b, 'max_tokens'],
    ['messages', 'a budget over the limit', (b) => ({ ...b, max_tokens: 2048 }), 'must be greater than'],
    ['messages', 'a temperature while it thinks', (b) => ({ ...b, temperature: 0.5 }), 'may only be set to 1'],
    ['messages', 'a forced tool while it thinks', (b) => ({ ...b, tool_choice: { type: 'any' } }), 'forces tool use'],
    [
      'messages',
      'blank text',
      (b) => ({ ...b, messages: [{ role: 'user', content: [{ type: 'text', text: ' ' }] }] }),
      'non-whitespace',
    ],
    ['messages', 'ids of others', (b) => more(b, 'messages', assistant({ ...claudeCall, id: 'a.b' })), 'should match pattern'],
    ['messages', 'a call without its result', (b) => more(b, 'messages', assistant(claudeCall), userTurn), 'immediately after'],
    [
      'messages',
      'a turn without its thinking',
      (b) => more(b, 'messages', assistant(claudeCall), claudeResult),
      'Expected `thinking`',
    ],
    [
      'gemini',
      'a call without its signature',
      (b) => more(b, 'contents', geminiCall({}), geminiResult),
      'missing a thought_signature',
    ],
    [
      'gemini',
      'fewer results than calls',
      (b) => more(b, 'contents', geminiCall({ thoughtSignature: 'c2ln' }), { role: 'user', parts: [{ text: 'x' }] }),
      'number of function response parts',
    ],
    [
      'gemini',
      'the older schema with what it has not',
      (b) => ({ ...b, generationConfig: openApiConfig }),
      'additionalProperties',
    ],
    [
      'converse',
      'a turn that does not alternate',
      (b) => more(b, 'messages', userConverse),
      'alternate between user and assistant',
    ],
    [
      'converse',
      'calls without tools',
      ({ toolConfig: _, ...b }) => more(b, 'messages', converseCall, converseResult),
      'toolConfig field',
    ],
    ['converse', 'a call without its result', (b) => more(b, 'messages', converseCall, userConverse), 'Expected toolResult'],
  ])('%s refuses %s', async (name, _, change, words) => {
    const answer = await ask(name, change)
    expect(answer.status).toBe(400)
    expect(answer.text.replaceAll('\\"', '"')).toContain(words)
  })
})

const chatCall = (id: string) => ({ id, type: 'function', function: { name: 'get_wind', arguments: '{}' } })
const openFormat = {
  type: 'json_schema',
  json_schema: { name: 'a', strict: true, schema: { type: 'object', properties: {} } },
}
const claudeCall = { type: 'tool_use', id: 'a', name: 'get_wind', input: {} }
const claudeResult = { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: 'x' }] }
const assistant = (...content: Json[]) => ({ role: 'assistant', content })
const userTurn = { role: 'user', content: [{ type: 'text', text: 'x' }] }
const geminiCall = (member: Json) => ({
  role: 'model',
  parts: [{ functionCall: { id: 'a', name: 'get_wind', args: {} }, ...member }],
})
const geminiResult = { role: 'user', parts: [{ functionResponse: { id: 'a', name: 'get_wind', response: { output: 'x' } } }] }
const openApiConfig = { responseMimeType: 'application/json', responseSchema: answerSchema }
const userConverse = { role: 'user', content: [{ text: 'x' }] }
const converseCall = { role: 'assistant', content: [{ toolUse: { toolUseId: 'a', name: 'get_wind', input: {} } }] }
const converseResult = { role: 'user', content: [{ toolResult: { toolUseId: 'a', content: [{ text: 'x' }] } }] }

function first(list: unknown): Json {
  const [one] = list as Json[]
  return one ?? {}
}

function more(body: Json, list: string, ...entries: Json[]): Json {
  return { ...body, [list]: [...(body[list] as Json[]), ...entries] }
}
