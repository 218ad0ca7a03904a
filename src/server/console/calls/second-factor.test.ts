import { afterAll, beforeAll, expect, it } from 'vitest'
import { password, type Signed, startConsole, type TestConsole } from '../../../../test/helpers/console.ts'
import { anyDatabase } from '../../../../test/helpers/databases.ts'
import { periodAt, totpCode } from '../../base/lib/secrets/totp.ts'
import { verifyAudit } from '../../base/options/audit.ts'

const english = { 'accept-language': 'en' }

anyDatabase('the second factor', (_fresh, kind) => {
  let console: TestConsole
  let count = 0
  beforeAll(async () => {
    console = await startConsole(kind)
  })
  afterAll(() => console.stop())

  /** Every call comes from its own address: client limits are tested elsewhere. */
  const raw = (line: string, { body, as, cookie }: { body?: unknown; as?: Signed; cookie?: string } = {}) =>
    console.call(line, {
      ...(body === undefined ? {} : { body }),
      ...(as ? { as } : {}),
      headers: { ...english, ...(cookie === undefined ? {} : { cookie }) },
      from: `10.0.${Math.floor(++count / 200)}.${(count % 200) + 1}`,
    })
  const call = async (line: string, body?: unknown, as?: Signed) => (await raw(line, { body, ...(as ? { as } : {}) })).json()
  const codeOf = (secret: string, periods = 0) => totpCode(secret, periodAt(console.clock.now() / 1000) + periods)

  /** A user whose second factor is enabled. */
  async function guarded(username: string, more: { role?: number } = {}) {
    const user = await console.addUser(username, more)
    const { secret } = (await call('POST /api/user/two_factor', undefined, user)).data
    const { data: codes } = await call('POST /api/user/two_factor/confirm', { code: codeOf(secret) }, user)
    console.clock.passSeconds(30)
    return { user, secret: String(secret), codes: codes as string[] }
  }

  /** Logs in with the password; returns the browser cookie of the partial login. */
  async function halfIn(username: string): Promise<string> {
    const response = await raw('POST /api/user/login', { body: { username, password } })
    expect(response.json()).toMatchObject({ success: false, code: 'second_factor_required' })
    const cookies = [response.headers['set-cookie'] ?? []].flat()
    expect(cookies.filter((cookie) => cookie.includes('session='))).toEqual([])
    expect(cookies[0]).toMatch(/^browser=[\w-]{43}; Path=\/; Max-Age=900; HttpOnly; SameSite=Strict$/)
    return cookies[0]?.split(';', 1)[0] ?? ''
  }
  const second = (code: string, cookie?: string) =>
    raw('POST /api/user/login/second', { body: { code }, ...(cookie === undefined ? {} : { cookie }) })

  it('is set up only after a fresh login, is enabled by a first code, and its secret is never returned again', async () => {
    const user = await console.addUser('setup')
    const { data } = await call('POST /api/user/two_factor', undefined, user)
    expect(data.uri).toMatch(/^otpauth:\/\/totp\/Sluice:setup\?secret=[A-Z2-7]{32}&issuer=Sluice&/)
    expect((await call('POST /api/user/login', { username: 'setup', password })).success).toBe(true)
    expect((await call('POST /api/user/two_factor/confirm', { code: '000000' }, user)).code).toBe('second_factor_wrong')

    const { data: codes } = await call('POST /api/user/two_factor/confirm', { code: codeOf(data.secret) }, user)
    expect(new Set(codes).size).toBe(10)
    for (const code of codes) expect(code).toMatch(/^[a-z2-9]{5}-[a-z2-9]{5}$/)
    const security = await raw('GET /api/user/security', { as: user })
    expect(security.json().data).toMatchObject({ two_factor: true, backup_codes: 10, password: true, passkeys: [] })

    const { db } = console.app
    const kept = JSON.stringify([
      await db.selectFrom('two_factor').selectAll().execute(),
      await db.selectFrom('backup_codes').selectAll().execute(),
    ])
    for (const secret of [data.secret, ...codes, ...codes.map((code: string) => code.replace('-', ''))]) {
      expect(kept).not.toContain(secret)
      expect(security.body).not.toContain(secret)
    }
    expect((await call('POST /api/user/two_factor', undefined, user)).code).toBe('two_factor_on')
    console.clock.passSeconds(601)
    for (const line of ['POST /api/user/two_factor', 'POST /api/user/two_factor/backup_codes', 'DELETE /api/user/two_factor']) {
      expect([line, (await call(line, undefined, user)).code]).toEqual([line, 'fresh_login_required'])
    }
  })

  it('refuses only the password, and accepts it with a code from the same browser', async () => {
    const { secret } = await guarded('ada')
    const cookie = await halfIn('ada')
    expect((await raw('GET /api/user/self', { cookie })).json().code).toBe('not_signed_in')
    expect((await second(codeOf(secret))).json().code).toBe('login_step_lost')
    expect((await second(codeOf(secret), 'browser=chosen-by-somebody')).json().code).toBe('login_step_lost')

    const done = await second(codeOf(secret), cookie)
    expect(done.json().data).toMatchObject({ username: 'ada', role: 1 })
    expect(String(done.headers['set-cookie'])).toContain('session=')
    expect((await second(codeOf(secret, 1), cookie)).json().code).toBe('login_step_lost')
  })

  it('accepts no code twice, not even at the same moment, nor an older one', async () => {
    const { secret } = await guarded('twice')
    const cookies: string[] = []
    for (let n = 0; n < 4; n++) cookies.push(await halfIn('twice'))
    const code = codeOf(secret)
    const together = await Promise.all(cookies.map((cookie) => second(code, cookie)))
    expect(together.filter((response) => response.json().success)).toHaveLength(1)
    console.clock.passSeconds(3600)
    const [later, older] = [await halfIn('twice'), await halfIn('twice')]
    expect((await second(codeOf(secret, 1), later)).json().success).toBe(true)
    expect((await second(codeOf(secret), older)).json().code).toBe('second_factor_wrong')
  })

  it('accepts each backup code once, and warns of the last ones', async () => {
    const { user, codes } = await guarded('backup')
    const [first = '', other = ''] = codes
    expect((await second(first.toUpperCase().replace('-', ' '), await halfIn('backup'))).json().success).toBe(true)
    expect((await second(first, await halfIn('backup'))).json().code).toBe('second_factor_wrong')
    const cookies = [await halfIn('backup'), await halfIn('backup'), await halfIn('backup')]
    const together = await Promise.all(cookies.map((cookie) => second(other, cookie)))
    expect(together.filter((response) => response.json().success)).toHaveLength(1)
    expect((await call('GET /api/user/security', undefined, user)).data.backup_codes).toBe(8)

    const { data: fresh } = await call('POST /api/user/two_factor/backup_codes', undefined, user)
    expect(fresh).toHaveLength(10)
    console.clock.passSeconds(3700)
    expect((await second(codes[2] ?? '', await halfIn('backup'))).json().code).toBe('second_factor_wrong')
  })

  it('[T001] makes guessing slow for all browsers together, and ends a login after five wrong codes', async () => {
    const { secret } = await guarded('guess')
    const cookie = await halfIn('guess')
    const answers: string[] = []
    for (let n = 0; n < 7; n++) {
      answers.push((await second('000000', cookie)).json().code)
      console.clock.passSeconds(1)
    }
    expect(answers.slice(0, 5)).toEqual(Array(5).fill('second_factor_wrong'))
    expect(answers[6]).toBe('login_step_lost')
    const codes = new Set<string>()
    for (let n = 0; n < 4; n++) codes.add((await second('000000', await halfIn('guess'))).json().code)
    expect(codes).toContain('login_throttled')
    console.clock.passSeconds(3700)
    expect((await second(codeOf(secret), await halfIn('guess'))).json().success).toBe(true)
  })

  it('is valid for five minutes, and not for users that were banned or changed the password meanwhile', async () => {
    const { user, secret } = await guarded('late')
    const late = await halfIn('late')
    console.clock.passSeconds(300)
    expect((await second(codeOf(secret), late)).json().code).toBe('login_step_lost')

    const banned = await halfIn('late')
    await console.app.db.updateTable('users').set({ status: 2 }).where('id', '=', user.id).execute()
    expect((await second(codeOf(secret), banned)).json().code).toBe('login_step_lost')
    await console.app.db.updateTable('users').set({ status: 1 }).where('id', '=', user.id).execute()

    const before = await halfIn('late')
    const change = { password: 'another horse 8', current_password: password }
    expect((await call('PUT /api/user/self', change, user)).success).toBe(true)
    expect((await second(codeOf(secret), before)).json().code).toBe('login_step_lost')
  })

  it('is required for reauthentication; the password is not enough then', async () => {
    const { user, secret } = await guarded('proof')
    console.clock.passSeconds(601)
    expect((await call('DELETE /api/user/two_factor', undefined, user)).code).toBe('fresh_login_required')
    expect((await call('POST /api/user/verify', { password }, user)).code).toBe('second_factor_required')
    expect((await call('POST /api/user/verify', { code: '12345' }, user)).code).toBe('second_factor_wrong')
    expect((await call('POST /api/user/verify', { code: codeOf(secret) }, user)).success).toBe(true)
    expect((await call('DELETE /api/user/two_factor', undefined, user)).success).toBe(true)
    expect((await call('POST /api/user/login', { username: 'proof', password })).data.username).toBe('proof')
  })

  it('is removed by an admin of higher rank with everything that a lost device could access, and the audit log records it', async () => {
    const { user } = await guarded('lost')
    const [admin, peer] = [await console.addUser('adm', { role: 10 }), await console.addUser('peer')]
    const act = { id: user.id, action: 'reset_factors' }
    expect((await call('POST /api/user/manage', act, peer)).code).toBe('permission_denied')
    expect((await call('POST /api/user/manage', { id: admin.id, action: 'reset_factors' }, admin)).code).toBe('user_protected')
    expect((await call('POST /api/user/manage', act, admin)).success).toBe(true)
    expect((await raw('GET /api/user/self', { as: user })).statusCode).toBe(401)
    expect((await call('POST /api/user/login', { username: 'lost', password })).success).toBe(true)
    const row = await console.app.db.selectFrom('audit').selectAll().orderBy('id', 'desc').executeTakeFirstOrThrow()
    expect(row).toMatchObject({ action: 'user.reset-factors', target: `user:${user.id}`, actor_id: admin.id })
    expect((await verifyAudit(console.app)).brokenAt).toBeUndefined()
  })

  it('deletes the state of logins that were never completed', async () => {
    await guarded('left')
    await halfIn('left')
    console.clock.passSeconds(301)
    await console.app.sessions.purge()
    expect(await console.app.db.selectFrom('login_steps').selectAll().execute()).toEqual([])
  })

  it('[T039] writes no code and no secret to the log', async () => {
    const { secret, codes } = await guarded('quiet')
    const cookie = await halfIn('quiet')
    await second('999999', cookie)
    const all = console.logged.join('')
    for (const word of [secret, '999999', cookie.slice(8), ...codes]) expect(all).not.toContain(word)
  })
})
