import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Passwords } from '../../src/server/people/accounts/passwords.ts'
import { findImportedCost, signIn } from '../../src/server/people/accounts/sign-in.ts'
import { type AccountNode, addUser, goodPassword, startAccounts } from '../helpers/accounts.ts'
import { freshDatabase, type TestDatabase } from '../helpers/databases.ts'
import { outcome } from '../helpers/ledger.ts'

/** A bcrypt hash of cost 10, as compatible consoles write it. */
const imported = '$2a$10$FArSwKYtIWg4l5SL5kER3eT3J4Ojb9BU6Cc1lv7GmC7baA5gj0ie6'
const rounds = 200

describe.each(['sqlite', 'postgres'] as const)('the time of a refused login over %s', (kind) => {
  let test: TestDatabase
  let node: AccountNode

  beforeAll(async () => {
    test = await freshDatabase(kind)
    // The times are measured with hashes as a server stores them.
    node = { ...(await startAccounts(test)), passwords: new Passwords() }
    for (const name of ['known', 'banned', 'imported']) await addUser(node, name)
    await node.db
      .updateTable('users')
      .set({ password_hash: await node.passwords.hash(goodPassword) })
      .execute()
    await node.db.updateTable('users').set({ status: 2 }).where('username', '=', 'banned').execute()
    await node.db.updateTable('users').set({ password_hash: imported }).where('username', '=', 'imported').execute()
    node.passwords.expectImported(await findImportedCost(node.db))
  })
  afterAll(async () => {
    await node.close()
    await test.drop()
  })

  it('[T002] reveals neither whether the name is known, nor whether its user has logged in since the import', async () => {
    const names = ['unknown', 'known', 'banned', 'imported']
    const times = new Map<string, number[]>(names.map((name) => [name, []]))
    // The first rounds warm up and are not measured.
    for (let round = -5; round < rounds; round++) {
      for (const name of names) {
        // So that no account is throttled.
        node.clock.passSeconds(7200)
        const begun = performance.now()
        const code = await outcome(async () => {
          await signIn(node, { username: name, password: 'wrong password', address: '203.0.113.9', userAgent: 'test' })
        })
        expect(code).toBe('credentials_wrong')
        if (round >= 0) times.get(name)?.push(performance.now() - begun)
      }
    }
    const medians = names.map((name) => median(times.get(name) ?? []))
    console.log(names.map((name, index) => `${name}: ${medians[index]?.toFixed(1)} ms`).join(', '))
    expect(Math.max(...medians) / Math.min(...medians)).toBeLessThan(1.1)
  })
})

function median(numbers: readonly number[]): number {
  return numbers.toSorted((one, other) => one - other)[numbers.length >> 1] ?? 0
}
