import { expect, it } from 'vitest'
import { freshDatabase } from '../../../test/helpers/databases.ts'
import { SqliteWriter } from './sqlite-writer.ts'

it('starts its thread again for the batch after the thread ended', async () => {
  const database = await freshDatabase('sqlite')
  const { db, close, ...open } = await database.open()
  if (open.dialect !== 'sqlite') throw new Error('not a file')
  const writer = new SqliteWriter(open.file, 1000)
  const batch = (requestId: string) => ({
    charges: [[requestId, 1, 0, 5, 0, 0, 1, '', 'm', 'default'] as const],
    logs: [],
    siteCosts: [],
    checkpoints: [],
    ended: [],
    budgetCharges: [],
  })

  await writer.commit(batch('a'))
  await writer.close()
  await writer.commit(batch('b'))
  expect(await writer.commit(batch('a'))).toEqual({ known: ['a'] })
  await writer.close()

  expect(await db.selectFrom('ledger').select('reference').execute()).toEqual([
    { reference: 'charge:a' },
    { reference: 'charge:b' },
  ])
  await close()
  await database.drop()
})
