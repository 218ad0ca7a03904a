import { expect, it } from 'vitest'
import { BudgetExceeded, ByteBudget } from './byte-budget.ts'

const limits = { shareBytesMax: 60, totalBytesMax: 100, readingBytesMax: 30, waitMs: 60_000 }

/** Whether a promise has resolved by now. */
async function isDone(promise: Promise<unknown> | undefined): Promise<boolean> {
  let done = false
  void promise?.then(() => {
    done = true
  })
  await new Promise(setImmediate)
  return done
}

it('a share is refused at once beyond its own limit, and its release returns all its bytes', () => {
  const budget = new ByteBudget(limits)
  const share = budget.open()
  expect(share.take(60)).toBeUndefined()
  expect(() => share.take(1)).toThrow(BudgetExceeded)
  expect(budget.held).toBe(60)
  share.release()
  share.release()
  expect(budget.held).toBe(0)
  expect(() => share.take(1)).toThrow(BudgetExceeded)
})

it('the oldest reader continues while younger ones wait, and these continue when it has finished', async () => {
  const budget = new ByteBudget(limits)
  const [oldest, younger] = [budget.open(), budget.open()]
  expect(oldest.take(10)).toBeUndefined()
  expect(younger.take(20)).toBeUndefined()
  const wait = younger.take(10)
  expect(await isDone(wait)).toBe(false)
  expect(oldest.take(30)).toBeUndefined()
  oldest.settle()
  await wait
  expect([budget.held, younger.held, younger.hasWaited, oldest.hasWaited]).toEqual([70, 30, true, false])
})

it('all shares together never hold more than the total; waiters continue in order when bytes are released', async () => {
  const budget = new ByteBudget(limits)
  const first = budget.open()
  first.take(60)
  first.settle()
  const second = budget.open()
  expect(second.take(40)).toBeUndefined()
  const [more, third] = [second.take(10), budget.open().take(5)]
  expect([await isDone(more), await isDone(third)]).toEqual([false, false])
  first.release()
  await more
  expect(budget.held).toBe(50)
  second.settle()
  await third
  expect(budget.held).toBe(55)
})

it('a wait is refused when its time is over or its own share is released', async () => {
  const hurried = new ByteBudget({ ...limits, waitMs: 1 })
  const holder = hurried.open()
  holder.take(60)
  holder.settle()
  const late = hurried.open()
  late.take(30)
  await expect(late.take(11)).rejects.toMatchObject({ whose: 'all' })
  expect(hurried.held).toBe(90)

  const budget = new ByteBudget(limits)
  const other = budget.open()
  other.take(60)
  const left = budget.open()
  const wait = left.take(30)
  left.release()
  await expect(wait).rejects.toMatchObject({ whose: 'share' })
  expect(budget.held).toBe(60)
})
