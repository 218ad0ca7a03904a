import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { AppError } from '../failure.ts'
import { Link, type LinkHandler } from './link.ts'

/** Two ends of a link; the first calls the handlers of the second. */
async function linked(handlers: Record<string, LinkHandler>) {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const accepted = once(server, 'connection') as Promise<[Socket]>
  const near = connect((server.address() as AddressInfo).port, '127.0.0.1')
  const [far] = await accepted
  onTestFinished(() => {
    near.destroy()
    far.destroy()
    server.close()
  })
  return { link: new Link(near, new Map()), other: new Link(far, new Map(Object.entries(handlers))), far }
}

it('each call gets its own answer, immediate or delayed', async () => {
  const { link } = await linked({
    double: (value: number) => value * 2,
    later: async (value: string) => {
      await new Promise(setImmediate)
      return `${value}\n"é"`
    },
    nothing: () => undefined,
  })
  const answers = await Promise.all([
    link.call('double', 4),
    link.call('later', 'a'),
    link.call('double', 5),
    link.call('nothing', null),
  ])
  expect(answers).toEqual([8, 'a\n"é"', 10, null])
})

it('messages arrive in the order in which they were sent', async () => {
  const seen: number[] = []
  const { link } = await linked({ note: (value: number) => void seen.push(value), seen: () => seen })
  for (let value = 0; value < 2000; value++) link.notify('note', value)
  expect(await link.call('seen', null)).toEqual(Array.from({ length: 2000 }, (_, index) => index))
})

it('an expected failure arrives with its code and parameters, any other error with its message', async () => {
  const { link } = await linked({
    refuse: () => {
      throw new AppError('quota_insufficient', { need: 5, have: 3 })
    },
    refuseLater: async () => {
      throw new Error('the disk is full')
    },
  })
  await expect(link.call('refuse', null)).rejects.toMatchObject({ code: 'quota_insufficient', params: { need: 5, have: 3 } })
  await expect(link.call('refuseLater', null)).rejects.toThrow('the disk is full')
  await expect(link.call('unknown', null)).rejects.toThrow('Nothing answers unknown')
})

it('when a link closes, pending and later calls fail, and its listeners are called', async () => {
  const { link, far } = await linked({ never: () => new Promise(() => {}) })
  const closed = new Promise<void>((resolve) => link.onClose(resolve))
  const waiting = link.call('never', null)
  setImmediate(() => far.destroy())
  await expect(waiting).rejects.toMatchObject({ code: 'database_unavailable' })
  await closed
  expect(link.isClosed).toBe(true)
  await expect(link.call('never', null)).rejects.toMatchObject({ code: 'database_unavailable' })
  link.notify('never', null)
})
