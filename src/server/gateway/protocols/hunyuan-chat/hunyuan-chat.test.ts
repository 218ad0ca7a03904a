import { describe, expect, it } from 'vitest'
import { itWrites, reading } from '../../../../../test/helpers/codecs.ts'
import { base64, media, text, tideTool, toolTurns, user } from '../../../../../test/helpers/dialogue.ts'
import type { Codec } from '../codec.ts'
import { hunyuanChatFormat } from './format.ts'

const hunyuanChat: Codec = hunyuanChatFormat.codec

const Usage = { PromptTokens: 9, CompletionTokens: 4, TotalTokens: 13 }
const event = (Delta: object, FinishReason = '') =>
  `data: ${JSON.stringify({ Note: 'AI', Choices: [{ Index: 0, Delta, FinishReason }], Created: 1, Id: 'h', Usage })}\n\n`
const { stream, whole } = reading(hunyuanChat)

describe('a reply of Hunyuan', () => {
  it('joins the pieces of a call', () => {
    const piece = (called: object, more = {}) => event({ ToolCalls: [{ Index: 0, Type: 'function', Function: called, ...more }] })
    const first = piece({ Name: 'get_tide', Arguments: '' }, { Id: 'call_h' })
    expect(
      stream(first, piece({ Arguments: '{"port":' }), piece({ Arguments: '"Rye"}' }), event({}, 'tool_calls')),
    ).toMatchObject({
      blocks: [{ block: 'tool-call', callId: 'call_h', name: 'get_tide', text: '{"port":"Rye"}' }],
      finish: 'tool-calls',
    })
  })

  it('is read non-streamed from its envelope', () => {
    const Choices = [{ Message: { Role: 'assistant', Content: 'Hi' }, FinishReason: 'stop' }]
    expect(whole({ Response: { Id: 'h', Choices, Usage } })).toMatchObject({
      blocks: [{ block: 'text', text: 'Hi' }],
      usage: { input: 9, output: 4 },
    })
  })

  it.each([
    ['AuthFailure.SignatureFailure', 401],
    ['RequestLimitExceeded', 429],
    ['ResourceInsufficient.ChargeResourceExhaust', 402],
    ['InvalidParameterValue.Model', 400],
    ['Strange', 0],
  ])('[248] is an error of %s under HTTP 200, with status %i', (Code, status) => {
    const { error } = whole({ Response: { Error: { Code, Message: 'no' }, RequestId: 'r' } })
    expect(error).toMatchObject({ message: 'no', code: Code, status })
  })

  it('is an error when the stream contains one, and finishes with content-filter when the moderation stopped it', () => {
    const broken = 'data: {"ErrorMsg":{"Msg":"engine died","Code":2001}}\n\n'
    expect(stream(event({ Content: 'The' }), broken).error).toMatchObject({ message: 'engine died' })
    expect(stream(event({ Content: 'The' }, 'sensitive')).finish).toBe('content-filter')
  })
})

describe('a request to Hunyuan', () => {
  const tool = {
    Type: 'function',
    Function: { Name: 'get_tide', Parameters: JSON.stringify(tideTool.schema), Description: 'Tide of a port' },
  }

  itWrites(hunyuanChat, {
    'has names in PascalCase, and reports members without an equivalent': {
      asks: {
        system: [text('Be brief')],
        sampling: { temperature: 0.5, topP: 0.9, seed: 20_000 },
        outputTokensMax: 100,
        stop: ['END'],
        stream: true,
        reasoning: { mode: 'off', show: undefined },
      },
      model: 'hunyuan-pro',
      body: {
        Model: 'hunyuan-pro',
        Messages: [
          { Role: 'system', Content: 'Be brief' },
          { Role: 'user', Content: 'Hello' },
        ],
        Stream: true,
        Temperature: 0.5,
        TopP: 0.9,
        Stop: ['END'],
        EnableThinking: false,
      },
      lost: ['max_tokens', 'seed'],
    },
    'alternates its roles, with a tool result in place of a user message': {
      asks: {
        tools: [tideTool],
        toolChoice: { kind: 'required' },
        turns: [user('Tide?'), ...toolTurns(''), user('And now?')],
      },
      is: {
        Messages: [
          { Role: 'user', Content: 'Tide?' },
          {
            Role: 'assistant',
            Content: '',
            ToolCalls: [{ Id: 'call_1', Type: 'function', Function: { Name: 'get_tide', Arguments: '{"port":"Rye"}' } }],
          },
          { Role: 'tool', ToolCallId: 'call_1', Content: '(empty)' },
          { Role: 'assistant', Content: '.' },
          { Role: 'user', Content: 'And now?' },
        ],
      },
      has: { Tools: [tool], ToolChoice: 'custom', CustomTool: tool },
    },
    'contains images': {
      asks: { turns: [user('See', media('image', base64('image/png', 'iVBO')))] },
      has: {
        Messages: [
          {
            Contents: [
              { Type: 'text', Text: 'See' },
              { Type: 'image_url', ImageUrl: { Url: 'data:image/png;base64,iVBO' } },
            ],
          },
        ],
      },
    },
  })
})
