import { expect, it } from 'vitest'
import { freshDatabase } from '../../../../../test/helpers/databases.ts'
import { lockTables } from '../../../../../test/helpers/outage.ts'
import type { AppliedUpTo } from './sqlite-worker.ts'
import { SqliteWriter } from './sqlite-writer.ts'

it('starts its thread again for the batch after the thread ended, and charges no request again', async () => {
  const database = await freshDatabase('sqlite')
  const open = await database.open()
  if (open.dialect !== 'sqlite') throw new Error('not a file')
  const { db, file, close } = open
  const writer = new SqliteWriter({ file, startWaitMs: 1000, onStarted() {} })

  await writer.start()
  expect(await writer.append(batch('a'))).toBe(1)
  await writer.close()
  expect(await writer.append(batch('b'))).toBe(2)
  expect(await writer.append(batch('a'))).toBe(3)
  expect(await writer.apply()).toMatchObject({ number: 3, known: ['a'] })
  await writer.close()

  expect(await db.selectFrom('ledger').select('reference').execute()).toEqual([
    { reference: 'charge:a' },
    { reference: 'charge:b' },
  ])
  await close()
  await database.drop()
})

it('appends although its thread died and the tables are locked, and reports what is not in them', async () => {
  const database = await freshDatabase('sqlite')
  const open = await database.open()
  if (open.dialect !== 'sqlite') throw new Error('not a file')
  const left: string[][] = []
  const onStarted = ({ refused }: AppliedUpTo) => void left.push(refused.map(([requestId]) => requestId))
  const writer = new SqliteWriter({ file: open.file, startWaitMs: 1000, onStarted })
  await writer.start()
  await writer.append(batch('a'))
  const unlock = await lockTables(open)
  await writer.close()
  expect(await writer.append(batch('b'))).toBe(2)
  expect(left).toEqual([[], ['a']])
  await unlock()
  expect(await writer.apply()).toMatchObject({ number: 2, refused: [] })
  await writer.close()
  await open.close()
  await database.drop()
})

function batch(requestId: string): string {
  const charges = [[requestId, 1, 0, 5, 0, 0, 1, '', 'm', 'default', null]]
  return JSON.stringify({ charges, siteCosts: [], checkpoints: [], ended: [], budgetCharges: [] })
}
