import { describe, expect, it } from 'vitest'
import { itWrites, readerFaults, reading } from '../../../../../test/helpers/codecs.ts'
import { assistant, base64, image, media, text, tideTool, user } from '../../../../../test/helpers/dialogue.ts'
import { eventsIn } from '../../../base/lib/bytes/sse.ts'
import type { Codec } from '../codec.ts'
import { cozeChatFormat } from './format.ts'

const cozeChat: Codec = cozeChatFormat.codec

const event = (name: string, data: object | string) => `event:${name}\ndata:${JSON.stringify(data)}\n\n`
const delta = (content: string, more = {}) =>
  event('conversation.message.delta', { id: 'm1', role: 'assistant', type: 'answer', content, content_type: 'text', ...more })
const completed = (type: string, content: string, id = 'm1') =>
  event('conversation.message.completed', { id, role: 'assistant', type, content, content_type: 'text' })
const end =
  event('conversation.chat.completed', {
    id: 'c',
    status: 'completed',
    usage: { token_count: 30, output_count: 10, input_count: 20 },
  }) + event('done', '[DONE]')
const stream =
  event('conversation.chat.created', { id: 'c', status: 'created' }) +
  event('conversation.chat.in_progress', { id: 'c', status: 'in_progress' }) +
  delta('', { reasoning_content: 'Hm.' }) +
  delta('The harbor') +
  delta(' is calm.') +
  completed('answer', 'The harbor is calm.')
const { stream: read, whole } = reading(cozeChat)

describe('a reply of Coze', () => {
  it('contains its text once, after the reasoning', () => {
    expect(read(stream, end)).toMatchObject({
      blocks: [
        { block: 'reasoning', text: 'Hm.' },
        { block: 'text', text: 'The harbor is calm.' },
      ],
      usage: { input: 20, output: 10 },
      finish: 'stop',
      isComplete: true,
    })
  })

  it.each(['follow_up', 'verbose', 'function_call', 'tool_response'])(
    '[245] has no message of the type %s in its text',
    (type) => {
      const others = delta('no', { type, id: 'm2' }) + completed(type, '{"msg_type":"generate_answer_finish"}', 'm2')
      expect(read(stream, others, end).blocks.map(({ text }) => text)).toEqual(['Hm.', 'The harbor is calm.'])
    },
  )

  it('contains the completed message if no deltas arrived', () => {
    expect(read(completed('answer', 'At once.'), end).blocks).toEqual([{ block: 'text', text: 'At once.' }])
  })

  it.each([
    [4100, 401],
    [4013, 429],
    [4028, 402],
    [9999, 0],
  ])('is an error of its code %i under HTTP 200, with status %i', (code, status) => {
    expect(whole({ code, msg: 'no' }).error).toMatchObject({
      code: String(code),
      message: 'no',
      status,
    })
  })

  it('is an error when the chat failed, or requires a tool result', () => {
    const failed = event('conversation.chat.failed', { last_error: { code: 4028, msg: 'quota' } })
    expect(read(delta('x'), failed, end).error).toMatchObject({ message: 'quota', status: 402 })
    expect(read(event('conversation.chat.requires_action', { id: 'c' })).error).toBeDefined()
  })

  it('is not complete when its stream is cut off', () => {
    expect(read(stream).isComplete).toBe(false)
  })

  it('keeps the grammar of events for any input', () => {
    const failed = event('conversation.chat.failed', { last_error: { code: 5000, msg: 'm' } })
    expect(readerFaults(cozeChat, eventsIn(stream + end + failed))).toEqual([])
  })
})

describe('a request to Coze', () => {
  itWrites(cozeChat, {
    "has the model as the bot's id and is always streamed": {
      asks: { stream: false, sampling: { temperature: 1 } },
      model: '7342',
      body: {
        bot_id: '7342',
        user_id: 'api-user',
        stream: true,
        auto_save_history: false,
        additional_messages: [{ role: 'user', type: 'question', content: 'Hello', content_type: 'text' }],
      },
      lost: ['temperature'],
    },
    'has instructions as user text, and every turn': {
      asks: { system: [text('Be brief')], turns: [user('Hi'), assistant('Hello.'), user('Well?')], user: 'u-7' },
      has: {
        user_id: 'u-7',
        additional_messages: [
          { role: 'user', content: 'Be brief\nHi' },
          { role: 'assistant', type: 'answer', content: 'Hello.' },
          { role: 'user', content: 'Well?' },
        ],
      },
    },
    'contains images as objects with a URL': {
      asks: { turns: [user('See', image())] },
      has: {
        additional_messages: [
          {
            content_type: 'object_string',
            content: '[{"type":"text","text":"See"},{"type":"image","file_url":"https://a.example/b.png"}]',
          },
        ],
      },
    },
    'is refused for bytes, forced tools and prefilled answers, which a bot does not support': [
      { asks: { turns: [user(media('image', base64('image/png')))] }, refused: 'by their address' },
      { asks: { tools: [tideTool], toolChoice: { kind: 'required' } }, refused: 'no tools' },
      { asks: { turns: [user('Hi'), assistant('Well')], beginsAnswer: true }, refused: 'no beginning of its answer' },
    ],
  })
})
