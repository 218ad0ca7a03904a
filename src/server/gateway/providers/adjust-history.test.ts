import { describe, expect, it } from 'vitest'
import { written } from '../../../../test/helpers/codecs.ts'
import type { ModelRule } from '../../../contract/entities/channel.ts'
import type { CallerFormat } from '../protocols/format.ts'
import { formats } from '../protocols/index.ts'
import type { JsonObject } from '../protocols/wire-format.ts'
import { adjustRequest, quirksFor } from './adjust-request.ts'
import { providerById } from './index.ts'

/** Types of channels that serve models of other vendors in Chat: OpenAI's, any address, Alibaba, SiliconFlow, Volcengine, Qianfan. */
const hosts = [1, 8, 17, 40, 45, 46, 47] as const
type Switches = Readonly<Partial<Record<ModelRule, boolean>>>

const provider = (type: number) => providerById(type) ?? expect.unreachable(`no provider ${type}`)
const channelOf = (type: number, switches?: Switches, baseUrl = provider(type).baseUrl) => ({
  type,
  provider: provider(type),
  baseUrl,
  setting: switches ? { model_rules: switches } : {},
})

interface Host {
  readonly type: number
  readonly model: string
  readonly switches?: Switches
  readonly baseUrl?: string
}

/** The Chat request that a host gets for a request of a caller, native or translated. */
function sent(from: CallerFormat, body: JsonObject, { type, model, switches, baseUrl }: Host): JsonObject {
  const channel = channelOf(type, switches, baseUrl)
  const chat = from === 'openai.chat' ? body : translated(from, body, { model, quirks: quirksFor(channel, model) })
  const changes = adjustRequest(channel, { body: chat, format: 'openai.chat', model })
  return Object.fromEntries(Object.entries({ ...chat, ...changes }).filter(([, value]) => value !== undefined))
}

function translated(
  from: CallerFormat,
  body: JsonObject,
  to: { model: string; quirks: ReturnType<typeof quirksFor> },
): JsonObject {
  const { inbound } = formats[from]
  const { codec } = formats['openai.chat']
  if (!inbound || !codec) return expect.unreachable(`${from} is no conversation`)
  return written(codec, inbound.readRequest({ model: 'm', ...body }, { model: 'm', stream: body.stream === true }), to).body
}

/** A conversation with a call, as callers of each dialect send it, with the thought before the call or without. */
const conversations: Readonly<Record<string, (thought?: string) => readonly [CallerFormat, JsonObject]>> = {
  Chat: (thought) => [
    'openai.chat',
    {
      messages: [
        { role: 'user', content: 'Tide?' },
        {
          role: 'assistant',
          content: null,
          ...(thought ? { reasoning_content: thought } : {}),
          tool_calls: [{ id: 'call_abcdefghijk', type: 'function', function: { name: 'tide', arguments: '{}' } }],
        },
        { role: 'tool', tool_call_id: 'call_abcdefghijk', content: 'high' },
      ],
      tools: [{ type: 'function', function: { name: 'tide', parameters: { type: 'object' } } }],
    },
  ],
  Messages: (thought) => [
    'anthropic.messages',
    {
      max_tokens: 99,
      messages: [
        { role: 'user', content: 'Tide?' },
        {
          role: 'assistant',
          content: [
            ...(thought ? [{ type: 'thinking', thinking: thought, signature: '' }] : []),
            { type: 'tool_use', id: 'call_abcdefghijk', name: 'tide', input: {} },
          ],
        },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_abcdefghijk', content: 'high' }] },
      ],
      tools: [{ name: 'tide', input_schema: { type: 'object' } }],
    },
  ],
  Responses: (thought) => [
    'openai.responses',
    {
      input: [
        { role: 'user', content: 'Tide?' },
        ...(thought ? [{ type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: thought }] }] : []),
        { type: 'function_call', call_id: 'call_abcdefghijk', name: 'tide', arguments: '{}' },
        { type: 'function_call_output', call_id: 'call_abcdefghijk', output: 'high' },
      ],
      tools: [{ type: 'function', name: 'tide', parameters: { type: 'object' } }],
    },
  ],
  Gemini: (thought) => [
    'gemini.generate',
    {
      contents: [
        { role: 'user', parts: [{ text: 'Tide?' }] },
        {
          role: 'model',
          parts: [
            ...(thought ? [{ text: thought, thought: true }] : []),
            { functionCall: { id: 'call_abcdefghijk', name: 'tide', args: {} } },
          ],
        },
        { role: 'user', parts: [{ functionResponse: { id: 'call_abcdefghijk', name: 'tide', response: { output: 'high' } } }] },
      ],
      tools: [{ functionDeclarations: [{ name: 'tide', parameters: { type: 'object' } }] }],
    },
  ],
}
const callers = Object.keys(conversations)

const message = (body: JsonObject, role: string): JsonObject =>
  (body.messages as JsonObject[]).find((each) => each.role === role) ?? expect.unreachable(`no message of ${role}`)
const firstCall = (body: JsonObject): JsonObject =>
  (message(body, 'assistant').tool_calls as JsonObject[])[0] ?? expect.unreachable('no call')
function asked(caller: string, host: Host, thought?: string): JsonObject {
  const [from, body] = conversations[caller]?.(thought) ?? expect.unreachable(caller)
  return sent(from, body, host)
}

describe.each(callers)('a history of a caller of %s', (caller) => {
  it.each([
    ['moonshotai/Kimi-K2-Thinking', ' '],
    ['kimi-k2.5', ' '],
    ['kimi-k3', ' '],
    ['Pro/deepseek-ai/DeepSeek-V3.2', ''],
    ['deepseek-reasoner', ''],
    ['deepseek-v4-pro', ''],
  ])('[158] gives %s its reasoning back on every host, or a placeholder', (model, placeholder) => {
    for (const type of hosts) {
      expect([type, message(asked(caller, { type, model }, 'Hm'), 'assistant').reasoning_content]).toEqual([type, 'Hm'])
      expect([type, message(asked(caller, { type, model }), 'assistant').reasoning_content]).toEqual([type, placeholder])
    }
  })

  it("[159] has none of it for DeepSeek's first reasoning model, and none for models that do not ask for it", () => {
    for (const type of hosts) {
      expect(message(asked(caller, { type, model: 'deepseek-ai/DeepSeek-R1' }, 'Hm'), 'assistant')).not.toHaveProperty(
        'reasoning_content',
      )
      const other = message(asked(caller, { type, model: 'glm-4.6' }), 'assistant')
      expect(other).not.toHaveProperty('reasoning_content')
    }
  })

  it('[92] has ids of nine letters and digits for models of Mistral, the same for a call and its result', () => {
    for (const type of hosts) {
      for (const model of ['mistralai/Mistral-Large-Instruct', 'devstral-2', 'open-mixtral-8x22b', 'magistral-medium']) {
        const body = asked(caller, { type, model })
        expect(firstCall(body).id).toMatch(/^[a-zA-Z0-9]{9}$/)
        expect(message(body, 'tool').tool_call_id).toBe(firstCall(body).id)
      }
      expect(firstCall(asked(caller, { type, model: 'gpt-4o' })).id).toBe('call_abcdefghijk')
    }
  })

  it('[292] has a placeholder for the lost signature of the first call for Gemini 3', () => {
    const signed = { google: { thought_signature: 'skip_thought_signature_validator' } }
    for (const type of [...hosts, 41]) {
      expect(firstCall(asked(caller, { type, model: 'google/gemini-3-pro' })).extra_content).toEqual(signed)
      expect(firstCall(asked(caller, { type, model: 'gemini-2.5-pro' }))).not.toHaveProperty('extra_content')
    }
  })

  it.each<[ModelRule, string, (body: JsonObject) => unknown]>([
    ['replay_reasoning', 'kimi-k3', (body) => message(body, 'assistant').reasoning_content],
    ['short_call_ids', 'mistral-large', (body) => firstCall(body).id !== 'call_abcdefghijk' || undefined],
    ['call_signatures', 'gemini-3-pro', (body) => firstCall(body).extra_content],
  ])('follows the switch of the channel for %s', (rule, model, effect) => {
    for (const type of hosts) {
      const on = { type, switches: { [rule]: true } }
      const off = { type, switches: { [rule]: false } }
      expect(effect(asked(caller, { ...on, model: 'my-deployment' }))).toBeDefined()
      expect(effect(asked(caller, { type, model: 'my-deployment' }))).toBeUndefined()
      expect(effect(asked(caller, { ...off, model }))).toBeUndefined()
    }
  })
})

describe('open Qwen models, which think by default and only in streams', () => {
  const bodies: readonly (readonly [CallerFormat, JsonObject])[] = [
    ['openai.chat', { messages: [{ role: 'user', content: 'Hi' }] }],
    ['anthropic.messages', { max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }] }],
    ['openai.responses', { input: 'Hi' }],
    ['gemini.generate', { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] }],
  ]

  it.each(bodies)('[291] do not think in whole answers to callers of %s, on hosts that have the switch', (from, body) => {
    for (const type of [1, 8, 17, 40, 46, 47]) {
      for (const model of ['qwen3-32b', 'Qwen/Qwen3-235B-A22B', 'qwen3:8b']) {
        expect(sent(from, body, { type, model }).enable_thinking).toBe(false)
        expect(sent(from, { ...body, stream: true }, { type, model })).not.toHaveProperty('enable_thinking')
      }
      for (const model of ['qwen3-235b-a22b-thinking-2507', 'Qwen3-30B-A3B-Instruct-2507', 'qwen3-max', 'qwen3-coder-plus']) {
        expect(sent(from, body, { type, model })).not.toHaveProperty('enable_thinking')
      }
    }
  })

  it('are left alone on hosts that refuse unknown members, or have another switch', () => {
    const [[from, body]] = [bodies[0] ?? expect.unreachable('it is there')]
    for (const baseUrl of ['https://api.groq.com/openai', 'https://api.cerebras.ai', 'https://api.fireworks.ai/inference']) {
      expect(sent(from, body, { type: 1, model: 'qwen/qwen3-32b', baseUrl })).toEqual(body)
      const switches = { think_in_streams_only: true }
      expect(sent(from, body, { type: 1, model: 'qwen/qwen3-32b', baseUrl, switches }).enable_thinking).toBe(false)
    }
    for (const type of [20, 45]) expect(sent(from, body, { type, model: 'qwen/qwen3-32b' })).toEqual(body)
  })
})

describe('OpenRouter', () => {
  it('[269] gets reasoning in its own member, with a placeholder for models that require some with tools', () => {
    for (const caller of callers) {
      for (const model of ['deepseek/deepseek-v4', 'moonshotai/kimi-k3']) {
        expect(message(asked(caller, { type: 20, model }, 'Hm'), 'assistant')).toMatchObject({ reasoning: 'Hm' })
        expect(message(asked(caller, { type: 20, model }), 'assistant')).toMatchObject({ reasoning: ' ' })
      }
      expect(message(asked(caller, { type: 20, model: 'openai/gpt-4o' }), 'assistant')).not.toHaveProperty('reasoning')
    }
  })
})
