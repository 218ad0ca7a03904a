// A separate process that moves money on the built server: many times concurrently, or once and killed between two steps.
// Arguments: a JSON of { move, attempts, users, kill }, where `move` names one of the operations below, with its parameters. It
// reports when it is ready, begins on command, and prints how often each outcome occurred.
import { once } from 'node:events'
import { writeSync } from 'node:fs'

const built = new URL('../../dist/server/', import.meta.url)
const load = (file) => import(new URL(file, built).href)
const { Bus } = await load('base/bus/bus.js')
const { openDatabase } = await load('base/db/open.js')
const { openSecrets } = await load('base/db/key-ring.js')
const { newLogger } = await load('base/lib/log/logger.js')
const { newMetrics } = await load('base/lib/process/metrics.js')
const { credit } = await load('money/ledger/credit.js')
const { openLedger } = await load('money/ledger/open-ledger.js')
const { withdrawTopUp } = await load('money/payments/manage-top-ups.js')
const { redeem } = await load('money/payments/redeem.js')
const { handleReport } = await load('money/payments/top-ups.js')
const { handleStripeEvent } = await load('money/payments/handle-stripe-event.js')
const { transferEarned } = await load('money/payments/transfer.js')

const { move, attempts, users, kill, options: values } = JSON.parse(process.argv[2])
const database = await openDatabase(process.env)
const logger = newLogger('error', { write: (line) => writeSync(2, line) })
const options = { current: { DisplayInCurrencyEnabled: true, QuotaPerUnit: 500_000, ...values } }
const secrets = await openSecrets(database, Buffer.alloc(32, 7), Date.now())
const node = `worker-${process.pid}`
const base = {
  now: Date.now,
  logger,
  metrics: newMetrics(),
  database,
  db: database.db,
  bus: new Bus(logger),
  options,
  secrets,
  node,
}
// One process has the ledger of a SQLite file; the others only add credits, as worker processes do.
const ledger = database.dialect === 'sqlite' ? { credit, refresh() {}, async close() {} } : await openLedger(base)

const die = (step) => {
  if (step === kill) process.kill(process.pid, 'SIGKILL')
}
/** The same parts, except that the process ends at a step of the transaction, as in a power failure. */
const core = {
  ...base,
  db: dyingAtCommit(base.db),
  ledger: {
    ...ledger,
    async credit(within, credit) {
      die('before credit')
      await ledger.credit(within, credit)
      die('after credit')
    },
    refresh(account) {
      die('after commit')
      ledger.refresh(account)
    },
  },
}

function dyingAtCommit(db) {
  return new Proxy(db, {
    get(target, name) {
      if (name !== 'transaction') return Reflect.get(target, name).bind?.(target) ?? Reflect.get(target, name)
      return () => ({
        execute: (work) =>
          target.transaction().execute(async (within) => {
            die('at begin')
            const result = await work(within)
            die('before commit')
            return result
          }),
      })
    },
  })
}

const caller = (index) => ({
  id: Number(users[index % users.length]),
  username: 'someone',
  role: 1,
  group: 'default',
  address: '',
})
const moves = {
  redeem: (index) => redeem(core, { key: move.key, caller: caller(index) }),
  epay: () => handleReport(core, move.report),
  stripe: () => handleStripeEvent(core, { body: move.body, signature: move.signature }),
  // The withdrawal of quota by an admin after a refund.
  withdraw: () => withdrawTopUp(core, { ...move.refund, caller: caller(0) }).then(() => 'ok'),
  transfer: (index) => transferEarned(core, { amount: move.amount, caller: caller(index) }),
}

/** Retries when no connection is available, as gateways and users do. */
async function attempt(index) {
  for (;;) {
    try {
      return String((await moves[move.name](index)) ?? 'ok')
    } catch (error) {
      if (!/timeout exceeded when trying to connect|too many clients/.test(String(error))) return error.code ?? String(error)
    }
  }
}

writeSync(1, 'ready\n')
await once(process.stdin, 'data')
const outcomes = await Promise.all(Array.from({ length: attempts }, (_, index) => attempt(index)))
const counts = {}
for (const outcome of outcomes) counts[outcome] = (counts[outcome] ?? 0) + 1
writeSync(1, `${JSON.stringify(counts)}\n`)
await ledger.close()
await database.close()
process.exit(0)
