import { describe, expect, it } from 'vitest'
import { readContext, readerFaults, readSse, summary, written } from '../../../../../test/helpers/codecs.ts'
import { assistant, user } from '../../../../../test/helpers/dialogue.ts'
import { eventsIn } from '../../../base/lib/bytes/sse.ts'
import type { Codec } from '../codec.ts'
import { libraryAskFormat } from './format.ts'

const libraryAsk: Codec = libraryAskFormat.codec
const event = (data: object) => `data: ${JSON.stringify(data)}\n\n`
const documents = [{ title: 'Tides', url: 'https://a.example/tides' }]
const stream =
  event({ content: 'The harbor', finish: false, model: 'm', documents: [] }) +
  event({ content: ' is calm.', finish: true, model: 'm', documents })
const said = { blocks: [{ block: 'text', text: 'The harbor is calm.' }], finish: 'stop', isComplete: true }

describe('an answer of a knowledge base', () => {
  it('has its text, with its documents as citations, non-streamed and streamed', () => {
    const whole = libraryAsk.readReply({ success: true, answer: 'The harbor is calm.', documents }, readContext())
    for (const events of [whole, readSse(libraryAsk, stream)]) {
      expect(summary(events)).toMatchObject(said)
      expect(events).toContainEqual({
        type: 'cite',
        index: 0,
        citation: { url: 'https://a.example/tides', title: 'Tides', start: 0, end: 0 },
      })
    }
  })

  it('is an error when it reports one with a successful status, and incomplete when it is cut off', () => {
    const reply = { success: false, errCode: 4001, message: 'no such library' }
    expect(summary(libraryAsk.readReply(reply, readContext())).error).toMatchObject({ code: '4001', message: 'no such library' })
    expect(summary(readSse(libraryAsk, event(reply))).error).toMatchObject({ code: '4001' })
    expect(summary(readSse(libraryAsk, event({ content: 'The', finish: false }))).isComplete).toBe(false)
    expect(readerFaults(libraryAsk, eventsIn(stream))).toEqual([])
  })
})

it('a single question is sent unchanged, and a conversation with its roles', () => {
  expect(written(libraryAsk, {}, { model: 'm' }).body).toEqual({ model: 'm', query: 'Hello', stream: false })
  const turns = [user('Hi'), assistant('Hello.'), user('Tide?')]
  expect(written(libraryAsk, { turns }).body.query).toBe('User: Hi\n\nAssistant: Hello.\n\nUser: Tide?')
})
