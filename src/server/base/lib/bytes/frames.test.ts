import { readFileSync } from 'node:fs'
import { crc32 } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { awsEvent, awsException, awsMessage } from '../../../../../test/helpers/aws-event-stream.ts'
import { FrameError } from './aws-event-stream.ts'
import { type Framing, openFraming } from './frames.ts'
import { eventsIn } from './sse.ts'

/** The events of a reply in these chunks, and the reason of its failure. */
function read(framing: Framing, pieces: readonly Buffer[]) {
  const frames = openFraming(framing)
  let text = ''
  let failure = ''
  try {
    for (const piece of pieces) text += frames.push(piece)
    text += frames.flush()
  } catch (error) {
    failure = error instanceof Error ? error.name : 'unknown'
  }
  return { events: eventsIn(text).map(({ name, data }) => ({ name, data })), failure }
}

/** Ways to split the bytes: not at all, byte by byte, into sevens, once at every position, and into random pieces. */
function* cuttings(bytes: Buffer): Generator<Buffer[]> {
  for (const size of [bytes.length, 1, 7]) yield piecesOf(bytes, () => size)
  for (let cut = 0; cut <= bytes.length; cut++) yield [bytes.subarray(0, cut), bytes.subarray(cut)]
  let state = 1
  const next = () => {
    state = (state * 48_271) % 2_147_483_647
    return state
  }
  for (let round = 0; round < 200; round++) yield piecesOf(bytes, () => 1 + (next() % 90))
}

function piecesOf(bytes: Buffer, size: () => number): Buffer[] {
  const pieces: Buffer[] = []
  for (let at = 0; at < bytes.length; ) {
    const end = at + size()
    pieces.push(bytes.subarray(at, end))
    at = end
  }
  return pieces
}

function expectSame(framing: Framing, bytes: Buffer, expected: ReturnType<typeof read>): void {
  for (const pieces of cuttings(bytes)) expect(read(framing, pieces)).toEqual(expected)
}

const chunkOf = (event: object) => awsEvent('chunk', { bytes: Buffer.from(JSON.stringify(event)).toString('base64'), p: 'abcd' })
const fixture = (name: string) =>
  readFileSync(new URL(`../../../gateway/protocols/bedrock-converse/fixtures/${name}.bin`, import.meta.url))

describe('server-sent events', () => {
  it('stay unchanged, byte for byte', () => {
    const bytes = Buffer.from('data: {"a":"中🙂"}\n\n')
    expect(openFraming('sse').push(bytes)).toBe(bytes.toString('latin1'))
  })
})

describe('lines of JSON', () => {
  it('are one event each, wherever the bytes are split', () => {
    const bytes = Buffer.from('\ufeff{"a":"中🙂"}\n\n{"b":1}\r\n  \n{"done":true}\n')
    const events = ['{"a":"中🙂"}', '{"b":1}', '{"done":true}'].map((data) => ({ name: '', data }))
    expectSame('ndjson', bytes, { events, failure: '' })
  })

  it('yields an unfinished last line without a blank line after it', () => {
    const frames = openFraming('ndjson')
    expect(frames.push(Buffer.from('{"a":1}\n{"b"'))).toBe('data: {"a":1}\n\n')
    expect(frames.flush()).toBe('data: {"b"')
    expect(frames.flush()).toBe('')
  })

  it('[T101] are refused when one is longer than 13 MB', () => {
    const frames = openFraming('ndjson')
    const push = () => frames.push(Buffer.alloc(5 * 1024 * 1024, 'x'))
    for (let round = 0; round < 3; round++) expect(push()).toBe('')
    expect(push).toThrow(RangeError)
  })
})

describe('an AWS event stream', () => {
  it('[252] yields the same events wherever it is split', () => {
    expectSame('aws-event-stream', fixture('converse_text'), {
      events: [
        { name: 'messageStart', data: '{"role":"assistant","p":"abc"}' },
        { name: 'contentBlockDelta', data: '{"contentBlockIndex":0,"delta":{"text":"The harbor"},"p":"abcd"}' },
        { name: 'contentBlockDelta', data: '{"contentBlockIndex":0,"delta":{"text":" is calm. 🌊"}}' },
        { name: 'contentBlockStop', data: '{"contentBlockIndex":0}' },
        { name: 'messageStop', data: '{"stopReason":"end_turn"}' },
        {
          name: 'metadata',
          data: '{"usage":{"inputTokens":20,"outputTokens":9,"totalTokens":29},"metrics":{"latencyMs":300}}',
        },
      ],
      failure: '',
    })
  })

  it('[252] extracts the events of the model from the chunks of InvokeModel', () => {
    const { events } = read('aws-event-stream', [fixture('invoke_anthropic_text')])
    expect(events.map(({ name }) => name)).toEqual([
      'message_start',
      'content_block_start',
      'content_block_delta',
      'content_block_stop',
      'message_delta',
      'message_stop',
    ])
    expect(JSON.parse(events[2]?.data ?? '')).toEqual({
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'text_delta', text: 'The harbor is calm.' },
    })
    expectSame('aws-event-stream', fixture('invoke_anthropic_text'), { events, failure: '' })
  })

  it('gives events without a valid type no name', () => {
    const stream = [chunkOf({ generation: '中' }), chunkOf({ type: 'a\nb' })]
    expect(read('aws-event-stream', stream).events).toEqual([
      { name: '', data: '{"generation":"中"}' },
      { name: '', data: '{"type":"a\\nb"}' },
    ])
  })

  it.each([
    ['throttlingException', 429],
    ['modelStreamErrorException', 424],
    ['internalServerException', 500],
    ['validationException', 400],
    ['serviceUnavailableException', 503],
    ['ModelTimeoutException', 408],
    ['somethingNew', 0],
  ])('[251] turns a %s into an error with status %i, as the last event', (type, status) => {
    const bytes = Buffer.concat([awsException(type, { message: 'Too “many”' }), awsEvent('messageStop', {}), Buffer.from('rest')])
    const data = JSON.stringify({ type: 'error', error: { type, message: 'Too “many”', status } })
    expectSame('aws-event-stream', bytes, { events: [{ name: 'error', data }], failure: '' })
  })

  it('recognises an event and an exception by their names when a gateway omits the message type', () => {
    const event = awsMessage({ ':event-type': 'messageStop' }, '{"stopReason":"end_turn"}')
    const exception = awsMessage({ ':exception-type': 'throttlingException' }, '{"message":"Slow down"}')
    const { events } = read('aws-event-stream', [event, exception])
    expect(events.map(({ name }) => name)).toEqual(['messageStop', 'error'])
    expect(JSON.parse(events[1]?.data ?? '').error).toMatchObject({ message: 'Slow down', status: 429 })
  })

  it('turns an error of the service into an error event of its code', () => {
    const bytes = awsMessage({ ':message-type': 'error', ':error-code': 'InternalError', ':error-message': 'Broken' }, '')
    const data = '{"type":"error","error":{"type":"InternalError","message":"Broken","status":0}}'
    expect(read('aws-event-stream', [bytes])).toEqual({ events: [{ name: 'error', data }], failure: '' })
  })

  it('[251] stops at a wrong checksum, whichever byte is changed, and yields the frames before it', () => {
    const before = awsEvent('messageStart', { role: 'assistant' })
    const broken = awsEvent('contentBlockDelta', { contentBlockIndex: 0, delta: { text: 'x' } })
    for (let at = 0; at < broken.length; at++) {
      const changed = Buffer.from(broken)
      changed[at] = (changed[at] ?? 0) ^ 0x01
      const { events, failure } = read('aws-event-stream', [before, changed])
      expect(events).toEqual([{ name: 'messageStart', data: '{"role":"assistant"}' }])
      // A length that the change increased waits for bytes that never arrive, unless its own checksum is wrong.
      expect(['FrameError', 'RangeError']).toContain(failure)
    }
    const changed = Buffer.concat([before, broken.fill(0, broken.length - 1)])
    expectSame('aws-event-stream', changed, {
      events: [{ name: 'messageStart', data: '{"role":"assistant"}' }],
      failure: 'FrameError',
    })
  })

  it('is refused at once when it announces a message over the size limit', () => {
    expect(() => openFraming('aws-event-stream').push(Buffer.from('{"message":"no stream"}'))).toThrow(RangeError)
  })

  it('is refused when the lengths or headers of a frame contradict each other', () => {
    const frames = () => openFraming('aws-event-stream')
    const whole = awsMessage({}, '')
    whole.writeUInt32BE(100, 4)
    expect(() => frames().push(sealed(whole))).toThrow(FrameError)
    expect(() => frames().push(awsWithHeaders(Buffer.from([200, 1, 2])))).toThrow(FrameError)
    expect(() => frames().push(awsWithHeaders(Buffer.from([1, 65, 7, 0, 9, 65])))).toThrow(FrameError)
    expect(() => frames().push(awsWithHeaders(Buffer.from([1, 65, 33])))).toThrow(FrameError)
  })

  it('reports a chunk without content as an error', () => {
    const bytes = Buffer.concat([chunkOf({ type: 'ping' }), awsEvent('chunk', { p: '' }), chunkOf({ type: 'ping' })])
    const data = '{"type":"error","error":{"type":"","message":"A chunk of the stream holds no bytes","status":0}}'
    const events = [
      { name: 'ping', data: '{"type":"ping"}' },
      { name: 'error', data },
    ]
    expectSame('aws-event-stream', bytes, { events, failure: '' })
  })

  it('skips headers of every other type', () => {
    const others = [
      [0],
      [1],
      [2, 1],
      [3, 0, 1],
      [4, 0, 0, 0, 1],
      [5, ...Array(8).fill(1)],
      [6, 0, 2, 1, 1],
      [8, ...Array(8).fill(1)],
    ]
    const headers = [...others, [9, ...Array(16).fill(1)]].map((value) => Buffer.from([1, 65, ...value]))
    const named = Buffer.from('\x0d:message-type\x07\x00\x05event\x0b:event-type\x07\x00\x01x', 'latin1')
    const stream = awsWithHeaders(Buffer.concat([...headers, named]), '{}')
    expect(read('aws-event-stream', [stream]).events).toEqual([{ name: 'x', data: '{}' }])
  })

  it('yields nothing of a truncated message', () => {
    const bytes = Buffer.concat([awsEvent('messageStart', {}), awsEvent('messageStop', {}).subarray(0, 30)])
    expectSame('aws-event-stream', bytes, { events: [{ name: 'messageStart', data: '{}' }], failure: '' })
  })
})

/** A message with these header bytes. */
function awsWithHeaders(headers: Buffer, payload = ''): Buffer {
  const message = Buffer.concat([Buffer.alloc(12), headers, Buffer.from(payload), Buffer.alloc(4)])
  message.writeUInt32BE(message.length, 0)
  message.writeUInt32BE(headers.length, 4)
  return sealed(message)
}

/** The same message with correct checksums. */
function sealed(message: Buffer): Buffer {
  message.writeUInt32BE(crc32(message.subarray(0, 8)), 8)
  message.writeUInt32BE(crc32(message.subarray(0, message.length - 4)), message.length - 4)
  return message
}
