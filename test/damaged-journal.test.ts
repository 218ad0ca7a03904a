import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { expect, it } from 'vitest'
import { databaseFile } from '../src/server/base/db/open.ts'
import { openLedger } from '../src/server/money/ledger/open-ledger.ts'
import { reconcile } from '../src/server/money/ledger/reconcile.ts'
import { scanRecords } from '../src/server/money/ledger/sqlite/journal-record.ts'
import { doctorCommand } from '../src/server/run/commands/doctor.ts'
import { verifyCommand } from '../src/server/run/commands/verify.ts'
import { reconcileLedger } from '../src/server/watch/jobs/reconcile-ledger.ts'
import { serverOfTest } from './helpers/app.ts'
import { testCore, testMasterKey } from './helpers/core.ts'
import { freshDatabase, type TestDatabase } from './helpers/databases.ts'
import { aCharge, aHold, ledgerOf } from './helpers/ledger.ts'
import { testLogger } from './helpers/logger.ts'
import { lockTables } from './helpers/outage.ts'
import { retryWhileBusy } from './helpers/retry-while-busy.ts'
import { runCommand } from './helpers/sluice.ts'
import { newFolder } from './helpers/templates.ts'
import { isTorture } from './helpers/torture.ts'

const ends = ['-charges-1', '-charges-2'] as const
const envOf = ({ env }: TestDatabase) => ({ ...env, MASTER_KEY: testMasterKey.toString('base64') })
const pathOf = ({ env }: TestDatabase, end = '') => join(env.DATA_DIR, databaseFile + end)

/** The files of a server that was killed with acknowledged charges in both files of its journal, and what each record charges. */
function killedServer(charges: number) {
  // Calls are refused while the tables are locked for more than two seconds, which a busy machine may take.
  return retryWhileBusy(() => killServer(charges))
}

async function killServer(charges: number) {
  const node = await ledgerOf(await freshDatabase('sqlite'))
  const { database } = node.core
  if (database.dialect !== 'sqlite') throw new Error('not a file')
  const userId = await node.user(1_000_000)
  const unlock = await lockTables(database)
  const isInBoth = () => ends.every((end) => scanRecords('', readFileSync(database.file + end)).records.length > 2)
  for (let count = 0; count < charges || !isInBoth(); count++) {
    const hold = aHold(userId, 0, 10)
    await node.ledger.hold(hold)
    await node.ledger.settle(hold, aCharge(hold, 7))
  }
  const folder = newFolder()
  for (const end of ['', '-wal', ...ends]) copyFileSync(database.file + end, join(folder, databaseFile + end))
  await unlock()
  await node.close()
  const files = ends.map((end) => readFileSync(join(folder, databaseFile + end)))
  const records = files
    .flatMap((bytes, file) => scanRecords('', bytes).records.map((record) => ({ ...record, file })))
    .filter(({ number, base }) => number > base)
    .sort((one, other) => one.number - other.number)
    .map(({ file, end, text, number }) => {
      const { charges } = JSON.parse(text) as { charges: [string][] }
      return { file, number, start: end - Buffer.byteLength(text) - 48, requests: charges.map(([id]) => id) }
    })
  expect(new Set(records.map(({ file }) => file)).size).toBe(2)

  /** A copy of the files in a folder of its own. */
  const copy = async () => {
    const database = await freshDatabase('sqlite', 'empty')
    for (const end of ['', '-wal', ...ends]) copyFileSync(join(folder, databaseFile + end), pathOf(database, end))
    return database
  }
  return { userId, records, copy }
}

/** Starts on a database, and returns the requests that its ledger has, and the lines of its log. */
async function start(database: TestDatabase) {
  const open = await database.open()
  const lines: string[] = []
  const core = { ...(await testCore(open)), logger: testLogger('warn', (line) => void lines.push(line)) }
  const ledger = await openLedger(core)
  const rows = await core.db
    .selectFrom('ledger')
    .select(['reference', 'amount'])
    .where('kind', '=', 'charge')
    .orderBy('id')
    .execute()
  const differences = await reconcile(core)
  await ledger.close()
  await open.close()
  return { requests: rows.map(({ reference }) => reference.slice('charge:'.length)), differences, log: lines.join('') }
}

function damage(path: string, change: (bytes: Buffer) => void): void {
  const bytes = readFileSync(path)
  change(bytes)
  writeFileSync(path, bytes)
}

/** Offsets in a record. */
const fields = { mark: 0, checksum: 4, length: 8, format: 12, identity: 16, number: 24, run: 32, base: 40, text: 60 }

it('one flipped bit in any field of the first, a middle or the last record loses no other charge, and is told', async () => {
  const { records, copy } = await killedServer(12)
  const last = records.length - 1
  const firstOfSecond = records.findIndex(({ file }) => file !== records[0]?.file)
  const middle = [firstOfSecond - 1, firstOfSecond, ...(isTorture ? [1, firstOfSecond + 1] : [])]
  for (const index of new Set([0, ...middle, last]))
    for (const [field, offset] of Object.entries(isTorture ? fields : { length: fields.length, text: fields.text })) {
      const hit = records[index]
      if (!hit) continue
      const database = await copy()
      damage(pathOf(database, ends[hit.file]), (bytes) =>
        bytes.writeUInt8((bytes[hit.start + offset] ?? 0) ^ 4, hit.start + offset),
      )
      const { requests, differences, log } = await start(database)
      const where = `${field} of record ${index} of ${last}`
      expect(requests, where).toEqual(records.flatMap((record) => (record === hit ? [] : record.requests)))
      expect(differences, where).toEqual([])
      expect(log, where).toContain(index === last && !log.includes('DAMAGED') ? 'incomplete record' : 'THE JOURNAL IS DAMAGED')
      const verified = await runCommand(verifyCommand, ['--json'], envOf(database))
      expect(verified.code, where).toBe(log.includes('DAMAGED') ? 1 : 0)
      await database.drop()
    }
}, 240_000)

it.each([
  ['a length of 2^31', (bytes: Buffer, at: number) => bytes.writeUInt32LE(2 ** 31, at + 8)],
  ['garbage', (bytes: Buffer, at: number) => bytes.fill('garbage', at, at + 100)],
])('%s in the third of many acknowledged records loses the charges of that one alone', async (_name, change) => {
  const { records, copy } = await killedServer(40)
  const [, , hit] = records
  if (!hit) throw new Error('too few records')
  const database = await copy()
  damage(pathOf(database, ends[hit.file]), (bytes) => change(bytes, hit.start))
  const { requests, differences } = await start(database)
  expect(requests).toEqual(records.flatMap((record) => (record === hit ? [] : record.requests)))
  expect(differences).toEqual([])
  await database.drop()
})

it('verify and doctor fail on a damaged journal, with a server or without, until its files are moved away', async () => {
  const { records, copy } = await killedServer(10)
  const [, hit] = records
  if (!hit) throw new Error('too few records')
  const database = await copy()
  damage(pathOf(database, ends[hit.file]), (bytes) => bytes.writeUInt8((bytes[hit.start + 50] ?? 0) ^ 1, hit.start + 50))

  // The command applies what is valid, as no server does.
  const first = await runCommand(verifyCommand, ['--json'], envOf(database))
  const found = JSON.parse(first.output)
  expect([first.code, found.ok, found.charges.differing, found.balances]).toEqual([1, false, 0, []])
  expect(found.setAside.map((path: string) => basename(path))).toContainEqual(
    expect.stringMatching(new RegExp(`^app\\.db${ends[hit.file]}-damaged-20`)),
  )
  expect((await start(database)).requests).toHaveLength(records.flatMap(({ requests }) => requests).length - hit.requests.length)
  const again = await runCommand(verifyCommand, [], envOf(database))
  expect([again.code, again.output]).toEqual([1, expect.stringContaining('SET ASIDE, charges in it may be missing')])
  const doctor = await runCommand(doctorCommand, ['--json'], { ...envOf(database), PORT: '1' })
  expect(JSON.parse(doctor.output).checks).toContainEqual(expect.objectContaining({ name: 'Journal', state: 'failed' }))

  const elsewhere = newFolder()
  for (const path of found.setAside) renameSync(path, join(elsewhere, basename(path)))
  expect((await runCommand(verifyCommand, ['--json'], envOf(database))).code).toBe(0)
  const healthy = await runCommand(doctorCommand, ['--json'], { ...envOf(database), PORT: '1' })
  expect(JSON.parse(healthy.output).checks).toContainEqual(expect.objectContaining({ name: 'Journal', state: 'ok' }))
  await database.drop()
})

it.each(['symlink', 'folder', 'garbage'] as const)(
  'verify finds a %s in place of a file of the journal, also without a server',
  async (kind) => {
    const { records, copy } = await killedServer(10)
    const database = await copy()
    const path = pathOf(database, ends[records[0]?.file ?? 0])
    const elsewhere = join(newFolder(), 'elsewhere')
    renameSync(path, elsewhere)
    if (kind === 'symlink') symlinkSync(elsewhere, path)
    else if (kind === 'folder') mkdirSync(path)
    else writeFileSync(path, 'garbage')
    const before = readFileSync(elsewhere)
    const verified = await runCommand(verifyCommand, ['--json'], envOf(database))
    expect([verified.code, JSON.parse(verified.output).setAside.length > 0]).toEqual([1, true])
    expect(readFileSync(elsewhere).equals(before)).toBe(true)
    const { requests } = await start(database)
    expect(requests).toEqual(records.filter(({ file }) => file !== records[0]?.file).flatMap((record) => record.requests))
    await database.drop()
  },
)

it('the alert about a ledger difference counts files that were set aside', async () => {
  const server = await serverOfTest('sqlite')
  writeFileSync(pathOf(server.database, '-charges-1-damaged-2026-11-28T10-00-00.000Z'), 'bytes')
  expect(await reconcileLedger.run(server.app, new AbortController().signal, () => {})).toContain(
    '1 files of the journal were set aside',
  )
  const measured = server.app.db.selectFrom('alert_measures').select(['subject', 'last']).where('rule', '=', 'ledger-difference')
  expect(await measured.execute()).toEqual([{ subject: 'site', last: 1 }])
})

it('an older copy of the database adopts no charge of the journal beside it, after one batch, two or more', async () => {
  for (let batches = 1; batches <= 4; batches++) {
    const node = await ledgerOf(await freshDatabase('sqlite'))
    const userId = await node.user(1_000_000)
    await node.close()
    const older = await freshDatabase('sqlite', 'empty')
    copyFileSync(pathOf(node.database), pathOf(older))

    const later = await ledgerOf(node.database)
    for (let count = 0; count < batches; count++) {
      const hold = aHold(userId, 0, 10)
      await later.ledger.hold(hold)
      await later.ledger.settle(hold, aCharge(hold, 7))
      expect((await later.userRow(userId)).request_count).toBe(count + 1)
    }
    for (const end of ends)
      if (existsSync(pathOf(node.database, end))) copyFileSync(pathOf(node.database, end), pathOf(older, end))
    await later.close()
    const { requests, log } = await start(older)
    expect([batches, requests, log.includes('were set aside, and not applied')]).toEqual([batches, [], true])
    expect((await runCommand(verifyCommand, ['--json'], envOf(older))).code).toBe(1)
    await older.drop()
  }
})
