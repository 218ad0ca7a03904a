import { once } from 'node:events'
import { connect } from 'node:net'
import { networkInterfaces } from 'node:os'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { mailOptions } from './helpers/accounts.ts'
import { startServer, type TestServer } from './helpers/app.ts'
import { testCertificate } from './helpers/certificate.ts'
import { hasNginx, startNginx } from './helpers/nginx.ts'
import type { RunningProxy } from './helpers/proxy-process.ts'
import { addToken, setOptions } from './helpers/seed.ts'
import { type SmtpServer, startSmtpServer } from './helpers/smtp-server.ts'

/** The client address and the host name, behind a proxy and without one. */

const proxyAddress = '127.0.0.9'
/** With IPv6, IPv4 clients have mapped addresses. */
const HOST = Object.values(networkInterfaces()).some((all) => all?.some(({ family }) => family === 'IPv6')) ? '::' : '0.0.0.0'

let server: TestServer
let smtp: SmtpServer
let nginx: RunningProxy | undefined
beforeAll(async () => {
  ;[server, smtp] = await Promise.all([
    startServer('sqlite', { env: { HOST, TRUSTED_PROXIES: proxyAddress }, mailCertificates: testCertificate }),
    startSmtpServer(),
  ])
  await setOptions(server, { ...mailOptions(smtp), ServerAddress: 'https://site.test' })
  nginx = hasNginx ? await startNginx(server.url, { more: `proxy_bind ${proxyAddress};` }) : undefined
})
afterAll(async () => {
  await nginx?.stop()
  await server.stop()
  await smtp.stop()
})

/** Sends a request with exactly these header lines, from an address of this machine. */
async function send(url: string, { from, head, body = '' }: { from: string; head: readonly string[]; body?: string }) {
  const { hostname, port } = new URL(url)
  const socket = connect({ port: Number(port), host: hostname, localAddress: from })
  const more = body === '' ? [] : ['content-type: application/json', `content-length: ${Buffer.byteLength(body)}`]
  socket.write(`${[...head, ...more, 'connection: close'].join('\r\n')}\r\n\r\n${body}`)
  let answer = ''
  socket.setEncoding('utf8').on('data', (text: string) => (answer += text))
  await once(socket, 'close')
  return { status: Number(answer.split(' ')[1]), text: answer }
}

const ways = ['past the proxy', ...(hasNginx ? (['through nginx'] as const) : [])] as const
const urlOf = (way: (typeof ways)[number]) => (way === 'through nginx' ? (nginx?.url ?? '') : server.url)

describe.each(ways)('%s', (way) => {
  it('[T059] decides an address-limited key by the real peer, for any header', async () => {
    const here = '127.0.0.5'
    const { key } = await addToken(server, { allow_ips: here })
    const status = async (from: string, headers: readonly string[] = []) => {
      const head = ['GET /v1/models HTTP/1.1', 'host: site.test', `authorization: Bearer ${key}`, ...headers]
      return (await send(urlOf(way), { from, head })).status
    }
    const claims = (address: string) => [
      [],
      [`x-forwarded-for: ${address}`],
      [`x-forwarded-for: ${address}, ${proxyAddress}`],
      [`x-forwarded-for: ${address}`, `x-forwarded-for: ${address}`],
      [`x-forwarded-for: ::ffff:${address}`],
      [`X-FORWARDED-FOR: "${address}"`],
      [`forwarded: for=${address}`, `x-real-ip: ${address}`],
      [`x-real-ip: ${address}`, `x-client-ip: ${address}`, `true-client-ip: ${address}`, `cf-connecting-ip: ${address}`],
    ]
    for (const headers of claims(here)) expect([headers, await status('127.0.0.6', headers)]).toEqual([headers, 403])
    for (const headers of claims('127.0.0.6')) expect([headers, await status(here, headers)]).toEqual([headers, 200])
  })

  it('[T016] uses only the saved address in mails and redirects, for any name, header or target', async () => {
    const email = `ada@${way.replaceAll(' ', '-')}.example`
    await server.app.db.updateTable('users').set({ email }).where('id', '=', 1).execute()
    await setOptions(server, {
      GitHubClientId: 'client',
      GitHubClientSecret: 'secret',
      GitHubOAuthEnabled: 'true',
    })
    const hosts = ['host: evil.test', 'x-forwarded-host: evil.test', 'forwarded: host=evil.test', 'x-original-host: evil.test']
    const ask = (target: string, body: object) =>
      send(urlOf(way), { from: '127.0.0.1', head: [`POST ${target} HTTP/1.1`, ...hosts], body: JSON.stringify(body) })

    // Nginx converts a target in absolute form to a path; this server refuses such a target.
    const isPath = way === 'through nginx'
    const absolute = await ask('http://evil.test/api/reset_password', { email })
    expect(absolute.status).toBe(isPath ? 200 : 404)
    if (!isPath) expect((await ask('/api/reset_password', { email })).status).toBe(200)
    const { text } = await smtp.mailTo(email)
    expect([text.includes('https://site.test/user/reset?'), text.includes('evil')]).toEqual([true, false])

    for (const origin of isPath ? ['', 'http://evil.test'] : ['']) {
      const visit = await ask(`${origin}/api/oauth/state`, { provider: 'github', aff: '' })
      const saved = encodeURIComponent('https://site.test/oauth/github')
      expect([visit.text.includes(saved), visit.text.includes('evil')]).toEqual([true, false])
    }
  })
})
