import { expect, it, onTestFinished } from 'vitest'
import { startServer } from '../helpers/app.ts'
import { eachDatabase } from '../helpers/databases.ts'
import { type ServerProcess, startProcess } from '../helpers/process.ts'
import { requireBalancedBooks, setOptions } from '../helpers/seed.ts'
import { isTorture } from '../helpers/torture.ts'
import { answered, bill, channelsOf, charges, create, dueNow, follow, other, prices, request, sdks } from './batch-stage.ts'
import { batchVendor } from './batch-vendor.ts'
import { model } from './stage.ts'

/** Processes that are killed while they order and charge batches. Built files are needed: `npm run build`. */

const size = isTorture ? 2000 : 250
const rounds = isTorture ? 10 : 1

/** Requests of two models. */
const lines = (name: string) =>
  Array.from({ length: size }, (_, index) => request(`${name}-${index}`, index % 3 === 0 ? { model: other } : {}))

const whole = Array.from({ length: size }, (_, index) => bill(index % 3 === 0 ? other : model)).reduce((sum, each) => sum + each)

eachDatabase('a process that is killed', (fresh, kind) => {
  it('while it judges, orders or charges a batch loses and doubles nothing', async () => {
    const database = await fresh()
    onTestFinished(() => database.drop())
    const vendor = await batchVendor()
    let server = await startProcess(database)
    await setOptions(server, prices)
    for (const { url, type = 1, ...channel } of channelsOf(vendor.url))
      await server.call('POST /api/channel/', { name: 'vendor', type, base_url: url, ...channel })
    const token = await server.call<{ key: string }>('POST /api/token/', { name: 'batches', unlimited_quota: true })
    const key = `sk-${token.key}`
    let killing: Promise<unknown> | undefined
    /** Has the vendor kill the process once, when it comes to this point. */
    const killAt = (point: 'onHalf' | 'onOrder', running: ServerProcess) => {
      vendor.state[point] = () => {
        vendor.state[point] = () => {}
        killing = running.kill('SIGKILL')
      }
    }
    const killed = async (point: 'onHalf' | 'onOrder', act: (openai: ReturnType<typeof sdks>['openai']) => Promise<unknown>) => {
      killAt(point, server)
      await expect(act(sdks(server, key).openai)).rejects.toThrow()
      await killing
      server = await startProcess(database)
    }

    let ordered = 0
    for (let round = 0; round < rounds; round++) {
      await killed('onHalf', (openai) => create(openai, lines('judged')))
      expect(vendor.batches.size).toBe(ordered)
      await killed('onOrder', (openai) => create(openai, lines('ordered')))
      expect(vendor.batches.size).toBe(++ordered)
      const { id } = await create(sdks(server, key).openai, lines('charged'))
      vendor.end(vendor.only(), { reply: answered })
      ordered++
      await killed('onHalf', (openai) => openai.batches.retrieve(id))
    }
    await server.kill('SIGKILL')

    const last = await startServer(kind, { database })
    onTestFinished(() => last.stop())
    const { db, ledger } = last.app
    await db.updateTable('holds').set({ lease_until: 1 }).where('node', '<>', '').execute()
    await ledger.expire()
    for (const batch of vendor.batches.values()) if (batch.status === 'in_progress') vendor.end(batch, { reply: answered })
    for (let turn = 0; turn < 3; turn++) {
      await dueNow(last)
      await follow(last)
    }
    const states = await db.selectFrom('batches').select(['state', 'charged']).execute()
    expect(states).toEqual(Array(ordered).fill({ state: 'settled', charged: whole }))
    const charged = await charges(last)
    expect(charged).toHaveLength(2 * ordered)
    expect(charged.reduce((sum, { amount }) => sum + amount, 0)).toBe(ordered * whole)
    await requireBalancedBooks(last)
  })
})
