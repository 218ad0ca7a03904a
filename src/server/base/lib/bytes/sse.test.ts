import { describe, expect, it } from 'vitest'
import { EventBlocks, eventsIn } from './sse.ts'

const stream = '\ufeff: hello\n\ndata: {"a":"é中"}\n\nevent: x\r\ndata:1\r\ndata: 2\r\nid: 7\r\n\r\n\n\ndata: [DONE]\n\n'
const byteText = (bytes: Buffer) => bytes.toString('latin1')
const readAll = (pieces: Buffer[]) => {
  const blocks = new EventBlocks(1000)
  let out = ''
  const events: { name: string; data: string }[] = []
  for (const piece of pieces) {
    const block = blocks.push(byteText(piece))
    out += block
    events.push(...eventsIn(block).map(({ name, data }) => ({ name, data })))
  }
  const rest = blocks.flush()
  return { bytes: Buffer.from(out + rest, 'latin1').toString(), events, rest }
}

describe('cutting a byte stream into events', () => {
  const bytes = Buffer.from(stream)
  const expected = [
    { name: '', data: '{"a":"é中"}' },
    { name: 'x', data: '1\n2' },
    { name: '', data: '[DONE]' },
  ]

  it('yields the same bytes and events for every piece size and every position of the cuts', () => {
    for (let size = 1; size <= bytes.length; size++) {
      const pieces: Buffer[] = []
      for (let at = 0; at < bytes.length; at += size) pieces.push(bytes.subarray(at, at + size))
      const read = readAll(pieces)
      expect(read.bytes).toBe(stream)
      expect(read.events).toEqual(expected)
      expect(read.rest).toBe('')
    }
    for (let cut = 0; cut <= bytes.length; cut++)
      expect(readAll([bytes.subarray(0, cut), bytes.subarray(cut)]).events).toEqual(expected)
  })

  it('[2] reads lines that end only in CR, and mixes of all ends, for every piece size and position of the cuts', () => {
    const mixed = 'data: 1\r\rdata: 2\r\n\r\ndata: 3\n\r\nevent: x\rdata: 4\r\n\rdata: 5\r\r'
    const plain = 'data: 1\n\ndata: 2\r\n\r\ndata: 3\n\r\nevent: x\ndata: 4\r\n\ndata: 5\n\n'
    for (let size = 1; size <= mixed.length; size++) {
      const pieces = Array.from({ length: Math.ceil(mixed.length / size) }, (_, at) =>
        Buffer.from(mixed.slice(at * size, (at + 1) * size)),
      )
      const { bytes, events, rest } = readAll(pieces)
      expect([bytes, [...events, ...eventsIn(rest)].map(({ data }) => data)]).toEqual([plain, ['1', '2', '3', '4', '5']])
    }
  })

  it('holds back an unfinished event and yields it at the end', () => {
    expect(readAll([Buffer.from('data: 1\n\ndata: 2')])).toEqual({
      bytes: 'data: 1\n\ndata: 2',
      events: [{ name: '', data: '1' }],
      rest: 'data: 2',
    })
  })

  it.each([
    ['error: {"message":"busy é"}', { error: { message: 'busy é' } }],
    ['error:{"error":{"code":7}}', { error: { code: 7 } }],
    ['error: too many calls', { error: { message: 'too many calls' } }],
    ['error: "too many calls"', { error: { message: 'too many calls' } }],
  ])('reads the field %s as an event, complete or not', (line, data) => {
    for (const end of ['\n\n', '\r\n\r\n', '']) {
      const bytes = Buffer.from(`data: {"text":"error: none"}\n\n${line}${end}`)
      const { events, rest } = readAll([bytes])
      const [first, last] = [...events, ...eventsIn(rest)]
      expect(first).toEqual({ name: '', data: '{"text":"error: none"}' })
      expect([last?.name, JSON.parse(last?.data ?? '')]).toEqual(['error', data])
    }
  })

  it('refuses an event over the size limit', () => {
    const blocks = new EventBlocks(10)
    expect(() => blocks.push('data: 12345678')).toThrow(RangeError)
    expect(() => new EventBlocks(10).push('data: 12345678\n\n')).toThrow(RangeError)
    expect(new EventBlocks(10).push('data: 1\n\ndata: 2\r\n\r\n')).toBe('data: 1\n\ndata: 2\r\n\r\n')
  })

  it('reports the position of each event', () => {
    const block = 'data: 1\n\nevent: b\ndata: 2\n\n'
    expect(eventsIn(block).map(({ start, end }) => block.slice(start, end))).toEqual(['data: 1\n\n', 'event: b\ndata: 2\n\n'])
  })
})
