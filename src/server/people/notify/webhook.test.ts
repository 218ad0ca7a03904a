import { createHmac } from 'node:crypto'
import http, { type IncomingHttpHeaders, type RequestListener } from 'node:http'
import https from 'node:https'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { testCertificate as cert, testKey as key } from '../../../../test/helpers/certificate.ts'
import { defaults } from '../../../contract/options/defaults.ts'
import type { OptionValues } from '../../../contract/options/index.ts'
import { publicInternet, UpstreamAgents } from '../../base/lib/net/http-client.ts'
import { activeMs } from '../../base/lib/time/active-time.ts'
import { callWebhook } from './webhook.ts'

interface Call {
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** In place of a status: no response, or a response without an end. */
const [silent, endless] = [1, 2]

const notice = { type: 'quota_exceed', title: '额度不足', content: '剩余 $0.10', values: ['$0.10', 7] }
const cleanups: (() => Promise<unknown>)[] = []
afterEach(async () => {
  vi.useRealTimers()
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

/** A receiver that answers the calls with these statuses, one after the other, and then with the last. */
async function receiver(statuses: readonly number[] = [200], secure = true) {
  const calls: Call[] = []
  const listener: RequestListener = (request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (chunk: string) => (body += chunk))
    request.on('end', () => {
      calls.push({ headers: request.headers, body })
      const status = statuses[Math.min(calls.length, statuses.length) - 1] ?? 200
      if (status === 0) request.socket.destroy()
      else if (status === silent) return
      else if (status === endless) response.writeHead(200).end(Buffer.alloc(1_000_000))
      else response.writeHead(status, { location: 'https://elsewhere.test/' }).end('ok')
    })
  }
  const server = secure ? https.createServer({ cert, key }, listener) : http.createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  cleanups.push(() => new Promise((resolve) => server.close(resolve)))
  // A server that listens on a port has an address of this type.
  const { port } = server.address() as AddressInfo
  return { calls, port, url: `${secure ? 'https' : 'http'}://mail.test:${port}/hook` }
}

/** Resolves every name to loopback, which counts as public. */
function parts(values: Partial<OptionValues> = {}, isPublic = true) {
  const toLoopback = async () => [{ address: '127.0.0.1', family: 4 }]
  const untrusted = {
    ...publicInternet(),
    resolve: toLoopback,
    certificates: cert,
    ...(isPublic ? { allows: () => true, allowsPort: () => true } : {}),
  }
  const upstream = new UpstreamAgents({ untrusted })
  cleanups.push(() => upstream.close())
  // Only these are read.
  return { upstream, now: () => 1_700_000_000_999, options: { current: { ...defaults, ...values } } } as never
}

const codeOf = (promise: Promise<void>) => promise.then(() => 'sent', (error) => `${error.code}: ${error.text('en')}`) // biome-ignore format: one thought

/** Advances the fake timers until the promise is settled. */
async function hurried(promise: Promise<void>): Promise<string> {
  let ended = false
  const code = codeOf(promise).finally(() => {
    ended = true
  })
  while (!ended) {
    await new Promise((resolve) => setImmediate(resolve))
    await vi.advanceTimersByTimeAsync(100)
    // Updates the active clock, whose interval is not faked.
    activeMs()
  }
  return code
}

describe('a webhook', () => {
  it('[T204] is signed JSON with the time and a unique id', async () => {
    const { calls, url } = await receiver()
    await callWebhook(parts(), { webhook: { url, secret: 'canary' }, notice })
    await callWebhook(parts(), { webhook: { url, secret: '' }, notice })
    const [signed, unsigned] = calls
    expect(JSON.parse(signed?.body ?? '')).toEqual({ ...notice, timestamp: 1_700_000_000 })
    const expected = createHmac('sha256', 'canary')
      .update(signed?.body ?? '')
      .digest('hex')
    expect(signed?.headers['x-webhook-signature']).toBe(expected)
    expect(signed?.headers['content-type']).toBe('application/json')
    expect(unsigned?.headers['x-webhook-signature']).toBeUndefined()
    expect(signed?.headers['x-webhook-id']).not.toBe(unsigned?.headers['x-webhook-id'])
    expect(JSON.stringify(calls)).not.toContain('canary')
  })

  it('[T204] is called again while it fails, at most three times, under one id', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const { calls, url } = await receiver([503, 0, 200])
    expect(await hurried(callWebhook(parts(), { webhook: { url, secret: 's' }, notice }))).toBe('sent')
    expect(new Set(calls.map(({ headers, body }) => `${headers['x-webhook-id']} ${body}`)).size).toBe(1)
    expect(calls).toHaveLength(3)

    const broken = await receiver([500])
    const failed = await hurried(callWebhook(parts(), { webhook: { url: broken.url, secret: 's' }, notice }))
    expect(failed).toBe('webhook_failed: The notice could not be sent: it answered with status 500')
    expect(broken.calls).toHaveLength(3)
  })

  it('[T204] has five seconds for each try, and its reply is read up to a limit', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] })
    const mute = await receiver([silent])
    const startedAt = Date.now()
    expect(await hurried(callWebhook(parts(), { webhook: { url: mute.url, secret: '' }, notice }))).toContain('webhook_failed')
    expect(mute.calls).toHaveLength(3)
    expect(Date.now() - startedAt).toBeGreaterThanOrEqual(15_000)
    expect(Date.now() - startedAt).toBeLessThan(60_000)

    const long = await receiver([endless])
    expect(await hurried(callWebhook(parts(), { webhook: { url: long.url, secret: '' }, notice }))).toContain('webhook_failed')
    expect(long.calls).toHaveLength(1)
  })

  it.each([302, 400, 401, 404])('is not called again after %i, nor redirected', async (status) => {
    const { calls, url } = await receiver([status])
    expect(await codeOf(callWebhook(parts(), { webhook: { url, secret: '' }, notice }))).toContain(`status ${status}`)
    expect(calls).toHaveLength(1)
  })

  it('is aborted at once when the process ends', async () => {
    const { calls, url } = await receiver([500])
    const ending = new AbortController()
    const sending = codeOf(callWebhook(parts(), { webhook: { url, secret: '' }, notice, signal: ending.signal }))
    await expect.poll(() => calls.length).toBe(1)
    ending.abort()
    expect(await sending).toContain('webhook_failed')
  })

  it('[T087] [T192] is never called over plain http or at a private address', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const plain = await receiver([200], false)
    const inner = await receiver()
    const urls = [
      plain.url,
      inner.url,
      inner.url.replace('mail.test', '127.0.0.1'),
      'https://169.254.169.254/',
      'https://[::1]/',
      'x',
    ]
    for (const url of urls) {
      expect(await hurried(callWebhook(parts({}, false), { webhook: { url, secret: '' }, notice }))).toContain('webhook_failed')
    }
    expect([plain.calls, inner.calls]).toEqual([[], []])
  })

  it('is called by the worker if one is configured', async () => {
    const { calls, port } = await receiver([200], false)
    const using = parts({ WorkerUrl: `http://127.0.0.1:${port}`, WorkerValidKey: 'worker-key' })
    await callWebhook(using, { webhook: { url: 'https://user.test/hook', secret: 'canary' }, notice })
    const errand = JSON.parse(calls[0]?.body ?? '')
    expect(errand).toMatchObject({ url: 'https://user.test/hook', key: 'worker-key', method: 'POST', body: notice })
    const signature = createHmac('sha256', 'canary').update(JSON.stringify(errand.body)).digest('hex')
    expect(errand.headers['x-webhook-signature']).toBe(signature)
    expect(await codeOf(callWebhook(using, { webhook: { url: 'http://user.test/', secret: '' }, notice }))).toContain('invalid')
    expect(calls).toHaveLength(1)
  })
})
