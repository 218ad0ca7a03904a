import { ChatAnthropic } from '@langchain/anthropic'
import type { BaseLanguageModelInput } from '@langchain/core/language_models/base'
import {
  type AIMessageChunk,
  type BaseMessage,
  type ContentBlock,
  HumanMessage,
  SystemMessage,
  ToolMessage,
} from '@langchain/core/messages'
import { tool } from '@langchain/core/tools'
import { ChatOpenAI } from '@langchain/openai'
import { resultOf, scenario } from '../../helpers/agents/scenario.ts'
import { type Agent, type Asked, Notes, turnsMax } from './agent.ts'

/** A model with its tools and its form of answer bound, as LangChain streams it. */
interface Bound {
  stream(messages: BaseLanguageModelInput): Promise<AsyncIterable<AIMessageChunk>>
}

const tools = scenario.tools.map(({ name, description, schema }) =>
  tool((input) => resultOf(name, input as Record<string, unknown>), {
    name,
    description,
    schema: structuredClone(schema) as Record<string, unknown>,
  }),
)

/** The loop of LangChain: the chunks of a message add up to one, which is sent back unchanged. */
const agent =
  (bind: (asked: Asked) => Bound, { readsUsage = true } = {}): Agent =>
  async (asked) => {
    const notes = new Notes()
    const model = bind(asked)
    const image = { type: 'image', mimeType: 'image/png', data: scenario.image } as const
    const question: ContentBlock.Standard[] = [{ type: 'text', text: scenario.question }, image]
    const messages: BaseMessage[] = [new SystemMessage(scenario.instruction), new HumanMessage({ contentBlocks: question })]
    for (let turn = 0; turn < turnsMax; turn++) {
      let reply: AIMessageChunk | undefined
      for await (const chunk of await model.stream(messages)) reply = reply ? reply.concat(chunk) : chunk
      if (!reply) throw new Error('The model said nothing')
      messages.push(reply)
      const { usage_metadata: usage, tool_calls: calls = [] } = reply
      notes.turn({
        text: reply.text,
        thought: reply.contentBlocks.map((block) => (block.type === 'reasoning' ? block.reasoning : '')).join(''),
      })
      notes.used({
        input: usage?.input_tokens ?? 0,
        cached: usage?.input_token_details?.cache_read ?? 0,
        output: usage?.output_tokens ?? 0,
      })
      if (calls.length === 0) {
        const run = notes.run(JSON.parse(reply.text))
        return readsUsage ? run : { ...run, usage: undefined }
      }
      for (const { id = '', name, args } of calls) {
        notes.call(name, args)
        messages.push(new ToolMessage({ content: resultOf(name, args), tool_call_id: id, name }))
      }
    }
    throw new Error('The model did not come to an end')
  }

const responseFormat = {
  type: 'json_schema' as const,
  json_schema: {
    name: scenario.answerName,
    schema: structuredClone(scenario.answerSchema) as Record<string, unknown>,
    strict: true,
  },
}

export const langchain: Readonly<Record<string, Agent>> = {
  'langchain openai, chat': agent(({ url, key, model, reasons }) =>
    new ChatOpenAI({
      model,
      apiKey: key,
      maxRetries: 0,
      streaming: true,
      useResponsesApi: false,
      // The library passes the effort on only for models whose names it knows.
      modelKwargs: reasons ? { reasoning_effort: 'medium' } : {},
      configuration: { baseURL: `${url}/v1` },
    }).bindTools(tools, { response_format: responseFormat, strict: true }),
  ),
  'langchain openai, responses': agent(({ url, key, model, reasons }) =>
    new ChatOpenAI({
      model,
      apiKey: key,
      maxRetries: 0,
      streaming: true,
      useResponsesApi: true,
      modelKwargs: { store: false, ...(reasons ? { reasoning: { effort: 'medium', summary: 'auto' } } : {}) },
      configuration: { baseURL: `${url}/v1` },
    }).bindTools(tools, {
      response_format: responseFormat,
      strict: true,
      ...(reasons ? { include: ['reasoning.encrypted_content'] } : {}),
    }),
  ),
  'langchain anthropic': agent(
    ({ url, key, model, reasons }) =>
      new ChatAnthropic({
        model,
        apiKey: key,
        maxRetries: 0,
        streaming: true,
        maxTokens: 8192,
        ...(reasons ? { thinking: { type: 'enabled' as const, budget_tokens: 2048 } } : {}),
        anthropicApiUrl: url,
      }).bindTools(tools, {
        outputConfig: {
          format: { type: 'json_schema', schema: structuredClone(scenario.answerSchema) as Record<string, unknown> },
        },
      }),
    // LangChain reads the input from the first event, where other vendors do not report it yet, and adds the output of both events.
    { readsUsage: false },
  ),
}
