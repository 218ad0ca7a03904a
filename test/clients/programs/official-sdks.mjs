import { execFileSync } from 'node:child_process'
import Anthropic from '@anthropic-ai/sdk'
import { GoogleGenAI } from '@google/genai'
import OpenAI from 'openai'

// A task with a shell tool, done by streamed calls of an official SDK: `official-sdks.mjs <interface> <task> <address> <key> <model>`.

const [name, task, address, apiKey, model] = process.argv.slice(2)
const turnsMax = 5

const shell = {
  name: 'shell',
  description: 'Runs a command in a shell and answers what it prints.',
  schema: { type: 'object', properties: { command: { type: 'string' } }, required: ['command'] },
  run: ({ command }) => execFileSync('sh', ['-c', command], { encoding: 'utf8' }),
}

const openai = () => new OpenAI({ baseURL: `${address}/v1`, apiKey, maxRetries: 0 })

async function chat() {
  const { name, description, schema: parameters, run } = shell
  const runner = openai().chat.completions.runTools({
    ...{ model, stream: true, messages: [{ role: 'user', content: task }] },
    tools: [{ type: 'function', function: { name, description, parameters, parse: JSON.parse, function: run } }],
  })
  return runner.finalContent()
}

async function responses() {
  const { name, description, schema: parameters, run } = shell
  const input = [{ role: 'user', content: task }]
  for (let turn = 0; turn < turnsMax; turn++) {
    const tools = [{ type: 'function', name, description, parameters, strict: false }]
    const answer = await openai().responses.stream({ model, input, tools }).finalResponse()
    const calls = answer.output.filter(({ type }) => type === 'function_call')
    if (calls.length === 0) return answer.output_text
    const results = calls.map((call) => ({
      ...{ type: 'function_call_output', call_id: call.call_id },
      output: run(JSON.parse(call.arguments)),
    }))
    input.push(...answer.output, ...results)
  }
}

/** Without a version, the SDK names the one that it was made for. */
async function messages(version) {
  const defaultHeaders = version ? { 'anthropic-version': version } : {}
  const client = new Anthropic({ baseURL: address, apiKey, maxRetries: 0, defaultHeaders })
  const { name, description, schema: input_schema, run } = shell
  const history = [{ role: 'user', content: task }]
  for (let turn = 0; turn < turnsMax; turn++) {
    const tools = [{ name, description, input_schema }]
    const { content } = await client.messages.stream({ model, max_tokens: 1000, messages: history, tools }).finalMessage()
    const calls = content.filter(({ type }) => type === 'tool_use')
    if (calls.length === 0) return content.map(({ text = '' }) => text).join('')
    const results = calls.map(({ id, input }) => ({ type: 'tool_result', tool_use_id: id, content: run(input) }))
    history.push({ role: 'assistant', content }, { role: 'user', content: results })
  }
}

async function gemini() {
  const client = new GoogleGenAI({ apiKey, httpOptions: { baseUrl: address, retryOptions: { attempts: 1 } } })
  const { name, description, schema: parametersJsonSchema, run } = shell
  const contents = [{ role: 'user', parts: [{ text: task }] }]
  const tools = [{ functionDeclarations: [{ name, description, parametersJsonSchema }] }]
  for (let turn = 0; turn < turnsMax; turn++) {
    const parts = []
    for await (const { candidates } of await client.models.generateContentStream({ model, contents, config: { tools } }))
      parts.push(...(candidates?.[0]?.content?.parts ?? []))
    const calls = parts.flatMap(({ functionCall }) => functionCall ?? [])
    if (calls.length === 0) return parts.map(({ text = '' }) => text).join('')
    const results = calls.map(({ id, name, args }) => ({ functionResponse: { id, name, response: { output: run(args) } } }))
    contents.push({ role: 'model', parts }, { role: 'user', parts: results })
  }
}

const interfaces = {
  chat,
  responses,
  messages: () => messages(),
  'messages-2023-06-01': () => messages('2023-06-01'),
  'messages-2026-10-21': () => messages('2026-10-21'),
  gemini,
}
console.log(await interfaces[name]())
