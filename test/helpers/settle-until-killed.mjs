// A process that charges one user as fast as it can and prints each request id whose charge was acknowledged, until it is killed.
// It runs the built server. Arguments: user id, token id, a name that makes its request ids unique.
import { writeSync } from 'node:fs'

const built = new URL('../../dist/server/', import.meta.url)
const load = (file) => import(new URL(file, built).href)
const { Bus } = await load('base/bus/bus.js')
const { openDatabase } = await load('base/db/open.js')
const { newLogger } = await load('base/lib/log/logger.js')
const { newMetrics } = await load('base/lib/process/metrics.js')
const { openLedger } = await load('money/ledger/open-ledger.js')

const [userId, tokenId] = process.argv.slice(2, 4).map(Number)
const name = process.argv[4]
const database = await openDatabase(process.env)
const logger = newLogger('error', { write: (line) => writeSync(2, line) })
const core = { now: Date.now, logger, metrics: newMetrics(), database, db: database.db, bus: new Bus(logger), node: name }
const ledger = await openLedger(core)

const at = 1_760_000_000
let requests = 0

/** Written synchronously, before anything else happens; if the reader is slow and the pipe full, the rest follows once there is room. */
function print(line) {
  let rest = Buffer.from(line)
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(1, rest))
    } catch (error) {
      if (error.code !== 'EAGAIN') throw error
    }
  }
}

async function settleForEver() {
  for (;;) {
    requests++
    const requestId = `${name}-${requests}`
    const hold = { requestId, userId, tokenId, amount: 10 }
    const log = { user_id: userId, token_id: tokenId, created_at: at, type: 2, quota: 7, request_id: requestId }
    const rollup = { username: '', model: 'm', group: 'default', tokens: 1 }
    const siteCost = requests % 3 === 0 ? { amount: 2, reason: 'undelivered' } : undefined
    const charge = { amount: 7, at, channelId: 0, log, rollup, siteCost }
    await ledger.hold(hold)
    if (requests % 5 === 0) ledger.checkpoint(hold, charge)
    await ledger.settle(hold, charge)
    print(`${requestId}\n`)
  }
}
await Promise.all(Array.from({ length: 24 }, settleForEver))
