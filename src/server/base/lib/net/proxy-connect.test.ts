import { createServer, type RequestListener } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { type AddressInfo, createConnection, type Server } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { testCertificate, testKey } from '../../../../../test/helpers/certificate.ts'
import { authority, certificates, leafKey } from '../../../../../test/helpers/certificates-of-upstreams.ts'
import { type ConnectProxy, connectProxy } from '../../../../../test/helpers/connect-proxy.ts'
import { freePort } from '../../../../../test/helpers/free-port.ts'
import { environmentProxy } from './environment-proxy.ts'
import { callConfigured, fetchUntrusted, UpstreamAgents, type UpstreamSettings } from './http-client.ts'
import { isPublicAddress } from './outgoing-url.ts'
import { proxyFailureIn } from './proxy-connect.ts'
import type { UpstreamPool } from './upstream-http/pool.ts'

const limits = { timeoutMs: 5000, sizeBytesMax: 1000 }
const publicAddress = '203.0.114.7'

async function listening(server: Server & { closeAllConnections(): void }): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  // A listening TCP server has an address with a port.
  return (server.address() as AddressInfo).port
}

const hello: RequestListener = ({ headers }, response) => void response.end(`hello ${headers.host}`)
const plainSite = () => listening(createServer(hello))
const tlsSite = (cert: string = certificates.good) => listening(createTlsServer({ key: leafKey, cert }, hello))

/** Agents whose environment names these proxies. No name is looked up here unless the settings say how. */
function agentsBehind(
  proxies: { HTTPS_PROXY?: string; HTTP_PROXY?: string; NO_PROXY?: string },
  settings: UpstreamSettings = {},
) {
  const proxyOf = environmentProxy({ HTTPS_PROXY: '', HTTP_PROXY: '', NO_PROXY: '', ...proxies })
  const resolve = () => Promise.reject(new Error('not to be looked up here'))
  const agents = new UpstreamAgents({ proxyOf, resolve, certificates: authority, ...settings })
  onTestFinished(() => agents.close())
  return agents
}

/** The untrusted rules of the public internet, with names that have the given addresses. */
function internet(names: Readonly<Record<string, readonly string[]>>): Pick<UpstreamSettings, 'untrusted'> {
  return {
    untrusted: {
      allows: isPublicAddress,
      allowsPort: () => true,
      resolve: async (name) => (names[name] ?? []).map((address) => ({ address, family: 4 })),
      certificates: authority,
    },
  }
}

const textOf = async (call: Promise<{ body: Buffer }>) => String((await call).body)

/** The text of a small answer through a kept pool. */
function read(pool: UpstreamPool): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ''
    pool.dispatch(
      { method: 'GET', path: '/', headers: {} },
      {
        onRequestStart() {},
        onResponseStart() {},
        onResponseData(_controller, bytes) {
          text += bytes
        },
        // The connection becomes idle first.
        onResponseEnd: () => setImmediate(resolve, text),
        onResponseError: (_controller, error) => reject(error),
      },
    )
  })
}

const channelTo = (origin: string, proxy = '') => ({ id: 1, keyId: 1, origin, proxy, connectTimeoutMs: 5000 })
const targetsOf = ({ asked }: ConnectProxy) => asked.map(({ target }) => target)

it('connections to https and http addresses go through their proxy by name, with its login, and are kept', async () => {
  const [tls, plain] = await Promise.all([tlsSite(), plainSite()])
  const proxy = await connectProxy((target) => (target.endsWith(':443') ? tls : plain), { login: 'ann:p@ss' })
  const url = `http://ann:p%40ss@${proxy.host}`
  const agents = agentsBehind({ HTTPS_PROXY: url, HTTP_PROXY: url })
  for (let round = 0; round < 3; round++) {
    expect(await read(agents.for(channelTo('https://upstream.test')))).toBe('hello upstream.test')
    expect(await read(agents.for(channelTo('http://model.test:8080')))).toBe('hello model.test:8080')
  }
  const authorization = `Basic ${Buffer.from('ann:p@ss').toString('base64')}`
  expect(proxy.asked).toEqual([
    { target: 'upstream.test:443', authorization },
    { target: 'model.test:8080', authorization },
  ])
})

it('the certificate of an address behind a proxy is checked for its name', async () => {
  const site = await tlsSite(certificates.otherName)
  const proxy = await connectProxy(() => site)
  const call = callConfigured(agentsBehind({ HTTPS_PROXY: proxy.url }), { url: 'https://upstream.test/', ...limits })
  await expect(call).rejects.toMatchObject({ kind: 'unreachable', cause: { code: 'ERR_TLS_CERT_ALTNAME_INVALID' } })
})

it('a proxy is spoken to over TLS if its address says so', async () => {
  const site = await tlsSite()
  const inner = await connectProxy(() => site)
  const front = createTlsServer({ key: testKey, cert: testCertificate })
  front.on('connect', (request, socket) => {
    expect(request.url).toBe('upstream.test:443')
    const tunnel = createConnection(Number(inner.host.split(':')[1]), '127.0.0.1')
    tunnel.write(`CONNECT ${request.url} HTTP/1.1\r\nhost: x\r\n\r\n`)
    socket.on('error', () => {})
    tunnel.on('error', () => {})
    tunnel.pipe(socket).pipe(tunnel)
  })
  const port = await listening(front)
  const agents = agentsBehind(
    { HTTPS_PROXY: `https://localhost:${port}` },
    { certificates: `${authority}${testCertificate}`, resolve: async () => [{ address: '127.0.0.1', family: 4 }] },
  )
  expect(await textOf(callConfigured(agents, { url: 'https://upstream.test/', ...limits }))).toBe('hello upstream.test')
})

it('a proxy of a channel is used in place of that of the environment, and excepted hosts are reached directly', async () => {
  const site = await plainSite()
  const [proxy, own] = await Promise.all([connectProxy(() => site), connectProxy(() => site)])
  const agents = agentsBehind(
    { HTTP_PROXY: proxy.url, NO_PROXY: 'inner.test,10.0.0.0/8' },
    { resolve: async () => [{ address: '127.0.0.1', family: 4 }] },
  )
  expect(await read(agents.for(channelTo('http://model.test', own.url)))).toBe('hello model.test')
  expect(await read(agents.for(channelTo(`http://a.inner.test:${site}`)))).toBe(`hello a.inner.test:${site}`)
  expect(await read(agents.for(channelTo(`http://127.0.0.1:${site}`)))).toBe(`hello 127.0.0.1:${site}`)
  expect([targetsOf(own), targetsOf(proxy)]).toEqual([['model.test:80'], []])
})

it('[T202] for addresses of users and upstreams the proxy is asked for checked addresses alone, and TLS for the name', async () => {
  const site = await tlsSite()
  const proxy = await connectProxy(() => site)
  const names = {
    'upstream.test': ['10.0.0.1', publicAddress],
    'inner.test': ['10.0.0.1', '169.254.169.254'],
  }
  const agents = agentsBehind({ HTTPS_PROXY: proxy.url, HTTP_PROXY: proxy.url }, internet(names))
  expect(await textOf(fetchUntrusted(agents, { url: 'https://upstream.test/', ...limits }))).toBe('hello upstream.test')
  for (const url of [
    'https://inner.test/',
    'https://unknown.test/',
    'https://10.0.0.1/',
    'http://169.254.169.254/',
    'http://127.0.0.1/',
  ])
    await expect(fetchUntrusted(agents, { url, allowHttp: true, ...limits }), url).rejects.toMatchObject({ kind: 'unreachable' })
  expect(targetsOf(proxy)).toEqual([`${publicAddress}:443`])
})

it('[T202] a redirect of such an address is checked again', async () => {
  const site = await listening(
    createServer(({ headers }, response) => {
      response.writeHead(302, { location: headers.host === 'first.test' ? 'http://second.test/' : 'http://inner.test/' }).end()
    }),
  )
  const proxy = await connectProxy(() => site)
  const names = { 'first.test': [publicAddress], 'second.test': ['203.0.114.8'], 'inner.test': ['10.0.0.1'] }
  const agents = agentsBehind({ HTTP_PROXY: proxy.url }, internet(names))
  const call = fetchUntrusted(agents, { url: 'http://first.test/', allowHttp: true, ...limits })
  await expect(call).rejects.toMatchObject({ kind: 'unreachable', cause: { code: 'ADDRESS_REFUSED' } })
  expect(targetsOf(proxy)).toEqual([`${publicAddress}:80`, '203.0.114.8:80'])
})

it('[T200] where channels may not reach private addresses, the proxy is asked for checked addresses of their names', async () => {
  const site = await plainSite()
  const proxy = await connectProxy(() => site)
  const names: Readonly<Record<string, string>> = { 'model.test': publicAddress, 'inner.test': '192.168.0.1' }
  const resolve = async (name: string) => [{ address: names[name] ?? '', family: 4 }]
  const agents = agentsBehind({ HTTP_PROXY: proxy.url }, { blockPrivate: true, resolve })
  expect(await read(agents.for(channelTo('http://model.test')))).toBe('hello model.test')
  for (const origin of ['http://inner.test', 'http://192.168.0.1'])
    await expect(read(agents.for(channelTo(origin)))).rejects.toMatchObject({ code: 'ADDRESS_REFUSED' })
  expect(targetsOf(proxy)).toEqual([`${publicAddress}:80`])
})

it('another address of a name is tried when the proxy does not reach the first', async () => {
  const site = await plainSite()
  const proxy = await connectProxy((target) => (target.startsWith(publicAddress) ? 0 : site))
  const agents = agentsBehind({ HTTP_PROXY: proxy.url }, internet({ 'two.test': [publicAddress, '203.0.114.8'] }))
  expect(await textOf(fetchUntrusted(agents, { url: 'http://two.test/', allowHttp: true, ...limits }))).toBe('hello two.test')
  expect(targetsOf(proxy)).toEqual([`${publicAddress}:80`, '203.0.114.8:80'])
})

it('a proxy that refuses or cannot be reached is named in the error, without its login', async () => {
  const proxy = await connectProxy(() => 1, { login: 'ann:secret' })
  const failureOf = async (url: string) => {
    const call = callConfigured(agentsBehind({ HTTP_PROXY: url }), { url: 'http://model.test/', ...limits })
    const error = await call.catch((reason: unknown) => reason)
    return proxyFailureIn(error)?.message
  }
  expect(await failureOf(`http://ann:wrong-secret@${proxy.host}`)).toBe(`the proxy at ${proxy.host} refused CONNECT with 407`)
  proxy.refuse(403)
  expect(await failureOf(proxy.url)).toBe(`the proxy at ${proxy.host} refused CONNECT with 403`)
  const down = `127.0.0.1:${await freePort()}`
  expect(await failureOf(`http://ann:secret@${down}`)).toBe(`the proxy at ${down} could not be reached (ECONNREFUSED)`)
  expect(await failureOf(`socks5://ann:secret@${proxy.host}`)).toBe(`the proxy at ${proxy.host} does not speak SOCKS5`)
})
