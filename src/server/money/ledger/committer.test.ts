import { expect, it, onTestFinished } from 'vitest'
import { testLogger } from '../../../../test/helpers/logger.ts'
import { Committer, type Writer } from './committer.ts'

interface Work {
  readonly name: string
  readonly owner: number
}

/** A committer that writes into a list, with faults on demand. */
function committerOf(fault: (batch: readonly Work[]) => 'refused' | 'away' | undefined = () => undefined) {
  const batches: string[][] = []
  const written: string[] = []
  const writer: Writer<Work> = {
    async write(batch) {
      batches.push(batch.map(({ name }) => name))
      await new Promise((resolve) => setImmediate(resolve))
      const kind = fault(batch)
      if (kind) throw new Error(kind)
      written.push(...batch.map(({ name }) => name))
    },
    refused: (error) => error instanceof Error && error.message === 'refused',
    owner: ({ owner }) => owner,
    lighten: () => false,
    describe: (work) => work,
  }
  const committer = new Committer<Work>(testLogger(), writer, 5000)
  onTestFinished(() => void committer.close(0))
  const write = (name: string, owner = 0) => committer.wait(committer.add({ name, owner }))
  return { committer, batches, written, write }
}

it('writes everything that queues during a write in one batch', async () => {
  const { batches, write } = committerOf()
  const first = write('a')
  await new Promise((resolve) => setImmediate(resolve))
  await Promise.all([first, write('b'), write('c'), write('d')])
  expect(batches).toEqual([['a'], ['b', 'c', 'd']])
})

it('keeps the order of work that has to be tried again', async () => {
  let failures = 2
  const { written, write } = committerOf(() => (failures-- > 0 ? 'away' : undefined))
  await Promise.all(['a', 'b', 'c'].map((name) => write(name)))
  expect(written).toEqual(['a', 'b', 'c'])
})

it('writes the rest of a batch when one piece is refused, and that piece once it is accepted', async () => {
  let refusals = 0
  const { batches, written, write } = committerOf((batch) =>
    batch.some(({ name }) => name === 'bad') && refusals++ < 2 ? 'refused' : undefined,
  )
  const bad = write('bad', 1)
  await Promise.all([write('a', 2), write('b', 2)])
  expect(written).toEqual(['a', 'b'])
  expect(batches).toEqual([['bad', 'a', 'b'], ['bad'], ['a'], ['b']])
  await bad
  expect(written).toEqual(['a', 'b', 'bad'])
})

it('defers further work of an owner whose entry was refused', async () => {
  let refusals = 0
  const { batches, write } = committerOf((batch) =>
    batch.some(({ owner }) => owner === 1) && refusals++ < 2 ? 'refused' : undefined,
  )
  const all = ['x', 'y', 'z'].map((name) => write(name, 1))
  await write('a', 2)
  expect(batches).toEqual([['x', 'y', 'z', 'a'], ['x'], ['a']])
  await Promise.all(all)
})

it('reports that writes fail after a few failures, and recovers', async () => {
  let isAway = true
  const { committer, write } = committerOf(() => (isAway ? 'away' : undefined))
  const waiting = write('a')
  while (!committer.failing) await new Promise((resolve) => setTimeout(resolve, 5))
  expect(committer.size).toBe(1)
  isAway = false
  await waiting
  expect(committer.failing).toBe(false)
  expect(committer.size).toBe(0)
})

it('returns unwritten work when it closes, and rejects its waiters', async () => {
  const { committer, write } = committerOf((batch) => (batch.some(({ name }) => name === 'bad') ? 'refused' : undefined))
  const bad = expect(write('bad', 1)).rejects.toMatchObject({ code: 'database_unavailable' })
  await write('good', 2)
  expect(await committer.close(5000)).toEqual([{ name: 'bad', owner: 1 }])
  await bad
  expect(() => committer.add({ name: 'late', owner: 1 })).toThrow(expect.objectContaining({ code: 'server_stopping' }))
})

it('finishes the queue before it closes', async () => {
  const { committer, written, write } = committerOf()
  const all = ['a', 'b', 'c'].map((name) => write(name))
  expect(await committer.close(1000)).toEqual([])
  await Promise.all(all)
  expect(written).toEqual(['a', 'b', 'c'])
})
