import { isIPv4 } from 'node:net'
import type { Text } from '../../../contract/text.ts'
import { Semaphore } from '../../base/lib/collections/semaphore.ts'
import { AppError, fail } from '../../base/lib/failure.ts'
import { background } from '../../base/lib/log/logger.ts'
import type { Core } from '../../base/options/core.ts'

/**
 * Notices: mail through the operator's SMTP server (this file), webhooks (`webhook.ts`), and the texts of both. This folder does
 * not depend on users: its callers decide on recipients and permissions.
 */
export interface Mail {
  /** One address, checked by `accounts/email-address`. */
  readonly to: string
  readonly subject: string
  readonly text: string
  readonly html: string
}

const sendingMax = 4
const waitingMax = 200
const connectMs = 10_000
const idleMs = 15_000
/** Deadline of one mail in total, so that a server that answers one byte at a time cannot block longer. */
const deadlineMs = 30_000

export class Mailer {
  readonly #core: Pick<Core, 'options' | 'logger'>
  /** CA certificates that are trusted besides those of the system, or in their place; for tests that run their own server. */
  readonly #certificates: string | undefined
  readonly #semaphore = new Semaphore(sendingMax, waitingMax)
  readonly #ending = new AbortController()
  readonly #running = new Set<Promise<void>>()

  constructor(core: Pick<Core, 'options' | 'logger'>, { certificates }: { certificates?: string | undefined } = {}) {
    this.#core = core
    this.#certificates = certificates
  }

  /** Throws `mail_unconfigured` unless there is a server and a sender. */
  requireConfigured(): void {
    if (!this.isConfigured) fail('mail_unconfigured')
  }

  get isConfigured(): boolean {
    return this.#core.options.current.SMTPServer !== '' && this.#sender() !== ''
  }

  /**
   * Resolves when the server has accepted the mail. TLS is required except for a server on this machine, and its certificate is
   * verified. Throws `mail_unconfigured` or `mail_failed`; the server's reply is not passed on, since it may quote the mail or the
   * password.
   */
  async send(mail: Mail): Promise<void> {
    this.requireConfigured()
    const running = this.#semaphore.run(
      () => this.#deliver(mail),
      () => fail('too_many_requests'),
    )
    this.#running.add(running)
    return running.finally(() => this.#running.delete(running))
  }

  /** Sends in the background, so that response times do not reveal whether there was a mail. Failures are logged. */
  sendLater(mail: Mail): void {
    background(this.#core.logger, 'sending a mail', this.send(mail))
  }

  /** Waits a moment for mails in transit, then aborts them. */
  async close(graceMs = 2000): Promise<void> {
    const cut = setTimeout(() => this.#ending.abort(), graceMs)
    await Promise.allSettled(this.#running)
    clearTimeout(cut)
  }

  async #deliver({ to, subject, text, html }: Mail): Promise<void> {
    // The library reads a text with commas or semicolons as several addresses.
    if (!isOneAddress(to)) throw failureOf({ code: 'EENVELOPE' })
    const { createTransport } = await import('nodemailer')
    const address = this.#sender()
    const transport = createTransport(this.#server())
    try {
      await transport.sendMail({
        from: { name: this.#core.options.current.SystemName, address },
        to: { name: '', address: to },
        envelope: { from: address, to: [to] },
        subject,
        text,
        html,
        headers: { 'Auto-Submitted': 'auto-generated' },
        signal: AbortSignal.any([AbortSignal.timeout(deadlineMs), this.#ending.signal]),
      })
    } catch (error) {
      throw failureOf(error)
    } finally {
      transport.close()
    }
  }

  #server() {
    const { SMTPServer: host, SMTPPort: port, SMTPSSLEnabled, SMTPAccount: user, SMTPToken: pass } = this.#core.options.current
    return {
      host,
      port,
      secure: SMTPSSLEnabled || port === 465,
      requireTLS: !isThisMachine(host),
      ...(pass === '' ? {} : { auth: { user, pass } }),
      tls: { minVersion: 'TLSv1.2', ...(this.#certificates ? { ca: this.#certificates } : {}) } as const,
      // The name in the SMTP greeting: the domain of the sender, not the name of this machine.
      name: this.#sender().split('@')[1] ?? 'localhost',
      connectionTimeout: connectMs,
      greetingTimeout: connectMs,
      dnsTimeout: connectMs,
      socketTimeout: idleMs,
      disableFileAccess: true,
      disableUrlAccess: true,
    }
  }

  #sender(): string {
    const { SMTPFrom, SMTPAccount } = this.#core.options.current
    const sender = SMTPFrom === '' ? SMTPAccount : SMTPFrom
    return isOneAddress(sender) ? sender : ''
  }
}

function isOneAddress(text: string): boolean {
  return /^[^\s@<>()",:;\\]+@[^\s@<>()"',:;\\]+$/.test(text)
}

function isThisMachine(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIPv4(host) && host.startsWith('127.'))
}

const reasons: Readonly<Record<string, Text>> = {
  EDNS: { zh: '找不到邮件服务器', en: 'the mail server was not found' },
  ECONNECTION: { zh: '无法连接邮件服务器', en: 'the mail server could not be reached' },
  ESOCKET: {
    zh: '无法连接邮件服务器，或其证书不受信任',
    en: 'the mail server could not be reached, or its certificate is not trusted',
  },
  ETLS: { zh: '邮件服务器不支持 TLS，或其证书不受信任', en: 'the mail server has no TLS, or its certificate is not trusted' },
  ETIMEDOUT: { zh: '邮件服务器响应超时', en: 'the mail server did not answer in time' },
  EABORT: { zh: '邮件服务器响应超时', en: 'the mail server did not answer in time' },
  EAUTH: { zh: '邮件服务器拒绝了登录', en: 'the mail server refused the login' },
  ENOAUTH: { zh: '邮件服务器要求登录', en: 'the mail server wants a login' },
  EENVELOPE: { zh: '邮件服务器拒绝了发件人或收件人', en: 'the mail server refused the sender or the recipient' },
}

const unknown: Text = { zh: '邮件服务器拒绝了该邮件', en: 'the mail server refused the mail' }

/** Contains only codes and numbers: a careless server repeats the password in its refusal. */
function failureOf(error: unknown): AppError {
  const { code, responseCode, command }: Readonly<Record<string, unknown>> = Object(error)
  const detail = { code, responseCode, command }
  return new AppError('mail_failed', { reason: reasons[String(code)] ?? unknown }, { detail })
}
