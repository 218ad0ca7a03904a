import { sql } from 'kysely'
import { describe, expect, it, onTestFinished } from 'vitest'
import { allOptions, type OptionKey } from '../src/contract/options/index.ts'
import { periodAt, totpCode } from '../src/server/base/lib/secrets/totp.ts'
import { mailOptions } from './helpers/accounts.ts'
import { rootPassword, serverOfTest } from './helpers/app.ts'
import { testCertificate } from './helpers/certificate.ts'
import { newClock } from './helpers/clock.ts'
import { testMasterKey } from './helpers/core.ts'
import { startIdentityProviders, type Trouble } from './helpers/identity-providers.ts'
import { testLogger } from './helpers/logger.ts'
import { startSmtpServer } from './helpers/smtp-server.ts'
import { startStripe } from './helpers/stripe-server.ts'

/**
 * T237: one run through every secret except those of the relay, which has a separate test. Everything succeeds once and fails at
 * least once; the log is at its most verbose level. No secret may be found in it, in a refusal or in the metrics.
 */
describe('canaries in place of every secret', () => {
  // Over PostgreSQL, whose errors contain values.
  it('[T237] reach no log, no error and no metric', async () => {
    const smtp = await startSmtpServer({ login: { user: 'robot@site.test', password: 'canary-SMTPToken' } })
    const peers = await startIdentityProviders(Date.now)
    const stripe = await startStripe()
    onTestFinished(async () => {
      await smtp.stop()
      await peers.stop()
      await stripe.close()
    })
    const lines: string[] = []
    const clock = newClock(Date.now())
    const server = await serverOfTest('postgres', {
      now: () => clock.now(),
      logger: testLogger('trace', (line) => void lines.push(line)),
      env: { LOG_LEVEL: 'trace', TRUSTED_PROXIES: '127.0.0.1' },
      mailCertificates: testCertificate,
      identityProviders: { endpoints: peers.addresses, timeoutMs: 300 },
      stripeAddress: stripe.url,
    })

    const secrets = new Map([
      ['master key', testMasterKey.toString('base64')],
      ['password of root', rootPassword],
    ])
    const keep = (name: string, secret: string | undefined): string => {
      if (!secret || secret.length < 6) throw new Error(`no secret ${name}: ${secret}`)
      secrets.set(name, secret)
      return secret
    }
    const refusals: string[] = []
    let calls = 0
    /** From a separate client each time: client limits are tested elsewhere. */
    const send = async (line: string, body?: unknown, headers: Record<string, string> = {}) => {
      const [method = 'GET', path = ''] = line.split(' ')
      const response = await fetch(server.url + path, {
        method,
        headers: {
          'x-forwarded-for': `198.18.0.${++calls}`,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      const text = await response.text()
      const json = text.startsWith('{') ? JSON.parse(text) : {}
      if (json.success !== true)
        refusals.push(`${text} ${JSON.stringify([...response.headers].filter(([name]) => name !== 'set-cookie'))}`)
      const cookie = response.headers.getSetCookie().map((one) => one.split(';', 1)[0] ?? '')
      for (const [name, secret] of cookie.map((one) => one.split('=')))
        if (name && secret) secrets.set(`${name} ${calls}`, secret)
      return { ...json, status: response.status, cookie: cookie.join('; ') } as {
        success?: boolean
        data?: never
        status: number
        cookie: string
      }
    }
    const good = async (...call: Parameters<typeof send>) => {
      const answer = await send(...call)
      expect(answer.success, `${call[0]} ${refusals.at(-1)}`).toBe(true)
      return answer
    }
    const bad = async (...call: Parameters<typeof send>) => expect((await send(...call)).success, call[0]).not.toBe(true)

    // Settings: each secret is saved, and refused once.
    const root = `session=${await server.app.sessions.create({ userId: 1, address: '127.0.0.1', userAgent: 'test' })}`
    keep('session of root', root.slice('session='.length))
    const asRoot = { cookie: root, 'new-api-user': '1' }
    const save = (key: string, value: string) => good('PUT /api/option/', { key, value }, asRoot)
    const settings = {
      ...mailOptions(smtp),
      GitHubClientId: 'github',
      WeChatServerAddress: peers.url,
      PayAddress: peers.url,
      EpayId: '1001',
    }
    for (const [key, value] of Object.entries(settings)) await save(key, value ?? '')
    // The declarations are walked by their keys.
    const keys = (Object.keys(allOptions) as OptionKey[]).filter((key) => 'secret' in allOptions[key])
    for (const key of keys) {
      await save(key, keep(key, `canary-${key}`))
      await bad('PUT /api/option/', { key, value: `canary-${key}`.repeat(20_000) }, asRoot)
    }
    for (const key of ['EmailVerificationEnabled', 'GitHubOAuthEnabled', 'WeChatAuthEnabled']) await save(key, 'true')

    // An account: a mailed code, passwords, a session, a second factor, a mailed link, an access token, a webhook.
    const email = 'ada@example.com'
    await good('POST /api/verification', { email })
    const code = keep('mailed code', /\b\d{6}\b/.exec((await smtp.mailTo(email)).text)?.[0])
    const password = keep('password', 'canary-password-1')
    const form = { username: 'ada', password, password2: password, email, aff_code: '' }
    await bad('POST /api/user/register', { ...form, verification_code: '000000' })
    await good('POST /api/user/register', { ...form, verification_code: code })
    await bad('POST /api/user/register', { ...form, verification_code: code })
    await bad('POST /api/user/login', { username: 'ada', password: keep('wrong password', 'canary-wrong-password') })
    const { cookie, data: ada } = await good('POST /api/user/login', { username: 'ada', password })
    const asAda = { cookie, 'new-api-user': String((ada as unknown as { id: number }).id) }
    await bad('GET /api/user/self', undefined, { cookie: `${cookie}x`, 'new-api-user': '2' })
    await bad(
      'PUT /api/user/self',
      { original_password: 'canary-wrong-password', password: keep('new password', 'canary-short') },
      asAda,
    )
    const access = keep('access token', (await good('POST /api/user/token', undefined, asAda)).data)
    await bad('GET /api/user/self', undefined, { authorization: `Bearer ${access}x`, 'new-api-user': '2' })
    const webhook = {
      notify_type: 'webhook',
      webhook_url: 'https://127.0.0.1/',
      webhook_secret: keep('webhook secret', 'canary-webhook'),
    }
    await good('PUT /api/user/setting', webhook, asAda)
    await bad('POST /api/user/setting/test', undefined, asAda)
    const factor = (await good('POST /api/user/two_factor', undefined, asAda)).data as unknown as { secret: string }
    keep('second factor', factor.secret)
    await bad('POST /api/user/two_factor/confirm', { code: keep('wrong second code', '135791') }, asAda)
    const second = totpCode(factor.secret, periodAt(clock.now() / 1000))
    const backup = (await good('POST /api/user/two_factor/confirm', { code: second }, asAda)).data as unknown as string[]
    for (const one of backup) keep(one, one)
    const half = await send('POST /api/user/login', { username: 'ada', password })
    await bad('POST /api/user/login/second', { code: `${backup[0]}x` }, { cookie: half.cookie })
    await good('POST /api/user/login/second', { code: backup[0] }, { cookie: half.cookie })
    // Mails to one address are limited by time.
    clock.passSeconds(60)
    await good('POST /api/reset_password', { email })
    const linkIn = () => /\/user\/reset\?\S*token=([\w-]+)/.exec(smtp.mails.map(({ text }) => text).join('\n'))?.[1]
    await expect.poll(linkIn).toBeDefined()
    const token = keep('token of a link', linkIn())
    await bad('POST /api/user/reset', { email, token: `${token}x` })
    keep('password of a reset', (await good('POST /api/user/reset', { email, token })).data)
    await bad('POST /api/user/reset', { email, token })

    // Accounts elsewhere: codes and states, in bodies and addresses, with providers that fail.
    for (const trouble of [undefined, 'failing', 'html'] as (Trouble | undefined)[]) {
      peers.trouble = trouble
      const begun = await good('POST /api/oauth/state', { provider: 'github', aff: '' })
      const { state } = begun.data as unknown as { state: string }
      keep(`state ${trouble}`, state)
      const back = { code: keep(`code ${trouble}`, `canary-code-${trouble}`), state }
      await bad(`GET /api/oauth/github?${new URLSearchParams(back)}`, undefined, { cookie: begun.cookie })
      await bad('POST /api/oauth/github', back, { cookie: begun.cookie })
      await bad(`GET /api/oauth/wechat?${new URLSearchParams({ code: back.code })}`)
    }
    peers.trouble = undefined

    // Money: codes, orders with keys that their gateway refuses, reports that are signed wrongly.
    const codes = (await good('POST /api/redemption/', { name: 'x', quota: 1, count: 1 }, asRoot)).data as unknown as string[]
    const redemption = keep('redemption code', codes[0])
    await bad('POST /api/user/topup', { key: `${redemption.slice(0, -1)}z` }, asRoot)
    await good('POST /api/user/topup', { key: redemption }, asRoot)
    await bad('POST /api/user/topup', { key: redemption }, asRoot)
    await bad('POST /api/user/pay', { amount: 10, top_up_code: '', payment_method: 'stripe' }, asRoot)
    await send('POST /api/user/pay', { amount: 10, top_up_code: '', payment_method: 'wx' }, asRoot)
    const sign = keep('signature', 'canarysignaturecanarysignature00')
    await bad(`GET /api/user/epay/notify?${new URLSearchParams({ pid: '1001', out_trade_no: 'x', sign, sign_type: 'MD5' })}`)
    await bad('POST /api/stripe/webhook', { id: 'x' }, { 'stripe-signature': `t=1,v1=${sign}` })

    // Keys of the relay, in every place where callers put them.
    const own = (await good('POST /api/token/', { name: 'x', unlimited_quota: true }, asRoot)).data as unknown as { key: string }
    for (const key of [keep('key', own.key), keep('wrong key', `${own.key.slice(0, -6)}canary`)]) {
      const places: Record<string, string>[] = [
        { authorization: `Bearer sk-${key}` },
        { 'x-api-key': `sk-${key}` },
        { 'x-goog-api-key': key },
      ]
      for (const headers of places)
        for (const path of ['/v1/models', '/v1beta/models', '/api/log/token']) await send(`GET ${path}`, undefined, headers)
      for (const path of [`/v1beta/models?key=sk-${key}`, `/api/log/token?key=sk-${key}`, `/v1/unknown?key=${key}`])
        await send(`GET ${path}`)
      await bad('POST /v1/chat/completions', { model: 'none', messages: [] }, { authorization: `Bearer sk-${key}` })
    }
    // Including unexpected failures.
    await sql`alter table redemptions rename to gone`.execute(server.app.db)
    expect((await send('POST /api/user/topup', { key: redemption }, asRoot)).status).toBe(500)
    const metrics = await (await fetch(`${server.url}/metrics`)).text()

    expect(lines.length).toBeGreaterThan(10)
    expect(refusals.length).toBeGreaterThan(40)
    expect(metrics).toContain('# TYPE')
    for (const [name, secret] of secrets) {
      for (const [where, texts] of Object.entries({ lines, refusals, metrics: [metrics] }))
        expect(
          texts.filter((text) => text.includes(secret)),
          `${name} in ${where}`,
        ).toEqual([])
    }
  })
})
