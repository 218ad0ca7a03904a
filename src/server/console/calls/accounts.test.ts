import { afterEach, beforeEach, expect, it } from 'vitest'
import { mailOptions } from '../../../../test/helpers/accounts.ts'
import { password, type Signed, startConsole, type TestConsole } from '../../../../test/helpers/console.ts'
import { anyDatabase } from '../../../../test/helpers/databases.ts'
import { type SmtpServer, startSmtpServer } from '../../../../test/helpers/smtp-server.ts'
import type { Caller } from '../../base/options/core.ts'
import { optionHandlers } from './options.ts'

const root: Caller = { id: 1, username: 'root', role: 100, group: 'default', address: '' }
const english = { 'accept-language': 'en' }
const address = 'ada@example.com'

anyDatabase('calls of accounts', (_fresh, kind) => {
  let console: TestConsole
  let smtp: SmtpServer

  beforeEach(async () => {
    console = await startConsole(kind, { handlers: { ...optionHandlers } })
    smtp = await startSmtpServer()
    for (const [key, value] of Object.entries({ ...mailOptions(smtp), EmailVerificationEnabled: 'true' })) {
      await console.app.options.save({ key, value: value ?? '', caller: root })
    }
  })
  afterEach(async () => {
    await console.stop()
    await smtp.stop()
  })

  const call = async (line: string, body?: unknown, as?: Signed, headers: Record<string, string> = english) =>
    (await console.call(line, { ...(body === undefined ? {} : { body }), ...(as ? { as } : {}), headers })).json()
  const codeIn = (text: string) => /\b\d{6}\b/.exec(text)?.[0] ?? ''
  const codeOf = async (email: string, count = 1) => codeIn((await smtp.mailTo(email, count)).text)
  const ok = { success: true, message: '', data: null }

  it('accepts registrations as compatible clients send them, by GET and with an empty invite code', async () => {
    expect(await call(`GET /api/verification?email=${address}&turnstile=`)).toEqual(ok)
    const verification_code = await codeOf(address)
    const form = { username: 'ada', password, password2: password, email: address, verification_code, aff_code: null }
    expect(await call('POST /api/user/register?turnstile=', form)).toEqual(ok)
    expect((await call('POST /api/user/login', { username: address, password })).data).toMatchObject({ username: 'ada', role: 1 })
    expect(await call('POST /api/user/register', form)).toMatchObject({ success: false, code: 'code_wrong' })
  })

  it('[T052] ignores members that a registration may not set', async () => {
    await console.app.options.save({ key: 'EmailVerificationEnabled', value: 'false', caller: root })
    const more = {
      role: 100,
      id: 77,
      quota: 5,
      group: 'vip',
      status: 2,
      inviter_id: 9,
      aff_quota: 5,
      access_token: 'x',
      email: address,
    }
    expect(await call('POST /api/user/register', { username: 'ada', password, ...more })).toEqual(ok)
    const row = await console.app.db.selectFrom('users').selectAll().executeTakeFirstOrThrow()
    expect(row).toMatchObject({ role: 1, quota: 0, group: 'default', status: 1, inviter_id: 0, aff_quota: 0, email: '' })
    expect([row.id === 77, row.access_token_hash]).toEqual([false, null])
  })

  it('mails in the language of the caller, and accepts a plus sign that was not escaped', async () => {
    await call('GET /api/verification?email=a+b@example.com', undefined, undefined, { 'accept-language': 'zh-CN' })
    expect((await smtp.mailTo('a+b@example.com')).headers.get('subject')).toContain('邮箱验证码')
    await call('POST /api/verification', { email: address })
    expect((await smtp.mailTo(address)).headers.get('subject')).toContain('verification code')
  })

  it('reports how long to wait, with status 200, for which consoles show the message', async () => {
    await call('POST /api/verification', { email: address })
    const again = await console.call('POST /api/verification', { body: { email: address }, headers: english })
    expect([again.statusCode, again.headers['retry-after']]).toEqual([200, '30'])
    expect(again.json()).toMatchObject({ code: 'code_too_soon', message: 'Sent too often, try again in 30 seconds' })
  })

  it('[T211] sends at most twenty codes for one client, over all addresses', async () => {
    const asked = Array.from({ length: 200 }, (_, n) => call('POST /api/verification', { email: `guest${n}@example.com` }))
    const codes = (await Promise.all(asked)).map(({ success, code }) => (success ? 'mailed' : code))
    expect(codes.filter((code) => code === 'mailed')).toHaveLength(20)
    expect(new Set(codes)).toEqual(new Set(['mailed', 'too_many_requests']))
    expect(smtp.mails).toHaveLength(20)
  })

  it('resets the password by the mailed link', async () => {
    const ada = await console.addUser('ada')
    await console.app.db.updateTable('users').set({ email: address }).where('id', '=', ada.id).execute()
    expect(await call(`GET /api/reset_password?email=${address}&turnstile=`)).toEqual(ok)
    const token = /token=([\w-]+)/.exec((await smtp.mailTo(address)).text)?.[1]
    const { data } = await call('POST /api/user/reset', { email: address, token })
    expect((await call('POST /api/user/login', { username: 'ada', password: data })).data.default_password).toBe(true)
    expect((await call('POST /api/user/reset', { email: address, token })).code).toBe('reset_link_invalid')
    expect((await console.call('GET /api/user/self', { as: ada })).statusCode).toBe(401)
  })

  it('[T016] sends links to the saved address of the site, regardless of the Host header', async () => {
    const ada = await console.addUser('ada')
    await console.app.db.updateTable('users').set({ email: address }).where('id', '=', ada.id).execute()
    const headers = { host: 'evil.test', 'x-forwarded-host': 'evil.test', forwarded: 'host=evil.test' }
    expect(await call('POST /api/reset_password', { email: address }, undefined, headers)).toEqual(ok)
    const { text } = await smtp.mailTo(address)
    expect(text).toContain('https://site.test/user/reset?')
    expect(text).not.toContain('evil')
  })

  it('[T026] refuses registration and password login that are switched off, also for direct calls', async () => {
    await console.addUser('ada')
    const set = (key: string, value: string) => console.app.options.save({ key, value, caller: root })
    const logIn = async () => (await call('POST /api/user/login', { username: 'ada', password })).code
    const codes = async () => [
      (await call('POST /api/user/register', { username: 'eve', password: 'a good pass 9', email: address })).code,
      (await call('POST /api/verification', { email: address })).code,
      await logIn(),
    ]
    for (const key of ['RegisterEnabled', 'PasswordRegisterEnabled'] as const) {
      await set(key, 'false')
      expect(await codes()).toEqual(['registration_closed', 'registration_closed', undefined])
      await set(key, 'true')
    }
    await set('PasswordLoginEnabled', 'false')
    expect(await logIn()).toBe('password_login_disabled')
    expect(smtp.mails).toEqual([])
  })

  it('binds an address by GET and by POST, only for signed-in users', async () => {
    const ada = await console.addUser('ada')
    expect((await call(`GET /api/oauth/email/bind?email=${address}&code=1`)).code).toBe('not_signed_in')
    expect(await call(`GET /api/verification?email=${address}`, undefined, ada)).toEqual(ok)
    const code = await codeOf(address)
    expect((await call('POST /api/oauth/email/bind', { email: address, code: '000000' }, ada)).code).toBe('code_wrong')
    expect(await call(`GET /api/oauth/email/bind?email=${address}&code=${code}`, undefined, ada)).toEqual(ok)
    expect((await call('GET /api/user/self', undefined, ada)).data.email).toBe(address)

    console.clock.passSeconds(601)
    expect((await call('POST /api/oauth/email/bind', { email: address, code }, ada)).code).toBe('fresh_login_required')
    expect((await call('POST /api/user/verify', { password: 'wrong' }, ada)).code).toBe('password_wrong')
    expect(await call('POST /api/user/verify', { password }, ada)).toEqual(ok)
    expect((await call('POST /api/oauth/email/bind', { email: address, code }, ada)).code).toBe('code_wrong')
  })

  it('[T042] refuses cross-site changes by any method', async () => {
    const ada = await console.addUser('ada')
    const foreign = { ...english, 'sec-fetch-site': 'cross-site' }
    const lines = [
      `GET /api/verification?email=${address}`,
      `GET /api/reset_password?email=${address}`,
      `GET /api/oauth/email/bind?email=${address}&code=1`,
      'DELETE /api/user/self',
      'DELETE /api/user/sessions',
      'DELETE /api/user/token',
    ]
    for (const line of lines) expect([line, (await call(line, undefined, ada, foreign)).code]).toEqual([line, 'origin_refused'])
    const plain = { ...english, origin: 'https://evil.test', host: 'site.test' }
    expect((await call(`GET /api/verification?email=${address}`, undefined, undefined, plain)).code).toBe('origin_refused')
    expect(smtp.mails).toEqual([])
  })

  it('limits how often one client requests codes and links, over all addresses', async () => {
    const statuses: number[] = []
    for (let n = 0; n < 21; n++) {
      const { statusCode } = await console.call('POST /api/verification', { body: { email: `a${n}@example.com` } })
      statuses.push(statusCode)
    }
    expect(statuses.filter((status) => status === 429)).toHaveLength(1)
    expect(smtp.mails).toHaveLength(20)
  })

  it('deletes the account of the caller and its cookie', async () => {
    const ada = await console.addUser('ada')
    const response = await console.call('DELETE /api/user/self', { as: ada })
    expect([response.json(), String(response.headers['set-cookie']).includes('Max-Age=0')]).toEqual([ok, true])
    expect((await console.call('GET /api/user/self', { as: ada })).statusCode).toBe(401)
    expect((await call('POST /api/user/login', { username: 'ada', password })).code).toBe('credentials_wrong')
  })

  it('shows sessions and invite code, and ends the other sessions or all of them', async () => {
    const ada = await console.addUser('ada')
    await call('POST /api/user/login', { username: 'ada', password })
    expect((await call('GET /api/user/aff', undefined, ada)).data).toMatch(/^\w{6}$/)
    const { data } = await call('GET /api/user/sessions', undefined, ada)
    expect(data.map(({ current }: { current: boolean }) => current).sort()).toEqual([false, true])
    expect(await call('DELETE /api/user/sessions', undefined, ada)).toEqual(ok)
    expect((await call('GET /api/user/sessions', undefined, ada)).data).toHaveLength(1)
    const foreign = await console.addUser('eve')
    const [{ id }] = (await call('GET /api/user/sessions', undefined, foreign)).data
    expect((await call(`DELETE /api/user/sessions/${id}`, undefined, ada)).code).toBe('not_found')
    expect(await call('DELETE /api/user/sessions?all=true', undefined, ada)).toEqual(ok)
    expect((await console.call('GET /api/user/self', { as: ada })).statusCode).toBe(401)
  })

  it('accepts settings as compatible consoles send them, and shows them without secrets', async () => {
    const ada = await console.addUser('ada')
    const input = { notify_type: 'webhook', quota_warning_threshold: 500000, webhook_secret: 'canary', notification_email: '' }
    const save = (webhook_url: string) => call('PUT /api/user/setting', { ...input, webhook_url }, ada)
    expect(await save('http://insecure.example')).toMatchObject({
      code: 'webhook_url_invalid',
      message: expect.stringContaining('The webhook address must begin with https://'),
    })
    expect(await save('https://ok.example/hook')).toEqual({ ...ok, message: 'The settings are saved' })
    const self = await console.call('GET /api/user/self', { as: ada })
    expect(JSON.parse(self.json().data.setting)).toMatchObject({ notify_type: 'webhook', webhook_secret_set: true })
    expect(self.body).not.toContain('canary')
    expect((await call('PUT /api/user/setting', { quota_warning_threshold: 0 }, ada)).code).toBe('field_invalid')
  })

  it('sends the super admin a test mail, or reports why it could not', async () => {
    const boss = await console.addUser('boss', { role: 100 })
    const admin = await console.addUser('adm', { role: 10 })
    expect((await call('POST /api/option/test_mail', { email: address }, admin)).code).toBe('permission_denied')
    expect(await call('POST /api/option/test_mail', { email: address }, boss)).toEqual(ok)
    expect((await smtp.mailTo(address)).text).toContain('the settings work')
    await smtp.stop()
    expect((await call('POST /api/option/test_mail', { email: address }, boss)).message).toContain('could not be reached')
    expect((await call('POST /api/option/test_mail', { email: 'x' }, boss)).code).toBe('email_invalid')
  })

  it('[T039] logs no address, code, token or password', async () => {
    await call('POST /api/verification', { email: address })
    const code = await codeOf(address)
    await call('POST /api/user/register', { username: 'ada', password: 'canary-pass', email: address, verification_code: code })
    console.clock.passSeconds(30)
    await call('POST /api/reset_password', { email: address })
    await smtp.mailTo(address, 2)
    const token = /token=([\w-]+)/.exec((await smtp.mailTo(address, 2)).text)?.[1] ?? expect.unreachable()
    await call('POST /api/user/reset', { email: address, token: `${token}x` })
    const all = console.logged.join('')
    for (const secret of [address, code, token, 'canary-pass']) expect(all).not.toContain(secret)
  })
})
