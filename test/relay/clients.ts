import Anthropic from '@anthropic-ai/sdk'
import { GoogleGenAI } from '@google/genai'
import OpenAI from 'openai'
import OpenAI6 from 'openai-6'

/** The content of an answer as a client of any dialect parses it. Calls are compared by name and input; ids belong to the dialects. */
export interface Understood {
  readonly text: string
  readonly reasoning: string
  readonly calls: readonly { readonly name: string; readonly input: unknown }[]
  readonly usage: { readonly input: number; readonly output: number; readonly cached: number }
}

interface Asked {
  readonly url: string
  readonly key: string
  readonly model: string
}

/**
 * Requests a stream and reads it with the official SDK of the dialect, with its strict helpers where it has them. Throws their
 * errors.
 */
export type Client = (asked: Asked) => Promise<Understood>

const prompt = 'Tell me.'

/** The calls used here are the same in both majors; their types only differ in name. */
const majors = { 'openai 7': OpenAI, 'openai 6': OpenAI6 as unknown as typeof OpenAI }

/** Members that vendors have added to a chunk of a Chat reply: reasoning beside the text, or both as parts. */
interface ExtendedDelta {
  readonly content?:
    | string
    | null
    | readonly { readonly text?: string; readonly thinking?: readonly { readonly text: string }[] }[]
  readonly refusal?: string | null
  readonly reasoning_content?: string
}

const chat =
  (Client: typeof OpenAI): Client =>
  async ({ url, key, model }) => {
    const client = new Client({ apiKey: key, baseURL: `${url}/v1`, maxRetries: 0 })
    const stream = client.chat.completions.stream({
      model,
      messages: [{ role: 'user', content: prompt }],
      stream_options: { include_usage: true },
    })
    let text = ''
    let reasoning = ''
    for await (const chunk of stream) {
      const delta = (chunk.choices[0]?.delta ?? {}) as ExtendedDelta
      text += typeof delta.content === 'string' ? delta.content : (delta.refusal ?? '')
      reasoning += delta.reasoning_content ?? ''
      for (const part of Array.isArray(delta.content) ? delta.content : []) {
        text += part.text ?? ''
        reasoning += part.thinking?.map((thought: { text: string }) => thought.text).join('') ?? ''
      }
    }
    const reply = await stream.finalChatCompletion()
    const message = reply.choices[0]?.message
    const { usage } = reply
    return {
      text,
      reasoning,
      calls: (message?.tool_calls ?? []).map((call) =>
        call.type === 'function'
          ? { name: call.function.name, input: parse(call.function.arguments) }
          : { name: call.custom.name, input: call.custom.input },
      ),
      usage: {
        input: usage?.prompt_tokens ?? 0,
        output: usage?.completion_tokens ?? 0,
        cached: usage?.prompt_tokens_details?.cached_tokens ?? 0,
      },
    }
  }

const responses =
  (Client: typeof OpenAI): Client =>
  async ({ url, key, model }) => {
    const client = new Client({ apiKey: key, baseURL: `${url}/v1`, maxRetries: 0 })
    const stream = client.responses.stream({ model, input: prompt })
    let text = ''
    for await (const event of stream) {
      if (event.type === 'response.output_text.delta' || event.type === 'response.refusal.delta') text += event.delta
      if (event.type === 'error') throw new Error(event.message)
      if (event.type === 'response.failed') throw new Error(event.response.error?.message)
    }
    const reply = await stream.finalResponse()
    return {
      text,
      reasoning: reply.output
        .flatMap((item) => (item.type === 'reasoning' ? [...item.summary, ...(item.content ?? [])] : []))
        .map((part) => part.text)
        .join('\n\n'),
      calls: reply.output.flatMap((item) => {
        if (item.type === 'function_call') return [{ name: item.name, input: parse(item.arguments) }]
        return item.type === 'custom_tool_call' ? [{ name: item.name, input: item.input }] : []
      }),
      usage: {
        input: reply.usage?.input_tokens ?? 0,
        output: reply.usage?.output_tokens ?? 0,
        cached: reply.usage?.input_tokens_details.cached_tokens ?? 0,
      },
    }
  }

const messages: Client = async ({ url, key, model }) => {
  const client = new Anthropic({ apiKey: key, baseURL: url, maxRetries: 0 })
  const stream = client.messages.stream({ model, max_tokens: 1000, messages: [{ role: 'user', content: prompt }] })
  const reply = await stream.finalMessage()
  const { usage } = reply
  const cached = usage.cache_read_input_tokens ?? 0
  return {
    text: reply.content.map((block) => (block.type === 'text' ? block.text : '')).join(''),
    reasoning: reply.content.map((block) => (block.type === 'thinking' ? block.thinking : '')).join(''),
    calls: reply.content.flatMap((block) => (block.type === 'tool_use' ? [{ name: block.name, input: plain(block.input) }] : [])),
    usage: {
      input: usage.input_tokens + cached + (usage.cache_creation_input_tokens ?? 0),
      output: usage.output_tokens,
      cached,
    },
  }
}

const gemini: Client = async ({ url, key, model }) => {
  const client = new GoogleGenAI({ apiKey: key, httpOptions: { baseUrl: url } })
  const stream = await client.models.generateContentStream({
    model,
    contents: prompt,
    config: { thinkingConfig: { includeThoughts: true } },
  })
  let text = ''
  let reasoning = ''
  const calls: { name: string; input: unknown }[] = []
  let usage = { input: 0, output: 0, cached: 0 }
  for await (const chunk of stream) {
    for (const part of chunk.candidates?.[0]?.content?.parts ?? []) {
      if (part.functionCall) calls.push({ name: part.functionCall.name ?? '', input: plain(part.functionCall.args ?? {}) })
      else if (part.thought) reasoning += part.text ?? ''
      else text += part.text ?? ''
    }
    const told = chunk.usageMetadata
    if (told)
      usage = {
        input: (told.promptTokenCount ?? 0) + (told.toolUsePromptTokenCount ?? 0),
        output: (told.candidatesTokenCount ?? 0) + (told.thoughtsTokenCount ?? 0),
        cached: told.cachedContentTokenCount ?? 0,
      }
  }
  return { text, reasoning, calls, usage }
}

/** A client for every dialect, by dialect and SDK. */
export const clients: Readonly<Record<string, Client>> = {
  'chat, openai 7': chat(majors['openai 7']),
  'chat, openai 6': chat(majors['openai 6']),
  'responses, openai 7': responses(majors['openai 7']),
  'responses, openai 6': responses(majors['openai 6']),
  messages,
  gemini,
}

/** Dialects without free-text tools carry the text as the only member of an object. */
function plain(input: unknown): unknown {
  const members = typeof input === 'object' && input !== null ? Object.entries(input) : []
  const [only] = members
  return members.length === 1 && only?.[0] === 'input' ? only[1] : input
}

function parse(text: string): unknown {
  return text === '' ? {} : JSON.parse(text)
}
