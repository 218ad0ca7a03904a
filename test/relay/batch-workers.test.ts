import { expect, it, onTestFinished } from 'vitest'
import { startServer } from '../helpers/app.ts'
import { freshDatabase } from '../helpers/databases.ts'
import { freePort } from '../helpers/free-port.ts'
import { startProcess } from '../helpers/process.ts'
import { requireBalancedBooks, setOptions } from '../helpers/seed.ts'
import { allServe } from '../helpers/workers.ts'
import { answered, bill, channelsOf, charges, order, prices, request, sdks, upload } from './batch-stage.ts'
import { batchVendor } from './batch-vendor.ts'
import { model } from './stage.ts'

/** Several processes on SQLite, of which one owns the ledger. Built files are needed: `npm run build`. */

it('batches that are ordered at several workers at once hold no more than there is, and are charged once', async () => {
  const database = await freshDatabase('sqlite')
  onTestFinished(() => database.drop())
  const vendor = await batchVendor()
  const workers = 3
  const server = await startProcess(database, { WORKERS: String(workers), PORT: String(await freePort()) })
  await setOptions(server, prices)
  for (const { url, type = 1, ...channel } of channelsOf(vendor.url))
    await server.call('POST /api/channel/', { name: 'vendor', type, base_url: url, ...channel })
  await allServe(server, workers)
  const tokenOf = async (more: object) => {
    const { key } = await server.call<{ key: string }>('POST /api/token/', { name: 'batches', ...more })
    return sdks(server, `sk-${key}`).openai
  }
  const create = async (openai: Awaited<ReturnType<typeof tokenOf>>) => {
    const input_file_id = await upload(openai, [request('a')])
    return openai.batches.create({ input_file_id, ...order })
  }
  const rich = await tokenOf({ unlimited_quota: true })
  const first = await create(rich)
  const beside = await database.open()
  const { held } = await beside.db.selectFrom('batches').select('held').executeTakeFirstOrThrow()
  await beside.close()

  const poor = await tokenOf({ unlimited_quota: false, remain_quota: held * 5 + 1 })
  const inputs = await Promise.all(Array.from({ length: 24 }, () => upload(poor, [request('a')])))
  const outcomes = await Promise.all(
    inputs.map((input_file_id) =>
      poor.batches.create({ input_file_id, ...order }).then(
        ({ id }) => id,
        (error: { code?: string }) => error.code ?? '',
      ),
    ),
  )
  const ordered = outcomes.filter((outcome) => outcome.startsWith('batch_') && outcome !== 'batch_unaffordable')
  expect(ordered).toHaveLength(5)
  expect(outcomes.filter((outcome) => outcome === 'batch_unaffordable')).toHaveLength(19)
  for (const batch of vendor.batches.values()) vendor.end(batch, { reply: answered })
  const polls = [...ordered, ...ordered].map((id) => poor.batches.retrieve(id))
  await Promise.all([...polls, rich.batches.retrieve(first.id)])
  for (const id of ordered) expect((await poor.batches.retrieve(id)).status).toBe('completed')
  await server.kill('SIGKILL')

  const last = await startServer('sqlite', { database })
  onTestFinished(() => last.stop())
  expect((await charges(last)).map(({ amount }) => amount)).toEqual(Array(6).fill(bill(model)))
  await requireBalancedBooks(last)
})
