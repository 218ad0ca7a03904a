import { expect, it } from 'vitest'
import { ByteCollector } from './byte-collector.ts'

const all = Buffer.from(Array.from({ length: 1000 }, (_, at) => at % 256))

it('pieces of any size come out unchanged, for any announced length', () => {
  for (const announced of [0, 10, 999, 1000, 5000]) {
    for (const size of [1, 3, 250, 999, 1000]) {
      const collector = new ByteCollector(announced)
      for (let at = 0; at < all.length; at += size) collector.push(all.subarray(at, at + size))
      expect([announced, size, collector.size, collector.bytes().equals(all)]).toEqual([announced, size, 1000, true])
    }
  }
  expect(new ByteCollector(7).bytes().length).toBe(0)
})

it('a body of announced length is held once, and the announcement alone allocates no memory', () => {
  const collector = new ByteCollector(1000)
  collector.push(all.subarray(0, 10))
  expect(collector.bytes().buffer.byteLength).toBeLessThan(1000)
  for (let at = 10; at < 1000; at += 10) collector.push(all.subarray(at, at + 10))
  expect(collector.bytes().buffer.byteLength).toBe(1000)
})

it('a body of unannounced length takes little more memory than its bytes, until it is joined', () => {
  const piece = Buffer.alloc(64 * 1024, 1)
  const before = process.memoryUsage().arrayBuffers
  const collector = new ByteCollector()
  for (let at = 0; at < 320; at++) collector.push(piece)
  const taken = process.memoryUsage().arrayBuffers - before
  expect(taken).toBeLessThan(23 * 1024 * 1024)
  expect(collector.bytes().length).toBe(20 * 1024 * 1024)
})

it('bodies that were joined keep their bytes while later ones use the same blocks', () => {
  const megabytes = (value: number) => Buffer.alloc(1024 * 1024, value)
  const bodies = [1, 2, 3].map((value) => {
    const collector = new ByteCollector()
    for (let at = 0; at < 5; at++) collector.push(megabytes(value))
    return collector.bytes()
  })
  for (const [at, body] of bodies.entries()) expect(body.equals(Buffer.alloc(5 * 1024 * 1024, at + 1))).toBe(true)
})

it('discarded bodies free their memory for the next ones; bytes that were read from them stay unchanged', () => {
  const piece = Buffer.alloc(64 * 1024, 1)
  const fill = () => {
    const collector = new ByteCollector()
    for (let at = 0; at < 320; at++) collector.push(piece)
    return collector
  }
  const read = fill()
  const bytes = read.bytes()
  read.discard()
  fill().discard()
  const before = process.memoryUsage().arrayBuffers
  for (let body = 0; body < 20; body++) fill().discard()
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(60 * 1024 * 1024)
  expect(bytes.equals(Buffer.alloc(20 * 1024 * 1024, 1))).toBe(true)
})
