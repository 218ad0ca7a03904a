import Anthropic from '@anthropic-ai/sdk'
import { betaTool } from '@anthropic-ai/sdk/helpers/beta/json-schema'
import { GoogleGenAI, type Part, ThinkingLevel } from '@google/genai'
import OpenAI from 'openai'
import type { RunnableToolFunctionWithParse } from 'openai/lib/RunnableFunction'
import OpenAI6 from 'openai-6'
import { resultOf, scenario } from '../../helpers/agents/scenario.ts'
import { type Agent, imageUrl, Notes, turnsMax } from './agent.ts'

const { instruction, question, answerName, answerSchema } = scenario

/** The calls used here are the same in both majors; their types only differ in name. */
const majors = { 'openai 7': OpenAI, 'openai 6': OpenAI6 as unknown as typeof OpenAI }

/** The tool runner of the SDK: it keeps the conversation itself. */
const chat =
  (Client: typeof OpenAI): Agent =>
  async ({ url, key, model, reasons }) => {
    const notes = new Notes()
    const client = new Client({ apiKey: key, baseURL: `${url}/v1`, maxRetries: 0 })
    const runner = client.chat.completions.runTools({
      model,
      stream: true,
      stream_options: { include_usage: true },
      ...(reasons ? { reasoning_effort: 'medium' as const } : {}),
      messages: [
        { role: 'system', content: instruction },
        {
          role: 'user',
          content: [
            { type: 'text', text: question },
            { type: 'image_url', image_url: { url: imageUrl } },
          ],
        },
      ],
      tools: runnableTools(notes),
      response_format: { type: 'json_schema', json_schema: { name: answerName, schema: answerSchema, strict: true } },
    })
    let thought = ''
    for await (const chunk of runner) {
      // Vendors have added the reasoning to the pieces of a Chat reply.
      const delta = (chunk.choices[0]?.delta ?? {}) as { reasoning_content?: string }
      thought += delta.reasoning_content ?? ''
      const { usage } = chunk
      if (!usage) continue
      notes.used({
        input: usage.prompt_tokens,
        cached: usage.prompt_tokens_details?.cached_tokens ?? 0,
        output: usage.completion_tokens,
      })
      notes.thoughts.push(thought)
      thought = ''
    }
    const completions = runner.allChatCompletions()
    notes.texts.push(...completions.map(({ choices: [choice] }) => choice?.message.content ?? ''))
    return notes.run(JSON.parse((await runner.finalContent()) ?? ''))
  }

function runnableTools(notes: Notes): RunnableToolFunctionWithParse<Record<string, unknown>>[] {
  return scenario.tools.map(({ name, description, schema }) => ({
    type: 'function',
    function: {
      name,
      description,
      parameters: plain(schema),
      strict: true,
      parse: (text: string) => JSON.parse(text) as Record<string, unknown>,
      function: (input: Record<string, unknown>) => {
        notes.call(name, input)
        return resultOf(name, input)
      },
    },
  }))
}

const sealedReasoning = {
  include: ['reasoning.encrypted_content' as const],
  reasoning: { effort: 'medium' as const, summary: 'auto' as const },
}

/** A manual loop without stored state: the model's output is sent back item by item, with its sealed reasoning. */
const responses =
  (Client: typeof OpenAI): Agent =>
  async ({ url, key, model, reasons }) => {
    const notes = new Notes()
    const client = new Client({ apiKey: key, baseURL: `${url}/v1`, maxRetries: 0 })
    const input: OpenAI.Responses.ResponseInputItem[] = [
      {
        role: 'user',
        content: [
          { type: 'input_text', text: question },
          { type: 'input_image', image_url: imageUrl, detail: 'auto' },
        ],
      },
    ]
    for (let turn = 0; turn < turnsMax; turn++) {
      const stream = client.responses.stream({
        model,
        instructions: instruction,
        input,
        store: false,
        ...(reasons ? sealedReasoning : {}),
        tools: scenario.tools.map(({ name, description, schema }) => ({
          type: 'function' as const,
          name,
          description,
          parameters: schema,
          strict: true,
        })),
        text: { format: { type: 'json_schema', name: answerName, schema: answerSchema, strict: true } },
      })
      let items: OpenAI.Responses.ResponseOutputItem[] = []
      for await (const event of stream) if (event.type === 'response.completed') items = event.response.output
      const reply = await stream.finalResponse()
      notes.turn({
        text: reply.output_text,
        thought: items.flatMap((item) => (item.type === 'reasoning' ? item.summary.map(({ text }) => text) : [])).join('\n\n'),
      })
      notes.used({
        input: reply.usage?.input_tokens ?? 0,
        cached: reply.usage?.input_tokens_details.cached_tokens ?? 0,
        output: reply.usage?.output_tokens ?? 0,
      })
      const calls = items.filter((item) => item.type === 'function_call')
      if (calls.length === 0) return notes.run(reply.output_parsed)
      // Output items are valid input items; the types differ only in members that these items do not have.
      input.push(...(items as OpenAI.Responses.ResponseInputItem[]))
      for (const { call_id, name, arguments: text } of calls) {
        const args = JSON.parse(text) as Record<string, unknown>
        notes.call(name, args)
        input.push({ type: 'function_call_output', call_id, output: resultOf(name, args) })
      }
    }
    throw new Error('The model did not come to an end')
  }

/** The tool runner of the SDK. */
const messages: Agent = async ({ url, key, model, reasons }) => {
  const notes = new Notes()
  const client = new Anthropic({ apiKey: key, baseURL: url, maxRetries: 0 })
  const runner = client.beta.messages.toolRunner({
    model,
    stream: true,
    max_tokens: 8192,
    ...(reasons ? { thinking: { type: 'enabled' as const, budget_tokens: 2048 } } : {}),
    system: instruction,
    messages: [
      {
        role: 'user',
        content: [
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: scenario.image } },
          { type: 'text', text: question },
        ],
      },
    ],
    tools: scenario.tools.map(({ name, description, schema }) =>
      betaTool({
        name,
        description,
        inputSchema: { type: 'object', ...plain(schema) },
        run: (input) => {
          // The schema is read at run time here.
          const args = input as Record<string, unknown>
          notes.call(name, args)
          return resultOf(name, args)
        },
      }),
    ),
    output_config: { format: { type: 'json_schema', schema: plain(answerSchema) } },
    max_iterations: turnsMax,
  })
  for await (const stream of runner) {
    const { content, usage } = await stream.finalMessage()
    const cached = usage.cache_read_input_tokens ?? 0
    notes.turn({
      text: content.map((block) => (block.type === 'text' ? block.text : '')).join(''),
      thought: content.map((block) => (block.type === 'thinking' ? block.thinking : '')).join(''),
    })
    notes.used({
      input: usage.input_tokens + cached + (usage.cache_creation_input_tokens ?? 0),
      cached,
      output: usage.output_tokens,
    })
  }
  const { content } = await runner.runUntilDone()
  return notes.run(JSON.parse(content.map((block) => (block.type === 'text' ? block.text : '')).join('')))
}

/** A chat of the SDK: it keeps the conversation itself, seals included. */
const gemini: Agent = async ({ url, key, model, reasons }) => {
  const notes = new Notes()
  const client = new GoogleGenAI({ apiKey: key, httpOptions: { baseUrl: url } })
  const conversation = client.chats.create({
    model,
    config: {
      systemInstruction: instruction,
      ...(reasons ? { thinkingConfig: { includeThoughts: true, thinkingLevel: ThinkingLevel.HIGH } } : {}),
      tools: [
        {
          functionDeclarations: scenario.tools.map(({ name, description, schema }) => ({
            name,
            description,
            parametersJsonSchema: schema,
          })),
        },
      ],
      responseMimeType: 'application/json',
      responseJsonSchema: answerSchema,
    },
  })
  let message: Part[] = [{ text: question }, { inlineData: { mimeType: 'image/png', data: scenario.image } }]
  for (let turn = 0; turn < turnsMax; turn++) {
    let text = ''
    let thought = ''
    let usage = { input: 0, cached: 0, output: 0 }
    const answers: Part[] = []
    for await (const chunk of await conversation.sendMessageStream({ message })) {
      for (const part of chunk.candidates?.[0]?.content?.parts ?? []) {
        if (part.thought) thought += part.text ?? ''
        else text += part.text ?? ''
      }
      for (const { id, name = '', args = {} } of chunk.functionCalls ?? []) {
        notes.call(name, args)
        answers.push({ functionResponse: { ...(id ? { id } : {}), name, response: { output: resultOf(name, args) } } })
      }
      const told = chunk.usageMetadata
      if (!told) continue
      usage = {
        input: told.promptTokenCount ?? 0,
        cached: told.cachedContentTokenCount ?? 0,
        output: (told.candidatesTokenCount ?? 0) + (told.thoughtsTokenCount ?? 0),
      }
    }
    notes.turn({ text, thought })
    notes.used(usage)
    if (answers.length === 0) return notes.run(JSON.parse(text))
    message = answers
  }
  throw new Error('The model did not come to an end')
}

/** A mutable copy of a schema, which the types of some SDKs require. */
function plain(schema: object): Record<string, unknown> {
  return structuredClone(schema) as Record<string, unknown>
}

export const officialSdks: Readonly<Record<string, Agent>> = {
  'openai 7, chat': chat(majors['openai 7']),
  'openai 6, chat': chat(majors['openai 6']),
  'openai 7, responses': responses(majors['openai 7']),
  'openai 6, responses': responses(majors['openai 6']),
  '@anthropic-ai/sdk': messages,
  '@google/genai': gemini,
}
