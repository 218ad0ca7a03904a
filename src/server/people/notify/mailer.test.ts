import { afterEach, describe, expect, it } from 'vitest'
import { testCertificate } from '../../../../test/helpers/certificate.ts'
import { testLogger } from '../../../../test/helpers/logger.ts'
import { type SmtpSettings, startSmtpServer } from '../../../../test/helpers/smtp-server.ts'
import { defaults } from '../../../contract/options/defaults.ts'
import type { OptionValues } from '../../../contract/options/index.ts'
import { AppError } from '../../base/lib/failure.ts'
import { Mailer } from './mailer.ts'
import { mails, writeMail } from './mails.ts'

const login = { user: 'robot@site.test', password: 'canary-Pa55' }
const cleanups: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

async function setUp(settings: SmtpSettings = {}, values: Partial<OptionValues> = {}, trusting = true) {
  const server = await startSmtpServer(settings)
  const logged: string[] = []
  const logger = testLogger('trace', (line) => void logged.push(line))
  const set = { SMTPServer: '127.0.0.1', SMTPPort: server.port, SMTPAccount: login.user, SystemName: 'Sluice 水闸' }
  const current = { ...defaults, ...set, ...(settings.login ? { SMTPToken: login.password } : {}), ...values }
  // Only `current` is read.
  const core = { options: { current }, logger } as unknown as ConstructorParameters<typeof Mailer>[0]
  const mailer = new Mailer(core, trusting ? { certificates: testCertificate } : {})
  cleanups.push(async () => {
    await mailer.close(0)
    await server.stop()
  })
  return { server, mailer, logged }
}

const hello = { to: 'ada@example.com', subject: '验证码 code', text: '你好, 123456', html: '<p>你好, 123456</p>' }
const codeOf = (promise: Promise<void>) =>
  promise.then(
    () => 'sent',
    (error: unknown) => (error instanceof AppError ? error.code : String(error)),
  )

describe('mail', () => {
  it('[T011] is sent to one recipient over the TLS that the server offers, with text and HTML in any language', async () => {
    const { server, mailer } = await setUp({ login })
    await mailer.send(hello)
    const [mail] = server.mails
    expect(mail).toMatchObject({ from: login.user, recipients: ['ada@example.com'], secure: true })
    expect(mail?.headers.get('from')).toBe(`Sluice 水闸 <${login.user}>`)
    expect([mail?.headers.get('to'), mail?.headers.get('subject')]).toEqual(['ada@example.com', '验证码 code'])
    expect(mail?.text).toContain('你好, 123456')
    expect(mail?.text).toContain('<p>你好, 123456</p>')
    expect(server.logins).toEqual([login])
    expect(server.plainLines.join(' ')).toMatch(/^EHLO site\.test STARTTLS$/i)
  })

  it.each([
    ['TLS from the first byte', { security: 'tls', login } as const, { SMTPSSLEnabled: true }],
    ['AUTH LOGIN, where nothing else is offered', { login, methods: 'LOGIN' } as const, {}],
    ['no login, where there is no password', {} as const, { SMTPFrom: 'no-reply@site.test', SMTPAccount: '' }],
    ['a server on this machine without TLS', { security: 'none' } as const, {}],
  ])('is sent with %s', async (_what, settings, values) => {
    const { server, mailer } = await setUp(settings, values)
    await mailer.send(hello)
    expect(server.mails).toHaveLength(1)
  })

  it.each([
    ['a certificate that nobody signed', { login } as const, {}, false],
    ['TLS from the first byte with such a certificate', { security: 'tls', login } as const, { SMTPSSLEnabled: true }, false],
    // 0.0.0.0 leads to this machine, but is not recognised as local.
    ['another machine without TLS', { security: 'none', login } as const, { SMTPServer: '0.0.0.0' }, true],
    ['another name than the certificate has', { login } as const, { SMTPServer: '127.0.0.2' }, true],
  ])('is not sent to %s, and neither is the password', async (_what, settings, values, trusting) => {
    const { server, mailer } = await setUp(settings, values, trusting)
    expect(await codeOf(mailer.send(hello))).toBe('mail_failed')
    expect([server.mails, server.logins]).toEqual([[], []])
  })

  it.each([
    ['a server that never greets', { fault: 'silent' } as const],
    ['a server that stops answering', { fault: 'stalled' } as const],
  ])('to %s is aborted when the process ends', async (_what, settings) => {
    const { mailer } = await setUp(settings)
    const sending = codeOf(mailer.send(hello))
    await mailer.close(50)
    expect(await sending).toBe('mail_failed')
  })

  it("reports why it was refused, without the server's text", async () => {
    const { mailer, logged } = await setUp({ login }, { SMTPToken: 'canary-wrong' })
    const failure: unknown = await mailer.send(hello).catch((error) => error)
    expect(failure).toMatchObject({ code: 'mail_failed', detail: { code: 'EAUTH', responseCode: 535 } })
    expect(failure instanceof AppError && failure.text('en')).toContain('refused the login')
    mailer.sendLater(hello)
    await mailer.close()
    await new Promise((resolve) => setImmediate(resolve))
    expect(logged.join('')).toContain('EAUTH')
    expect(JSON.stringify([logged, String(failure), failure])).not.toContain('canary')

    const { mailer: strict } = await setUp({ fault: 'refusing' })
    const refused: unknown = await strict.send(hello).catch((error) => error)
    expect(refused instanceof AppError && refused.text('zh')).toContain('拒绝了发件人或收件人')
  })

  it.each(['x@y.test\r\nBcc: evil@y.test', 'a@x.test, b@y.test', '"x@evil.test" <y@ok.test>', 'a@x.test;b@y.test'])(
    'to %j, which is not one address, is refused without a connection',
    async (to) => {
      const { server, mailer } = await setUp()
      expect(await codeOf(mailer.send({ ...hello, to }))).toBe('mail_failed')
      expect(server.mails).toEqual([])
    },
  )

  it('is refused while there is no server or no sender', async () => {
    for (const values of [{ SMTPServer: '' }, { SMTPAccount: '' }, { SMTPAccount: 'robot', SMTPFrom: '' }]) {
      const { mailer } = await setUp({}, values)
      expect(await codeOf(mailer.send(hello))).toBe('mail_unconfigured')
    }
  })

  it.each(Object.keys(mails) as (keyof typeof mails)[])('%s fills every placeholder and escapes the values', (kind) => {
    const params = {
      site: '<Site>',
      username: '<img>',
      minutes: 3,
      left: '$1',
      threshold: '$2',
      channel: '<img>',
      name: '<img>',
      id: 7,
      count: 5,
      reason: '$3',
      change: '<img>',
      subject: '<img>',
      budget: '<img>',
      share: 80,
      spent: '$4',
      amount: '$5',
      effect: '<img>',
      inviter: '<img>',
      organisation: '<img>',
      member: '<img>',
      days: 7,
    }
    for (const language of ['zh', 'en'] as const) {
      const mail = writeMail(kind, { to: 'a@b.test', language, params, code: '<c>', link: 'https://x.test/?a=1&b="' })
      expect([mail.subject, mail.text, mail.html].join(' ')).not.toMatch(/\{\w+\}/)
      expect(mail.html).not.toMatch(/<img>|<Site>|<c>|b="(?!")"/)
      expect(mail.html).toContain('&lt;Site&gt;')
    }
  })
})
