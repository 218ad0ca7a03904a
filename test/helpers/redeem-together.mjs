// A process of its own that redeems one code many times at once, on the built server. It says when it is ready, begins when it is told
// to, and prints how often each outcome occurred. Arguments: the code, how many attempts, then the ids of users who take turns.
import { once } from 'node:events'
import { writeSync } from 'node:fs'

const built = new URL('../../dist/server/', import.meta.url)
const load = (file) => import(new URL(file, built).href)
const { Bus } = await load('bus/bus.js')
const { openDatabase } = await load('db/open.js')
const { newLogger } = await load('lib/logger.js')
const { newMetrics } = await load('lib/metrics.js')
const { openLedger } = await load('wallet/open-ledger.js')
const { redeem } = await load('wallet/redeem.js')

const [key, attempts, ...users] = process.argv.slice(2)
const database = await openDatabase(process.env)
const logger = newLogger('error', { write: (line) => writeSync(2, line) })
const options = { current: { DisplayInCurrencyEnabled: true, QuotaPerUnit: 500_000 } }
const base = { now: Date.now, logger, metrics: newMetrics(), database, db: database.db, bus: new Bus(logger), options, node: key }
const core = { ...base, ledger: await openLedger(base) }

writeSync(1, 'ready\n')
await once(process.stdin, 'data')
const outcomes = await Promise.all(
  Array.from({ length: Number(attempts) }, async (_, index) => {
    const caller = { id: Number(users[index % users.length]), username: 'someone', role: 1, group: 'default', address: '' }
    return redeem(core, { key, caller }).then(
      () => 'ok',
      (error) => error.code ?? String(error),
    )
  }),
)
const counts = {}
for (const outcome of outcomes) counts[outcome] = (counts[outcome] ?? 0) + 1
writeSync(1, `${JSON.stringify(counts)}\n`)
await core.ledger.close()
await database.close()
process.exit(0)
