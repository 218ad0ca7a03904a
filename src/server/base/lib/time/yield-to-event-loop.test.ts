import { expect, it } from 'vitest'
import { isHeavy, yieldToEventLoop, yieldWithPriority } from './yield-to-event-loop.ts'

/** Blocks the event loop for at least a millisecond, so that a timer is due. */
function work() {
  const until = performance.now() + 3
  while (performance.now() < until);
}

/** Records that the event loop has run its timers, once between two steps, until it is stopped. */
function noteTimers(seen: string[]): () => void {
  let timer = setTimeout(function note() {
    if (seen.at(-1) !== 'timers') seen.push('timers')
    timer = setTimeout(note, 1)
  }, 1)
  return () => clearTimeout(timer)
}

it('the event loop runs its timers between two heavy steps of any callers', async () => {
  const seen: string[] = []
  const stop = noteTimers(seen)
  const steps = async (name: string) => {
    for (const number of [1, 2]) {
      await yieldToEventLoop()
      seen.push(`${name}${number}`)
      work()
    }
  }
  await Promise.all([steps('a'), steps('b'), steps('c')])
  stop()
  const first = seen.findIndex((what) => what !== 'timers')
  const order = ['a1', 'b1', 'c1', 'a2', 'b2', 'c2'].flatMap((step) => [step, 'timers']).slice(0, -1)
  expect(seen.slice(first, first + order.length)).toEqual(order)
})

it('further steps of started work run before work that has not started', async () => {
  const seen: string[] = []
  const take = async (name: string) => {
    await yieldToEventLoop()
    seen.push(`${name}1`)
    for (const number of [2, 3]) {
      await yieldWithPriority()
      seen.push(`${name}${number}`)
    }
  }
  await Promise.all([take('a'), take('b')])
  expect(seen).toEqual(['a1', 'a2', 'a3', 'b1', 'b2', 'b3'])
})

it('a step that throws does not block the next one', async () => {
  const failing = yieldToEventLoop().then(() => {
    throw new Error('a bad body')
  })
  const next = yieldToEventLoop()
  await expect(failing).rejects.toThrow('a bad body')
  await next
  await yieldToEventLoop()
})

it('work on less than half a megabyte does not yield', () => {
  expect([0, 1024, 512 * 1024, 512 * 1024 + 1, 20_000_000].map(isHeavy)).toEqual([false, false, false, true, true])
})
