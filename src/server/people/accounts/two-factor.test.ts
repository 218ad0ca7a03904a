import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { addUser, startAccounts } from '../../../../test/helpers/accounts.ts'
import { freshDatabase } from '../../../../test/helpers/databases.ts'
import { whileLocked } from '../../../../test/helpers/while-locked.ts'
import { AppError } from '../../base/lib/failure.ts'
import { periodAt, totpCode } from '../../base/lib/secrets/totp.ts'
import { completeLogin, completeWithSecondFactor } from './complete-login.ts'
import { beginTwoFactor, confirmTwoFactor, countBackupCodes, renewBackupCodes, requireSecondFactor } from './two-factor.ts'
import { findUser } from './users.ts'

const place = { address: '192.0.2.9', userAgent: 'test' }

it('accepts each code once over two nodes, and completes on one node a setup that began on the other', async () => {
  const test = await freshDatabase('postgres')
  const one = await startAccounts(test)
  const two = await startAccounts(test, { clock: one.clock })
  try {
    const { id, caller } = await addUser(one, 'ada')
    const { secret } = await beginTwoFactor(one, caller)
    const codeNow = (ahead = 0) => totpCode(secret, periodAt(one.clock.now() / 1000) + ahead)
    await confirmTwoFactor(two, caller, codeNow())
    await whileLocked(one.db, {
      lock: [sql`select id from users where id = ${id} for update`, sql`lock table backup_codes in share mode`],
      works: [one, two].map((node) => () => renewBackupCodes(node, caller)),
    })
    expect(await countBackupCodes(one.db, id), 'the codes of one renewal alone').toBe(10)
    const [backup = ''] = await renewBackupCodes(one, caller)

    for (const code of [codeNow(1), backup]) {
      const uses = Array.from({ length: 20 }, (_, n) => outcome(requireSecondFactor(n % 2 === 0 ? one : two, caller, code)))
      const outcomes = await Promise.all(uses)
      expect(outcomes.filter((text) => text === 'ok')).toHaveLength(1)
      expect(outcomes.filter((text) => !/^(ok|second_factor_wrong|login_throttled)$/.test(text))).toEqual([])
      one.clock.passSeconds(3700)
    }

    const user = await findUser(one.db, id)
    let browserToken = ''
    const keepBrowser = (token: string) => {
      browserToken = token
    }
    expect(await outcome(completeLogin(one, user, { ...place, keepBrowser }))).toBe('second_factor_required')
    const { token } = await completeWithSecondFactor(two, { ...place, code: codeNow(), browserToken })
    expect((await one.sessions.find(token))?.account.id).toBe(id)
  } finally {
    await one.close()
    await two.close()
    await test.drop()
  }
})

async function outcome(work: Promise<unknown>): Promise<string> {
  try {
    await work
    return 'ok'
  } catch (error) {
    return error instanceof AppError ? error.code : String(error)
  }
}
