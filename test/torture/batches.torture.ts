import { expect, it, onTestFinished } from 'vitest'
import { startServer } from '../helpers/app.ts'
import { eachDatabase } from '../helpers/databases.ts'
import { type ServerProcess, startProcess } from '../helpers/process.ts'
import { requireBalancedBooks, setOptions } from '../helpers/seed.ts'
import {
  answered,
  bill,
  channelsOf,
  charges,
  create,
  dueNow,
  follow,
  generated,
  google,
  mapped,
  message,
  other,
  prices,
  request,
  sdks,
} from '../relay/batch-stage.ts'
import { batchVendor, type VendorBatch } from '../relay/batch-vendor.ts'
import { claude, model } from '../relay/stage.ts'

/** Batches of three dialects on nodes that are killed at random. Built files are needed: `npm run build`. */

const kills = Number(process.env.KILLS ?? 200)
const size = Number(process.env.LINES ?? 1000)

const models = [model, other, mapped]
/** The models of the channels, by the names that their vendor gets. */
const named = (name: unknown) => (name === 'vendors-model' ? mapped : String(name))

const replyTo = ({ shape }: VendorBatch) => {
  if (shape === 'gemini') return generated
  return shape === 'anthropic' ? message : answered
}

/** What a batch costs, computed apart from the server: all of its requests have run. */
function wholeOf({ shape, requests }: VendorBatch): number {
  const modelOf = (body: Record<string, unknown>) => (shape === 'gemini' ? google : named(body.model))
  return requests.reduce((sum, { body }) => sum + bill(modelOf(body)), 0)
}

eachDatabase('nodes that are killed while they run batches', (fresh, kind) => {
  it(`lose and double nothing in ${kills} kills`, async () => {
    const database = await fresh()
    onTestFinished(() => database.drop())
    const vendor = await batchVendor()
    const count = kind === 'postgres' ? 3 : 1
    const first = await startProcess(database)
    await setOptions(first, prices)
    for (const { url, type = 1, ...channel } of channelsOf(vendor.url))
      await first.call('POST /api/channel/', { name: 'vendor', type, base_url: url, ...channel })
    const token = await first.call<{ key: string }>('POST /api/token/', { name: 'batches', unlimited_quota: true })
    const key = `sk-${token.key}`
    const nodes = [first, ...(await Promise.all(Array.from({ length: count - 1 }, () => startProcess(database))))]
    const any = (): ServerProcess => nodes[Math.floor(Math.random() * nodes.length)] ?? first
    const ids = new Set<string>()
    let isOver = false
    /** Calls that a kill cuts off are repeated by the next turn. */
    const loop = async (act: () => Promise<unknown>) => {
      while (!isOver) await act().catch(() => new Promise((resolve) => setTimeout(resolve, 100)))
    }
    const params = { model: claude, max_tokens: 50, messages: [{ role: 'user' as const, content: 'one' }] }
    const inline = { contents: [{ parts: [{ text: 'one' }] }], config: { maxOutputTokens: 50 } }
    let turn = 0
    const orders = [
      async () => {
        const lines = Array.from({ length: size }, (_, at) => request(`${at}`, { model: models[at % models.length] }))
        ids.add((await create(sdks(any(), key).openai, lines)).id)
      },
      async () => {
        // A vendor without marks is asked for a lost order by its number of requests.
        const requests = Array.from({ length: size + turn++ }, (_, at) => ({ custom_id: `${at}`, params }))
        ids.add((await sdks(any(), key).anthropic.messages.batches.create({ requests })).id)
      },
      async () => {
        const src = Array.from({ length: size }, () => inline)
        ids.add((await sdks(any(), key).gemini.batches.create({ model: google, src })).name ?? '')
      },
    ]
    const poll = async () => {
      const [id = ''] = [...ids].sort(() => Math.random() - 0.5)
      for (const batch of vendor.batches.values()) if (isRunning(batch)) vendor.end(batch, { reply: replyTo(batch) })
      const { openai, anthropic, gemini } = sdks(any(), key)
      if (id.startsWith('msgbatch')) await anthropic.messages.batches.retrieve(id)
      else if (id.startsWith('batch_')) await openai.batches.retrieve(id)
      else if (id !== '') await gemini.batches.get({ name: id })
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    const loops = [...orders, poll, poll].map(loop)
    for (let killed = 0; killed < kills; killed++) {
      const seen = vendor.batches.size
      await expect.poll(() => vendor.batches.size, { timeout: 120_000 }).toBeGreaterThan(seen)
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 300))
      const at = Math.floor(Math.random() * nodes.length)
      await nodes[at]?.kill('SIGKILL')
      nodes[at] = await startProcess(database)
    }
    isOver = true
    await Promise.all(loops)
    await Promise.all(nodes.map((node) => node.kill('SIGKILL')))

    const last = await startServer(kind, { database })
    onTestFinished(() => last.stop())
    const { db, ledger } = last.app
    await db.updateTable('holds').set({ lease_until: 1 }).where('node', '<>', '').execute()
    await ledger.expire()
    for (const batch of vendor.batches.values()) if (isRunning(batch)) vendor.end(batch, { reply: replyTo(batch) })
    for (let turn = 0; turn < 3; turn++) {
      await dueNow(last)
      await follow(last)
    }
    const wanted = [...vendor.batches.values()].reduce((sum, batch) => sum + wholeOf(batch), 0)
    const charged = (await charges(last)).reduce((sum, { amount }) => sum + amount, 0)
    const states = await db.selectFrom('batches').select('state').distinct().execute()
    console.log(`${kind}: ${vendor.batches.size} batches of ${size} or more requests after ${kills} kills, ${charged} units`)
    expect(states).toEqual([{ state: 'settled' }])
    expect(charged).toBe(wanted)
    await requireBalancedBooks(last)
  })
})

function isRunning({ status }: VendorBatch): boolean {
  return status === 'in_progress' || status === 'RUNNING'
}
