import { expect, it } from 'vitest'
import { ByteCollector } from './byte-collector.ts'

const all = Buffer.from(Array.from({ length: 1000 }, (_, at) => at % 256))

it('pieces of any size come out as they came in, whatever length was announced', () => {
  for (const announced of [0, 10, 999, 1000, 5000]) {
    for (const size of [1, 3, 250, 999, 1000]) {
      const collector = new ByteCollector(announced)
      for (let at = 0; at < all.length; at += size) collector.push(all.subarray(at, at + size))
      expect([announced, size, collector.size, collector.bytes().equals(all)]).toEqual([announced, size, 1000, true])
    }
  }
  expect(new ByteCollector(7).bytes().length).toBe(0)
})

it('an announced body of many pieces is held once, and an announcement alone takes no room', () => {
  const collector = new ByteCollector(1000)
  collector.push(all.subarray(0, 10))
  expect(collector.bytes().buffer.byteLength).toBeLessThan(1000)
  for (let at = 10; at < 1000; at += 10) collector.push(all.subarray(at, at + 10))
  expect(collector.bytes().buffer.byteLength).toBe(1000)
})
