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
import type { Codec } from '../codec.ts'
import type { MediaPart } from '../dialogue.ts'
import { difyChatFormat } from './format.ts'

const difyChat: Codec = difyChatFormat.codec
const event = (data: object) => `data: ${JSON.stringify(data)}\n\n`
const said = (answer: string) => event({ event: 'message', message_id: 'm', answer })
const usage = { prompt_tokens: 11, completion_tokens: 4, total_tokens: 15 }
const ended = event({ event: 'message_end', metadata: { usage } })
const chatflow =
  event({ event: 'workflow_started', data: {} }) +
  event({ event: 'node_started', data: { title: 'LLM' } }) +
  said('The harbor') +
  'event: ping\n\n' +
  said(' is calm.') +
  event({ event: 'workflow_finished', data: { status: 'succeeded', outputs: { answer: 'The harbor is calm.' } } }) +
  ended

describe('a reply of Dify', () => {
  it('of a chatflow contains its text once, without the names of its nodes', () => {
    expect(summary(readSse(difyChat, chatflow))).toMatchObject({
      blocks: [{ block: 'text', text: 'The harbor is calm.' }],
      usage: { input: 11, output: 4 },
      finish: 'stop',
      isComplete: true,
    })
  })

  it('[244] reports an error event in the middle, and ignores pings', () => {
    const failed = event({ event: 'error', status: 429, code: 'rate_limit', message: 'too fast' })
    const events = readSse(difyChat, `event: ping\n\n${said('The')}${failed}${said('more')}`)
    expect(events.at(-1)).toMatchObject({ type: 'error', error: { status: 429, code: 'rate_limit', message: 'too fast' } })
    expect(summary(events).blocks).toEqual([{ block: 'text', text: 'The' }])
  })

  it('[244] ignores a replacement after text that was sent, and finishes with content-filter', () => {
    const replaced = event({ event: 'message_replace', answer: 'I cannot say that.' })
    expect(summary(readSse(difyChat, said('Bad') + replaced + ended))).toMatchObject({
      blocks: [{ text: 'Bad' }],
      finish: 'content-filter',
    })
    expect(summary(readSse(difyChat, replaced + ended))).toMatchObject({
      blocks: [{ text: 'I cannot say that.' }],
      finish: 'stop',
    })
  })

  it('of an agent leaves out its thoughts, which repeat the message', () => {
    const agent =
      event({ event: 'agent_thought', thought: 'Hm', tool: 'search', observation: '{}' }) +
      event({ event: 'agent_message', answer: 'Calm.' }) +
      ended
    expect(summary(readSse(difyChat, agent)).blocks).toEqual([{ block: 'text', text: 'Calm.' }])
  })

  it('of a workflow contains its text, or else its outputs', () => {
    const finished = (outputs: object) => event({ event: 'workflow_finished', data: { status: 'succeeded', outputs } })
    const chunk = event({ event: 'text_chunk', data: { text: 'Streamed' } })
    expect(summary(readSse(difyChat, chunk + finished({ text: 'Streamed' })))).toMatchObject({
      blocks: [{ text: 'Streamed' }],
      isComplete: true,
    })
    expect(summary(readSse(difyChat, finished({ text: 'Only' }))).blocks).toMatchObject([{ text: 'Only' }])
    expect(summary(readSse(difyChat, finished({ a: 1, b: 'x' }))).blocks).toMatchObject([{ text: '{"a":1,"b":"x"}' }])
  })

  it('of a workflow that failed is an error', () => {
    const failed = { data: { status: 'failed', error: 'node 3 broke' } }
    expect(summary(difyChat.readReply(failed, readContext())).error).toMatchObject({ message: 'node 3 broke' })
  })

  it('is read non-streamed, with input and output tokens', () => {
    const reply = { event: 'message', answer: 'Hi', metadata: { usage } }
    expect(summary(difyChat.readReply(reply, readContext()))).toMatchObject({
      blocks: [{ text: 'Hi' }],
      usage: { input: 11, output: 4 },
    })
    expect(summary(difyChat.readReply({ code: 'invalid_param', message: 'no', status: 400 }, readContext())).error).toMatchObject(
      {
        code: 'invalid_param',
        status: 400,
      },
    )
  })
})

describe('a request to Dify', () => {
  it('has the user text as its query when there is nothing else', () => {
    expect(written(difyChat, {}).body).toEqual({ inputs: {}, query: 'Hello', response_mode: 'blocking', user: 'api-user' })
  })

  it('writes the whole conversation into the query, tool calls included', () => {
    const { body } = written(difyChat, {
      system: [{ kind: 'text', text: 'Be brief' }],
      turns: [userTurn('Tide?'), ...toolTurns(), assistantTurn('High.'), userTurn('Sure?')],
      user: 'u-7',
      stream: true,
    })
    expect(body).toMatchObject({ response_mode: 'streaming', user: 'u-7' })
    expect(body.query).toBe(
      'System: Be brief\n\nUser: Tide?\n\nAssistant: [Called the tool get_tide with {"port":"Rye"}]\n\n' +
        'User: [The tool get_tide answered] high\n\nAssistant: High.\n\nUser: Sure?',
    )
  })

  it('has the query in inputs if the application has no query, and is always streamed for agents', () => {
    expect(written(difyChat, {}, { model: 'workflow-1' }).body).toMatchObject({ inputs: { query: 'Hello' } })
    expect(written(difyChat, {}, { model: 'workflow-1' }).body).not.toHaveProperty('query')
    expect(written(difyChat, {}, { model: 'agent-1' }).body.response_mode).toBe('streaming')
  })

  it('contains files as URLs, and is refused for bytes', () => {
    const image: MediaPart = { kind: 'media', media: 'image', source: { kind: 'url', url: 'https://a.example/b.png' } }
    expect(written(difyChat, { turns: [{ role: 'user', parts: [image] }] }).body.files).toEqual([
      { type: 'image', transfer_method: 'remote_url', url: 'https://a.example/b.png' },
    ])
    const bytes: MediaPart = { ...image, source: { kind: 'base64', mediaType: 'image/png', data: 'iVBO' } }
    expect(() => written(difyChat, { turns: [{ role: 'user', parts: [bytes] }] })).toThrow('by their address')
  })

  it('reports members that the application determines as lost, and is refused for a forced tool', () => {
    expect(written(difyChat, { sampling: { temperature: 1 }, tools: [tideTool], outputTokensMax: 5 }).lost).toEqual([
      'max_tokens',
      'temperature',
      'tools',
    ])
    expect(() => written(difyChat, { tools: [tideTool], toolChoice: { kind: 'required' } })).toThrow('no tools')
  })
})
