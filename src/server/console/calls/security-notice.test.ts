import { beforeAll, beforeEach, expect, it } from 'vitest'
import { mailOptions } from '../../../../test/helpers/accounts.ts'
import { type Deviations, newAuthenticator } from '../../../../test/helpers/authenticator.ts'
import { type Signed, startConsole, type TestConsole } from '../../../../test/helpers/console.ts'
import { anyDatabase } from '../../../../test/helpers/databases.ts'
import { type SmtpServer, startSmtpServer } from '../../../../test/helpers/smtp-server.ts'
import { periodAt, totpCode } from '../../base/lib/secrets/totp.ts'
import type { Caller } from '../../base/options/core.ts'
import { unbindIdentity } from '../../people/accounts/external-identity/bindings.ts'

const root: Caller = { id: 1, username: 'root', role: 100, group: 'default', address: '' }
const site = 'site.test'

anyDatabase('a security notice', (_fresh, kind) => {
  let console: TestConsole
  let smtp: SmtpServer
  let owner: Signed
  let address = ''
  let owners = 0

  beforeAll(async () => {
    console = await startConsole(kind)
    smtp = await startSmtpServer()
    for (const [key, value] of Object.entries(mailOptions(smtp)))
      await console.app.options.save({ key, value: value ?? '', caller: root })
    return async () => {
      await console.stop()
      await smtp.stop()
    }
  })
  beforeEach(async () => {
    owner = await console.addUser(`owner${++owners}`)
    address = `${owner.username}@example.com`
    await console.app.db.updateTable('users').set({ email: address }).where('id', '=', owner.id).execute()
  })

  let calls = 0
  const call = async (line: string, body?: unknown, { as = owner, language = 'en' }: { as?: Signed; language?: string } = {}) => {
    const headers = { 'accept-language': language }
    const answer = await console.call(line, {
      as,
      headers,
      from: `10.3.${Math.floor(++calls / 200)}.${(calls % 200) + 1}`,
      ...(body === undefined ? {} : { body }),
    })
    const { success, data, message } = answer.json()
    expect([line, success, message]).toEqual([line, true, message])
    return data
  }
  const told = async (count: number) => (await smtp.mailTo(address, count)).text
  const codeOf = (secret: string) => totpCode(secret, periodAt(console.clock.now() / 1000))

  it('covers the second factor: on, new backup codes, off', async () => {
    const { secret } = await call('POST /api/user/two_factor')
    await call('POST /api/user/two_factor/confirm', { code: codeOf(secret) })
    expect(await told(1)).toContain(`account ${owner.username}: two-factor authentication was switched on.`)
    await call('POST /api/user/two_factor/backup_codes', undefined, { language: 'zh-CN' })
    expect(await told(2)).toContain(`账户 ${owner.username} 刚刚更换了备用验证码。`)
    await call('DELETE /api/user/two_factor')
    expect(await told(3)).toContain('switched off')
    for (const mail of smtp.mails) expect(mail.recipients).toHaveLength(1)
  })

  it('covers a copied passkey once its signature is valid, and only that', async () => {
    const device = newAuthenticator({ origin: `https://${site}`, site })
    await call('POST /api/user/passkey', { name: 'Key', answer: device.create(await call('POST /api/user/passkey/options')) })
    await told(1)
    const use = async (deviations: Deviations, as = owner) => {
      const answer = device.get(await call('POST /api/user/verify/passkey/options', undefined, { as }), deviations)
      const headers = { 'accept-language': 'en' }
      const sent = await console.call('POST /api/user/verify/passkey', {
        as,
        headers,
        body: { answer },
        from: `10.4.0.${++calls % 250}`,
      })
      return sent.json().code ?? 'accepted'
    }
    expect(await use({ counter: 9 })).toBe('accepted')
    // Anybody can send a low counter: without the key it is no copy.
    expect(await use({ counter: 3, damaged: true })).toBe('passkey_refused')
    expect(await use({ counter: 10, origin: 'https://evil.test' })).toBe('passkey_refused')
    expect(await use({ counter: 9 })).toBe('passkey_refused')
    expect(await told(2)).toContain('a use of the passkey “Key” was refused, because it may have been copied')
    const token = await console.app.sessions.create({ userId: owner.id, address: '127.0.0.1', userAgent: 'test' })
    const elsewhere = { ...owner, headers: { ...owner.headers, cookie: `session=${token}` } }
    const uses = await Promise.all([use({ counter: 11 }), use({ counter: 11 }, elsewhere)])
    expect(uses.sort()).toEqual(['accepted', 'passkey_refused'])
    await told(3)
    const logs = await console.app.db.selectFrom('logs').select('content').where('user_id', '=', owner.id).execute()
    expect(logs.filter(({ content }) => content.includes('may have been copied'))).toHaveLength(2)
  })

  it('covers added and removed passkeys, in the language of the account', async () => {
    const setting = JSON.stringify({ language: 'zh' })
    await console.app.db.updateTable('users').set({ setting }).where('id', '=', owner.id).execute()
    const options = await call('POST /api/user/passkey/options')
    const device = newAuthenticator({ origin: `https://${site}`, site })
    const passkey = await call('POST /api/user/passkey', { name: '<Phone>', answer: device.create(options, {}) })
    expect(await told(1)).toContain('添加了通行密钥「<Phone>」')
    await call(`DELETE /api/user/passkey/${passkey.id}`)
    expect(await told(2)).toContain('删除了一个通行密钥')
  })

  it('covers unbound identities, and factors that an admin removed', async () => {
    const mine = `github-${owner.id}`
    await console.app.db.updateTable('users').set({ github_id: mine }).where('id', '=', owner.id).execute()
    await call('DELETE /api/user/binding/github')
    expect(await told(1)).toContain('the account at GitHub was unbound')
    const admin = await console.addUser(`admin${owner.id}`, { role: 10 })
    await call('POST /api/user/manage', { id: owner.id, action: 'reset_factors' }, { as: admin })
    expect(await told(2)).toContain('管理员清除了两步验证和通行密钥')
  })

  it('is mailed only to the address of the account, and a failed mail does not fail the change', async () => {
    const switchOn = async (as: Signed) => {
      const { secret } = await call('POST /api/user/two_factor', undefined, { as })
      await call('POST /api/user/two_factor/confirm', { code: codeOf(secret) }, { as })
    }
    const silent = await console.addUser(`silent${owners}`)
    await switchOn(silent)
    await console.app.options.save({ key: 'SMTPPort', value: '1', caller: root })
    await switchOn(owner)
    await console.app.options.save({ key: 'SMTPPort', value: String(smtp.port), caller: root })
    expect((await call('GET /api/user/security')).two_factor).toBe(true)
    expect(smtp.mails.filter(({ text }) => text.includes(silent.username))).toEqual([])
  })

  it('is not sent for failed changes', async () => {
    const before = smtp.mails.length
    await expect(unbindIdentity(console.app, { ...root, id: owner.id }, 'github')).rejects.toMatchObject({
      code: 'nothing_changed',
    })
    expect((await console.call('DELETE /api/user/two_factor', { as: owner })).json().success).toBe(false)
    expect(smtp.mails).toHaveLength(before)
  })
})
