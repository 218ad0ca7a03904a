import type { DatabaseKind } from '../helpers/databases.ts'
import { sharedStages } from './shared-stage.ts'
import { httpUpstream, stage } from './stage.ts'

/** A request as the upstream received it, with the names of its tools there. */
export interface Asked {
  readonly body: Record<string, unknown>
  readonly tools: readonly string[]
  readonly isStream: boolean
}

interface Call {
  readonly name: string
  readonly input: object
}

type Answer = { readonly calls: readonly Call[] } | { readonly text: string }

interface Vendor {
  readonly channel: Record<string, unknown>
  readonly path: string
  readonly model: string
  toolsOf(body: Record<string, unknown>): string[]
  write(answer: Answer, isStream: boolean): string
}

type List = readonly Record<string, unknown>[]

const listAt = (value: unknown): List => (Array.isArray(value) ? value : [])
const event = (data: object, name = '') => `${name === '' ? '' : `event: ${name}\n`}data: ${JSON.stringify(data)}\n\n`

const anthropic: Vendor = {
  channel: { type: 14 },
  path: '',
  model: 'claude-sonnet-4-5',
  toolsOf: ({ tools }) => listAt(tools).map(({ name }) => String(name)),
  write(answer, isStream) {
    const content =
      'text' in answer
        ? [{ type: 'text', text: answer.text }]
        : answer.calls.map(({ name, input }, at) => ({ type: 'tool_use', id: `toolu_${name.slice(0, 40)}_${at}`, name, input }))
    const stop_reason = 'text' in answer ? 'end_turn' : 'tool_use'
    const usage = { input_tokens: 30, output_tokens: 9 }
    const message = {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: this.model,
      stop_reason,
      stop_sequence: null,
      usage,
    }
    if (!isStream) return JSON.stringify({ ...message, content })
    const blocks = content.flatMap((block, index) => {
      const isText = 'text' in block
      const started = isText ? { ...block, text: '' } : { ...block, input: {} }
      const delta = isText
        ? { type: 'text_delta', text: block.text }
        : { type: 'input_json_delta', partial_json: JSON.stringify(block.input) }
      return [
        { type: 'content_block_start', index, content_block: started },
        { type: 'content_block_delta', index, delta },
        { type: 'content_block_stop', index },
      ]
    })
    const events = [
      { type: 'message_start', message: { ...message, content: [], stop_reason: null } },
      ...blocks,
      { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage },
      { type: 'message_stop' },
    ]
    return events.map((data) => event(data, data.type)).join('')
  },
}

const gemini: Vendor = {
  channel: { type: 24 },
  path: '',
  model: 'gemini-2.5-pro',
  toolsOf: ({ tools }) => listAt(tools).flatMap((group) => listAt(group.functionDeclarations).map(({ name }) => String(name))),
  write(answer, isStream) {
    const parts =
      'text' in answer
        ? [{ text: answer.text }]
        : answer.calls.map(({ name, input }) => ({ functionCall: { name, args: input } }))
    const reply = {
      candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP', index: 0 }],
      usageMetadata: { promptTokenCount: 30, candidatesTokenCount: 9, totalTokenCount: 39 },
      modelVersion: this.model,
    }
    return isStream ? event(reply) : JSON.stringify(reply)
  },
}

const chat: Vendor = {
  channel: { type: 8 },
  path: '/v1/chat/completions',
  model: 'gpt-4.1',
  toolsOf: ({ tools }) => listAt(tools).map((tool) => String((tool.function as { name?: unknown } | undefined)?.name)),
  write(answer, isStream) {
    const calls =
      'text' in answer
        ? undefined
        : answer.calls.map(({ name, input }, index) => ({
            index,
            id: `call_${name.slice(0, 40)}_${index}`,
            type: 'function',
            function: { name, arguments: JSON.stringify(input) },
          }))
    const said = 'text' in answer ? { content: answer.text } : { content: null, tool_calls: calls }
    const finish_reason = calls ? 'tool_calls' : 'stop'
    const usage = { prompt_tokens: 30, completion_tokens: 9, total_tokens: 39 }
    const reply = { id: 'c', created: 1, model: this.model }
    if (!isStream) {
      const choices = [{ index: 0, message: { role: 'assistant', ...said }, finish_reason }]
      return JSON.stringify({ ...reply, object: 'chat.completion', choices, usage })
    }
    const chunk = { ...reply, object: 'chat.completion.chunk' }
    const pieces = [
      { ...chunk, choices: [{ index: 0, delta: { role: 'assistant', ...said }, finish_reason: null }] },
      { ...chunk, choices: [{ index: 0, delta: {}, finish_reason }], usage },
    ]
    return `${pieces.map((piece) => event(piece)).join('')}data: [DONE]\n\n`
  },
}

/** Upstreams that do not speak Responses. */
const foreign = { Anthropic: anthropic, Gemini: gemini, 'Chat alone': chat } as const

export type Foreign = keyof typeof foreign

export const foreignNames = Object.keys(foreign) as Foreign[]

type Answers = (asked: Asked, turn: number) => Answer

/** A server with one channel to an upstream of a kind, which answers with `answers` and records its requests. */
export async function foreignStage(kind: DatabaseKind, name: Foreign, answers: Answers, channel: Record<string, unknown> = {}) {
  const { url, ...upstream } = await openUpstream(name, answers)
  const staged = await stage(kind, url, { channel: { ...upstream.channel, ...channel } })
  await staged.server.call('PUT /api/option/', { key: 'ModelRatio', value: JSON.stringify(ratios) })
  return { ...staged, ...upstream }
}

/** The same on one shared server, for tests that set no options. */
export function foreignStages(kind: DatabaseKind) {
  const sharedStage = sharedStages(kind, { ModelRatio: ratios })
  return async (name: Foreign, answers: Answers) => {
    const { url, ...upstream } = await openUpstream(name, answers)
    return { ...(await sharedStage(url, upstream.channel)), ...upstream }
  }
}

const ratios = Object.fromEntries(Object.values(foreign).map(({ model }) => [model, 1]))

async function openUpstream(name: Foreign, answers: Answers) {
  const vendor = foreign[name]
  const asked: Asked[] = []
  const url = await httpUpstream(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += chunk
    const body = JSON.parse(text) as Record<string, unknown>
    const isStream = body.stream === true || request.url?.includes(':streamGenerateContent') === true
    const one = { body, tools: vendor.toolsOf(body), isStream }
    asked.push(one)
    response.writeHead(200, { 'content-type': isStream ? 'text/event-stream' : 'application/json' })
    response.end(vendor.write(answers(one, asked.length), isStream))
  })
  return { url: url + vendor.path, asked, model: vendor.model, channel: { models: vendor.model, ...vendor.channel } }
}
