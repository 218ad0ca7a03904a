import { describe, expect, it } from 'vitest'
import {
  assistantTurn,
  readContext,
  readSse,
  summary,
  tideTool,
  toolTurns,
  userTurn,
  written,
} from '../../../../test/helpers/codecs.ts'
import type { MediaPart } from '../dialogue.ts'
import { hunyuanChatFormat } from './format.ts'

const hunyuanChat = hunyuanChatFormat.codec
const Usage = { PromptTokens: 9, CompletionTokens: 4, TotalTokens: 13 }
const event = (Delta: object, FinishReason = '') =>
  `data: ${JSON.stringify({ Note: 'AI', Choices: [{ Index: 0, Delta, FinishReason }], Created: 1, Id: 'h', Usage })}\n\n`

describe('a reply of Hunyuan', () => {
  it('joins the pieces of a call', () => {
    const piece = (Arguments: string, more = {}) =>
      event({ ToolCalls: [{ Index: 0, Type: 'function', Function: { Arguments, ...more } }] })
    const called =
      event({ ToolCalls: [{ Index: 0, Id: 'call_h', Type: 'function', Function: { Name: 'get_tide', Arguments: '' } }] }) +
      piece('{"port":') +
      piece('"Rye"}') +
      event({}, 'tool_calls')
    expect(summary(readSse(hunyuanChat, called))).toMatchObject({
      blocks: [{ block: 'tool-call', callId: 'call_h', name: 'get_tide', text: '{"port":"Rye"}' }],
      finish: 'tool-calls',
    })
  })

  it('is read non-streamed from its envelope', () => {
    const reply = {
      Response: { Id: 'h', Choices: [{ Message: { Role: 'assistant', Content: 'Hi' }, FinishReason: 'stop' }], Usage },
    }
    expect(summary(hunyuanChat.readReply(reply, readContext()))).toMatchObject({
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
    const reply = { Response: { Error: { Code, Message: 'no' }, RequestId: 'r' } }
    expect(summary(hunyuanChat.readReply(reply, readContext())).error).toMatchObject({ message: 'no', code: Code, status })
  })

  it('is an error when the stream contains one, and finishes with content-filter when the moderation stopped it', () => {
    const broken = `${event({ Content: 'The' })}data: {"ErrorMsg":{"Msg":"engine died","Code":2001}}\n\n`
    expect(summary(readSse(hunyuanChat, broken)).error).toMatchObject({ message: 'engine died' })
    expect(summary(readSse(hunyuanChat, event({ Content: 'The' }, 'sensitive'))).finish).toBe('content-filter')
  })
})

describe('a request to Hunyuan', () => {
  it('has names in PascalCase, and reports members without an equivalent', () => {
    const { body, lost } = written(
      hunyuanChat,
      {
        system: [{ kind: 'text', text: 'Be brief' }],
        sampling: { temperature: 0.5, topP: 0.9, seed: 20_000 },
        outputTokensMax: 100,
        stop: ['END'],
        stream: true,
        reasoning: { mode: 'off', show: undefined },
      },
      { model: 'hunyuan-pro' },
    )
    expect(body).toEqual({
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
    })
    expect(lost).toEqual(['max_tokens', 'seed'])
  })

  it('alternates its roles, with a tool result in place of a user message', () => {
    const { body } = written(hunyuanChat, {
      tools: [tideTool],
      toolChoice: { kind: 'required' },
      turns: [userTurn('Tide?'), ...toolTurns(''), userTurn('And now?')],
    })
    expect(body.Messages).toEqual([
      { Role: 'user', Content: 'Tide?' },
      {
        Role: 'assistant',
        Content: '',
        ToolCalls: [{ Id: 'call_1', Type: 'function', Function: { Name: 'get_tide', Arguments: '{"port":"Rye"}' } }],
      },
      { Role: 'tool', ToolCallId: 'call_1', Content: '(empty)' },
      { Role: 'assistant', Content: '.' },
      { Role: 'user', Content: 'And now?' },
    ])
    const tool = {
      Type: 'function',
      Function: { Name: 'get_tide', Parameters: JSON.stringify(tideTool.schema), Description: 'Tide of a port' },
    }
    expect(body).toMatchObject({ Tools: [tool], ToolChoice: 'custom', CustomTool: tool })
  })

  it('contains images, and is refused for audio and for a prefilled answer', () => {
    const image: MediaPart = { kind: 'media', media: 'image', source: { kind: 'base64', mediaType: 'image/png', data: 'iVBO' } }
    const { body } = written(hunyuanChat, { turns: [{ role: 'user', parts: [{ kind: 'text', text: 'See' }, image] }] })
    expect(body.Messages).toMatchObject([
      {
        Contents: [
          { Type: 'text', Text: 'See' },
          { Type: 'image_url', ImageUrl: { Url: 'data:image/png;base64,iVBO' } },
        ],
      },
    ])
    expect(() => written(hunyuanChat, { turns: [{ role: 'user', parts: [{ ...image, media: 'audio' }] }] })).toThrow(
      'takes no audio',
    )
    expect(() => written(hunyuanChat, { turns: [userTurn('Hi'), assistantTurn('Well')] })).toThrow('from the user')
  })
})
