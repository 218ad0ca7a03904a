import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { eachDatabase } from '../../../../../test/helpers/databases.ts'
import { aCharge, aHold, commitElsewhere, ledgerOf } from '../../../../../test/helpers/ledger.ts'
import { removeOldReplies, UndeliveredReplies } from './undelivered-replies.ts'

eachDatabase('undelivered replies', (fresh) => {
  async function staged() {
    const node = await ledgerOf(await fresh())
    const userId = await node.user(10_000)
    const channelId = await node.channel()
    const limits = { keptMs: 60_000, memoryBytes: 1000, diskBytes: 2000 }
    const replies = new UndeliveredReplies(node.core, node.ledger, limits)
    const keep = async (slot: string, bytes: number) => {
      const hold = aHold(userId, 0, 10)
      await node.ledger.hold(hold)
      const body = Buffer.alloc(bytes, slot)
      replies.keep({ slot, hold, charge: { ...aCharge(hold, 7), channelId }, content: { contentType: 'text/plain', body } })
      return { hold, body }
    }
    const folder = join(node.core.env.DATA_DIR, 'undelivered')
    const files = () =>
      existsSync(folder) ? readdirSync(join(folder, node.core.node)).map((name) => join(folder, node.core.node, name)) : []
    return { node, replies, keep, folder, files }
  }
  const charge = async (replies: UndeliveredReplies, slot: string) => {
    const entry = replies.take(slot)
    return entry && (await replies.charge(entry))
  }

  it('beyond the limit of memory are encrypted on disk, and restored unchanged', async () => {
    const { replies, keep, files } = await staged()
    await keep('a', 900)
    const { body } = await keep('b', 500)
    expect(await charge(replies, 'b')).toEqual({ contentType: 'text/plain', body })
    expect(replies.take('b')).toBeUndefined()
    await keep('c', 500)
    await expect.poll(() => files().length).toBe(1)
    await expect.poll(() => readFileSync(files()[0] ?? '', 'utf8')).toMatch(/^v1\./)
    expect(readFileSync(files()[0] ?? '', 'utf8')).not.toContain('c'.repeat(20))
    expect((await charge(replies, 'a'))?.body).toHaveLength(900)
    await keep('d', 900)
    expect((await charge(replies, 'c'))?.body).toHaveLength(500)
    await expect.poll(() => files().length).toBe(0)
  })

  it('are written off at once when there is no room for them', async () => {
    const { node, replies, keep } = await staged()
    await keep('a', 900)
    await keep('b', 1900)
    const { hold } = await keep('c', 200)
    expect(replies.take('c')).toBeUndefined()
    await replies.sweep()
    expect(await node.ledger.charged(hold.requestId)).toBe(0)
  })

  it('without their file are written off and not delivered', async () => {
    const { node, replies, keep, files } = await staged()
    await keep('a', 900)
    const { hold } = await keep('b', 500)
    await expect.poll(() => files().length).toBe(1)
    await expect.poll(() => readFileSync(files()[0] ?? '', 'utf8').length).toBeGreaterThan(500)
    for (const file of files()) rmSync(file)
    expect(await charge(replies, 'b')).toBeUndefined()
    await replies.sweep()
    expect(await node.ledger.charged(hold.requestId)).toBe(0)
  })

  it('are not delivered when another node has ended their request', async () => {
    const { node, replies, keep } = await staged()
    const { hold } = await keep('a', 10)
    await commitElsewhere(node, hold, aCharge(hold, 0))
    expect(await charge(replies, 'a')).toBeUndefined()
    expect(await node.ledger.charged(hold.requestId)).toBe(0)
  })

  it('of a process that died are deleted by the next start', async () => {
    const { node, keep, folder, files } = await staged()
    await keep('a', 900)
    await keep('b', 500)
    await expect.poll(() => files().length).toBe(1)
    await removeOldReplies({ ...node.core, node: 'next', database: { ...node.core.database, dialect: 'sqlite' } as never })
    expect(readdirSync(folder)).toEqual([])
  })
})
