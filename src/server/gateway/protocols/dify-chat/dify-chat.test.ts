import { describe, expect, it } from 'vitest'
import { itWrites, reading } from '../../../../../test/helpers/codecs.ts'
import { assistant, image, text, tideTool, toolTurns, user } from '../../../../../test/helpers/dialogue.ts'
import type { Codec } from '../codec.ts'
import { difyChatFormat } from './format.ts'

const difyChat: Codec = difyChatFormat.codec

const event = (data: object) => `data: ${JSON.stringify(data)}\n\n`
const said = (answer: string) => event({ event: 'message', message_id: 'm', answer })
const usage = { prompt_tokens: 11, completion_tokens: 4, total_tokens: 15 }
const ended = event({ event: 'message_end', metadata: { usage } })
const finished = (outputs: object) => event({ event: 'workflow_finished', data: { status: 'succeeded', outputs } })
const { stream, whole } = reading(difyChat)

describe('a reply of Dify', () => {
  it('of a chatflow contains its text once, without the names of its nodes', () => {
    const node = event({ event: 'node_started', data: { title: 'LLM' } })
    const outputs = finished({ answer: 'The harbor is calm.' })
    expect(stream(node, said('The harbor'), 'event: ping\n\n', said(' is calm.'), outputs, ended)).toMatchObject({
      blocks: [{ block: 'text', text: 'The harbor is calm.' }],
      usage: { input: 11, output: 4 },
      finish: 'stop',
      isComplete: true,
    })
  })

  it('[244] reports an error event in the middle, and ignores pings', () => {
    const failed = event({ event: 'error', status: 429, code: 'rate_limit', message: 'too fast' })
    expect(stream('event: ping\n\n', said('The'), failed, said('more'))).toMatchObject({
      blocks: [{ block: 'text', text: 'The' }],
      error: { status: 429, code: 'rate_limit', message: 'too fast' },
    })
  })

  it('[244] ignores a replacement after text that was sent, and finishes with content-filter', () => {
    const replaced = event({ event: 'message_replace', answer: 'I cannot say that.' })
    expect(stream(said('Bad'), replaced, ended)).toMatchObject({ blocks: [{ text: 'Bad' }], finish: 'content-filter' })
    expect(stream(replaced, ended)).toMatchObject({ blocks: [{ text: 'I cannot say that.' }], finish: 'stop' })
  })

  it('of an agent leaves out its thoughts, which repeat the message', () => {
    const thought = event({ event: 'agent_thought', thought: 'Hm', tool: 'search', observation: '{}' })
    const agent = event({ event: 'agent_message', answer: 'Calm.' })
    expect(stream(thought, agent, ended).blocks).toEqual([{ block: 'text', text: 'Calm.' }])
  })

  it.each([
    [event({ event: 'text_chunk', data: { text: 'Streamed' } }) + finished({ text: 'Streamed' }), 'Streamed'],
    [finished({ text: 'Only' }), 'Only'],
    [finished({ a: 1, b: 'x' }), '{"a":1,"b":"x"}'],
  ])('of a workflow contains its text, or else its outputs', (events, words) => {
    expect(stream(events)).toMatchObject({ blocks: [{ text: words }], isComplete: true })
  })

  it('is read non-streamed, with input and output tokens', () => {
    expect(whole({ event: 'message', answer: 'Hi', metadata: { usage } })).toMatchObject({
      blocks: [{ text: 'Hi' }],
      usage: { input: 11, output: 4 },
    })
  })

  it.each([
    ['of a workflow that failed', { data: { status: 'failed', error: 'node 3 broke' } }, { message: 'node 3 broke' }],
    ['with a code', { code: 'invalid_param', message: 'no', status: 400 }, { code: 'invalid_param', status: 400 }],
  ])('%s is an error', (_, reply, error) => expect(whole(reply).error).toMatchObject(error))
})

describe('a request to Dify', () => {
  itWrites(difyChat, {
    'has the user text as its query when there is nothing else': {
      body: { inputs: {}, query: 'Hello', response_mode: 'blocking', user: 'api-user' },
    },
    'writes the whole conversation into the query, tool calls included': {
      asks: {
        system: [text('Be brief')],
        turns: [user('Tide?'), ...toolTurns(), assistant('High.'), user('Sure?')],
        user: 'u-7',
        stream: true,
      },
      has: {
        response_mode: 'streaming',
        user: 'u-7',
        query:
          'System: Be brief\n\nUser: Tide?\n\nAssistant: [Called the tool get_tide with {"port":"Rye"}]\n\n' +
          'User: [The tool get_tide answered] high\n\nAssistant: High.\n\nUser: Sure?',
      },
    },
    'has the query in inputs if the application has no query, and is always streamed for agents': [
      { model: 'workflow-1', has: { inputs: { query: 'Hello' } }, lacks: ['query'] },
      { model: 'agent-1', has: { response_mode: 'streaming' } },
    ],
    'contains files as URLs': {
      asks: { turns: [user(image())] },
      is: { files: [{ type: 'image', transfer_method: 'remote_url', url: 'https://a.example/b.png' }] },
    },
    'reports members that the application determines as lost, and is refused for a forced tool': [
      {
        asks: { sampling: { temperature: 1 }, tools: [tideTool], outputTokensMax: 5 },
        lost: ['max_tokens', 'temperature', 'tools'],
      },
      { asks: { tools: [tideTool], toolChoice: { kind: 'required' } }, refused: 'no tools' },
    ],
  })
})
