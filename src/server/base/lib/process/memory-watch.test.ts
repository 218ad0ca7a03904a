import { expect, it } from 'vitest'
import { MemoryWatch } from './memory-watch.ts'

it('memory is short near the limit of the process or of its heap, and not once it is free again', () => {
  const [process, heap] = [
    { used: 80, most: 100 },
    { used: 80, most: 100 },
  ]
  const watch = new MemoryWatch(() => [process, heap])
  const look = () => {
    watch.look()
    return watch.isShort
  }
  expect(look()).toBe(false)
  process.used = 90
  expect(look()).toBe(true)
  process.used = 80
  heap.used = 90
  expect(look()).toBe(true)
  heap.used = 80
  expect(look()).toBe(false)
  watch.close()
})

it('[T138] when memory cannot be read for lack of file descriptors, the last reading is kept and the process continues', () => {
  let used = 90
  const watch = new MemoryWatch(() => {
    if (used === 0) throw Object.assign(new Error('EMFILE: too many open files'), { code: 'EMFILE' })
    return [{ used, most: 100 }]
  })
  for (const [now, isShort] of [
    [90, true],
    [0, true],
    [80, false],
    [0, false],
  ] as const) {
    used = now
    watch.look()
    expect(watch.isShort).toBe(isShort)
  }
  watch.close()
})

it('a process that has just started is not short of memory', () => {
  const watch = new MemoryWatch()
  watch.look()
  expect(watch.isShort).toBe(false)
  watch.close()
})
