import { once } from 'node:events'
import http from 'node:http'
import net from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { addresses } from '../../../../../test/helpers/addresses.ts'
import { nameServerOfTest, type Said } from '../../../../../test/helpers/name-server.ts'
import { startSocks5 } from '../../../../../test/helpers/socks5-server.ts'
import { BudgetExceeded } from '../bytes/byte-budget.ts'
import { callConfigured, fetchUntrusted, publicInternet, UpstreamAgents, type UpstreamSettings } from './http-client.ts'
import { systemResolve } from './resolve-name.ts'
import type { UpstreamPool } from './upstream-http/pool.ts'

const closers: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

function agentsOfTest(settings?: UpstreamSettings): UpstreamAgents {
  const agents = new UpstreamAgents(settings)
  closers.push(() => agents.close())
  return agents
}

interface Site {
  readonly url: string
  readonly port: number
  readonly requests: http.IncomingMessage[]
  connections: number
}

async function site(
  handler: http.RequestListener = (_request, response) => void response.end('{"ok":true}'),
  at: { host: string; port: number } = { host: '127.0.0.1', port: 0 },
): Promise<Site> {
  const requests: http.IncomingMessage[] = []
  const server = http.createServer((request, response) => {
    requests.push(request)
    handler(request, response)
  })
  const result = await listen(server, at)
  const found: Site = { url: `http://${at.host}:${result}`, port: result, requests, connections: 0 }
  server.on('connection', () => found.connections++)
  return found
}

async function listen(server: net.Server, at = { host: '127.0.0.1', port: 0 }): Promise<number> {
  const sockets = new Set<net.Socket>()
  server.on('connection', (socket) => sockets.add(socket.on('close', () => sockets.delete(socket))))
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(at.port, at.host, resolve))
  closers.push(async () => {
    for (const socket of sockets) socket.destroy()
    await new Promise((resolve) => server.close(resolve))
  })
  const address = server.address()
  return typeof address === 'object' && address ? address.port : 0
}

const small = { timeoutMs: 5000, sizeBytesMax: 1000 }
/** Resolves every name to the loopback address. */
const toLoopback = async () => [{ address: '127.0.0.1', family: 4 }]

/** Resolves with the head of the reply; `text` resolves with its body. */
function get(pool: UpstreamPool): Promise<{ text(): Promise<string> }> {
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = []
    const body = new Promise<string>((done, fail) => {
      pool.dispatch(
        { method: 'GET', path: '/', headers: {} },
        {
          onRequestStart() {},
          onResponseStart: () => resolve({ text: () => body }),
          onResponseData: (_controller, piece) => void pieces.push(piece),
          onResponseEnd: () => done(Buffer.concat(pieces).toString()),
          onResponseError(_controller, error) {
            reject(error)
            fail(error)
          },
        },
      )
    })
    body.catch(() => {})
  })
}

async function read(agents: UpstreamAgents, id: number, origin: string, proxy = '', keyId = 1): Promise<string> {
  const reply = await get(agents.for({ id, keyId, origin, proxy, connectTimeoutMs: 2000 }))
  const text = await reply.text()
  // The connection becomes idle shortly after the last byte.
  await new Promise((resolve) => setImmediate(resolve))
  return text
}

describe('connections of channels', () => {
  it('[T203] are reused, and never shared between channels or keys', async () => {
    const upstream = await site()
    const agents = agentsOfTest()
    for (let round = 0; round < 3; round++) await read(agents, 1, upstream.url)
    expect(upstream.connections).toBe(1)
    await read(agents, 2, upstream.url)
    expect(upstream.connections).toBe(2)
    await read(agents, 2, upstream.url, '', 2)
    expect(upstream.connections).toBe(3)
    expect(agents.size).toBe(3)
  })

  it('[T203] go to the address that the name has when they are made, checked each time, and serve one channel only', async () => {
    const [first, second] = await siteAtTwoAddresses()
    let said: Said = ['127.0.0.1']
    const { address } = await nameServerOfTest((_name, family) => (family === 4 ? said : []))
    const resolve = systemResolve({ servers: [address], hostsFile: '/nonexistent', system: async () => [] })
    const agents = agentsOfTest({ resolve })
    const origin = `http://turning.test:${first.port}`
    await read(agents, 1, origin)
    said = ['127.0.0.2']
    await read(agents, 2, origin)
    expect([first.requests.length, second.requests.length]).toEqual([1, 1])
    said = ['169.254.169.254']
    await expect(read(agents, 3, origin)).rejects.toMatchObject({ code: 'ADDRESS_REFUSED' })
    // The address is checked when a connection is made; the connection stays open, for its own channel only.
    await read(agents, 1, origin)
    expect([first.connections, first.requests.length, second.requests.length]).toEqual([1, 2, 1])

    // Connections of untrusted calls are never kept.
    said = ['127.0.0.1']
    const open = agentsOfTest({ untrusted: loopbackOf(address, ['127.0.0.1', '127.0.0.2']) })
    const fetched = () => fetchUntrusted(open, { url: `${origin}/`, allowHttp: true, ...small })
    await fetched()
    said = ['127.0.0.2']
    await fetched()
    expect([first.connections, second.connections]).toEqual([2, 2])
  })

  it('[T203] are replaced after the channel was changed, without aborting running calls', async () => {
    const upstream = await site((_request, response) => void setTimeout(() => response.end('late'), 50))
    const agents = agentsOfTest()
    const running = read(agents, 1, upstream.url)
    agents.forget(1)
    expect(agents.size).toBe(0)
    expect(await running).toBe('late')
    await read(agents, 1, upstream.url)
    expect(upstream.connections).toBe(2)
  })

  it('are closed when idle', async () => {
    const upstream = await site()
    const agents = agentsOfTest()
    await read(agents, 1, upstream.url)
    agents.sweep()
    expect(agents.size).toBe(1)
    agents.sweep()
    expect(agents.size).toBe(0)
  })

  it('stay open while a request runs, however long it takes', async () => {
    let answer = () => {}
    const upstream = await site((_request, response) => {
      response.flushHeaders()
      answer = () => response.end('done')
    })
    const agents = agentsOfTest()
    const pool = agents.for({ id: 1, keyId: 1, origin: upstream.url, proxy: '', connectTimeoutMs: 2000 })
    const reply = await get(pool)
    for (let round = 0; round < 3; round++) agents.sweep()
    expect(agents.size).toBe(1)
    answer()
    expect(await reply.text()).toBe('done')
  })

  it('[T194] look up the addresses of a name and use only allowed ones', async () => {
    const upstream = await site()
    const mixed = agentsOfTest({ resolve: async () => [{ address: '169.254.169.254', family: 4 }, ...(await toLoopback())] })
    expect(await read(mixed, 1, `http://model.test:${upstream.port}`)).toBe('{"ok":true}')
    const bad = agentsOfTest({ resolve: async () => [{ address: '::ffff:a9fe:a9fe', family: 6 }] })
    await expect(read(bad, 1, `http://model.test:${upstream.port}`)).rejects.toMatchObject({ code: 'ADDRESS_REFUSED' })
  })

  it('[T200] refuse private addresses where the host forbids them', async () => {
    const upstream = await site()
    const agents = agentsOfTest({ blockPrivate: true, resolve: toLoopback })
    await expect(read(agents, 1, upstream.url)).rejects.toMatchObject({ code: 'ADDRESS_REFUSED' })
    await expect(read(agents, 1, `http://[::ffff:7f00:1]:${upstream.port}`)).rejects.toMatchObject({ code: 'ADDRESS_REFUSED' })
    await expect(read(agents, 1, `http://model.test:${upstream.port}`)).rejects.toMatchObject({ code: 'ADDRESS_REFUSED' })
    expect(upstream.connections).toBe(0)
  })

  it('fail within the connect timeout when the host does not answer', async () => {
    const agents = agentsOfTest({ resolve: () => new Promise(() => {}) })
    const pool = agents.for({ id: 1, keyId: 1, origin: 'http://silent.test', proxy: '', connectTimeoutMs: 200 })
    await expect(get(pool)).rejects.toMatchObject({ code: 'CONNECT_TIMEOUT' })
  })
})

describe('proxies', () => {
  it('socks5 carries requests, the name goes to the proxy', async () => {
    const upstream = await site()
    const proxy = await startSocks5(upstream.port)
    closers.push(() => proxy.stop())
    const agents = agentsOfTest({ resolve: () => Promise.reject(new Error('not to be looked up here')) })
    for (let round = 0; round < 2; round++)
      expect(await read(agents, 1, 'http://model.test:81', `socks5://127.0.0.1:${proxy.port}`)).toBe('{"ok":true}')
    expect(proxy.asked).toEqual([{ host: 'model.test', port: 81, user: '' }])
    expect(upstream.requests[0]?.headers.host).toBe('model.test:81')
  })

  it('socks5 logs in, also with characters that a URL has to escape', async () => {
    const upstream = await site()
    const proxy = await startSocks5(upstream.port, { user: 'ann', password: 'p@ss/wörd' })
    closers.push(() => proxy.stop())
    const agents = agentsOfTest()
    const url = (password: string) => `socks5://ann:${encodeURIComponent(password)}@127.0.0.1:${proxy.port}`
    expect(await read(agents, 1, 'http://model.test', url('p@ss/wörd'))).toBe('{"ok":true}')
    expect(proxy.asked).toEqual([{ host: 'model.test', port: 80, user: 'ann' }])
    await expect(read(agents, 1, 'http://model.test', url('wrong'))).rejects.toThrow('refused the login')
    await expect(read(agents, 1, 'http://model.test', `socks5://127.0.0.1:${proxy.port}`)).rejects.toThrow(
      'none of the offered logins',
    )
  })

  it('http tunnels requests through CONNECT, with its credentials', async () => {
    const upstream = await site()
    const connects: [string | undefined, string | undefined][] = []
    const server = http.createServer().on('connect', (request, socket: net.Socket) => {
      connects.push([request.url, request.headers['proxy-authorization']])
      if (!request.headers['proxy-authorization']) return socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n')
      const target = net.connect(upstream.port, '127.0.0.1', () => {
        socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
        socket.pipe(target).pipe(socket)
      })
      target.on('error', () => {})
      socket.on('error', () => {})
    })
    const port = await listen(server)
    const agents = agentsOfTest()
    expect(await read(agents, 1, 'http://model.test', `http://ann:secret@127.0.0.1:${port}`)).toBe('{"ok":true}')
    expect(connects).toEqual([['model.test:80', `Basic ${Buffer.from('ann:secret').toString('base64')}`]])
    await expect(read(agents, 2, 'http://model.test', `http://127.0.0.1:${port}`)).rejects.toThrow('refused CONNECT with 407')
  })

  it('[T202] cannot be used to reach a forbidden literal address, and may not be one', async () => {
    const upstream = await site()
    const proxy = await startSocks5(upstream.port)
    closers.push(() => proxy.stop())
    const agents = agentsOfTest()
    await expect(read(agents, 1, 'http://169.254.169.254', `socks5://127.0.0.1:${proxy.port}`)).rejects.toMatchObject({
      code: 'ADDRESS_REFUSED',
    })
    await expect(read(agents, 1, 'http://model.test', 'socks5://169.254.169.254:1080')).rejects.toMatchObject({
      code: 'ADDRESS_REFUSED',
    })
    expect(proxy.asked).toEqual([])
  })

  it.each(['socks5', 'http', 'https'])('%s that never answers is given up at the connect deadline', async (protocol) => {
    const port = await listen(net.createServer(() => {}))
    const pool = agentsOfTest().for({
      id: 1,
      keyId: 1,
      origin: 'http://model.test',
      proxy: `${protocol}://127.0.0.1:${port}`,
      connectTimeoutMs: 200,
    })
    await expect(get(pool)).rejects.toThrow()
  })

  it('with an invalid address fail when used, and the error does not show the address', async () => {
    for (const proxy of ['ann:secret@host', 'ftp://ann:secret@host', 'socks5://ann:secret@', 'http://ann:secret@host/path']) {
      await expect(read(agentsOfTest(), 1, 'http://model.test', proxy)).rejects.toThrow(/^The address of the proxy is invalid$/)
    }
  })

  it('[T202] never show their login in an error', async () => {
    const port = await listen(net.createServer((socket) => void socket.end('nonsense')))
    const agents = agentsOfTest()
    for (const protocol of ['http', 'socks5']) {
      const error: Error = await read(agents, 1, 'http://model.test', `${protocol}://ann:secret@127.0.0.1:${port}`).then(
        () => expect.unreachable(),
        (reason) => reason,
      )
      expect(JSON.stringify([error.message, error.stack, error.cause])).not.toContain('secret')
    }
  })
})

describe('a call to a configured address', () => {
  it('sends and returns bytes, with any status', async () => {
    const upstream = await site((request, response) => {
      response.writeHead(429, { 'x-seen': request.headers['x-key'] })
      request.pipe(response)
    })
    const reply = await callConfigured(agentsOfTest(), {
      url: `${upstream.url}/v1/models?a=1`,
      method: 'POST',
      headers: { 'x-key': 'k' },
      body: '{"a":1}',
      ...small,
    })
    expect([reply.status, reply.headers['x-seen'], reply.size, String(reply.body)]).toEqual([429, 'k', 7, '{"a":1}'])
    expect(upstream.requests[0]?.url).toBe('/v1/models?a=1')
  })

  it('does not follow redirects', async () => {
    const upstream = await site((_request, response) => void response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end())
    expect((await callConfigured(agentsOfTest(), { url: upstream.url, ...small })).status).toBe(302)
  })

  it('fails at its deadline, before and during the reply', async () => {
    const agents = agentsOfTest()
    const silent = await site(() => {})
    const stuck = await site((_request, response) => void response.write('a'))
    for (const { url } of [silent, stuck]) {
      await expect(callConfigured(agents, { url, timeoutMs: 200, sizeBytesMax: 1000 })).rejects.toMatchObject({ kind: 'timeout' })
    }
  })

  it('stores a piece once it is counted, and reads no more until then', async () => {
    const upstream = await site((_request, response) => {
      response.write('one ')
      setTimeout(() => response.end('two'), 50)
    })
    const events: string[] = []
    const count = async (bytes: number) => {
      events.push(`${bytes} came`)
      await new Promise((resolve) => setTimeout(resolve, 150))
      events.push(`${bytes} counted`)
    }
    const reply = await callConfigured(agentsOfTest(), { url: upstream.url, ...small, count })
    expect(String(reply.body)).toBe('one two')
    expect(events).toEqual(['4 came', '4 counted', '3 came', '3 counted'])
  })

  it('fails with the error of the callback that counts its bytes', async () => {
    const upstream = await site()
    const refused = new BudgetExceeded('all')
    const call = (count: () => Promise<void> | undefined) =>
      callConfigured(agentsOfTest(), { url: upstream.url, ...small, count })
    await expect(call(() => Promise.reject(refused))).rejects.toBe(refused)
    const refuse = () => {
      throw refused
    }
    await expect(call(refuse)).rejects.toBe(refused)
  })

  it('aborts a reply that is too large, with or without a declared length', async () => {
    let sent = 0
    const endless = await site((_request, response) => {
      const more = () => {
        while (!response.destroyed && response.write(Buffer.alloc(65_536))) sent += 65_536
      }
      response.on('drain', more)
      more()
    })
    await expect(callConfigured(agentsOfTest(), { url: endless.url, ...small })).rejects.toMatchObject({ kind: 'too_large' })
    expect(sent).toBeLessThan(20_000_000)
    const declared = await site((_request, response) => void response.end(Buffer.alloc(5000)))
    await expect(callConfigured(agentsOfTest(), { url: declared.url, ...small })).rejects.toMatchObject({ kind: 'too_large' })
  })

  it('fails with a message for users when nothing listens, the reply is not HTTP, or the URL is invalid', async () => {
    const agents = agentsOfTest()
    const garbage = await listen(net.createServer((socket) => void socket.end('garbage\r\n\r\n')))
    await expect(callConfigured(agents, { url: 'http://127.0.0.1:1', ...small })).rejects.toMatchObject({ kind: 'unreachable' })
    await expect(callConfigured(agents, { url: `http://127.0.0.1:${garbage}`, ...small })).rejects.toMatchObject({
      kind: 'unreachable',
    })
    await expect(callConfigured(agents, { url: 'http://169.254.169.254/latest/meta-data', ...small })).rejects.toMatchObject({
      kind: 'unreachable',
    })
    for (const url of ['', 'nonsense', 'file:///etc/passwd', 'http://user:pass@127.0.0.1/']) {
      await expect(callConfigured(agents, { url, ...small })).rejects.toMatchObject({ kind: 'bad_url' })
    }
  })

  it('leaves no connection behind', async () => {
    const upstream = await site((_request, response) => void response.end('x'.repeat(500)))
    let closed = 0
    for (let round = 0; round < 3; round++) await callConfigured(agentsOfTest(), { url: upstream.url, ...small })
    for (const { socket } of upstream.requests) {
      if (!socket.destroyed) await new Promise((resolve) => socket.once('close', resolve))
      closed++
    }
    expect(closed).toBe(3)
  })
})

/** Two sites on the same port, at two loopback addresses of this machine. */
async function siteAtTwoAddresses(): Promise<[Site, Site]> {
  for (;;) {
    const first = await site()
    const second = await site(undefined, { host: '127.0.0.2', port: first.port }).catch((error) => {
      if (error.code !== 'EADDRINUSE') throw error
    })
    if (second) return [first, second]
  }
}

/** The rules of the public internet, with this name server; only these loopback addresses count as public. */
const loopbackOf = (server: string, open: readonly string[]) => ({
  ...publicInternet([server]),
  allowsPort: () => true,
  allows: (address: string) => open.includes(address),
})

describe('a fetch from an untrusted address', () => {
  /** The rules of the public internet, but loopback counts as public and 10.0.0.0/8 as private. */
  const pretend = (names: Record<string, string>) =>
    agentsOfTest({
      untrusted: {
        allowsPort: () => true,
        allows: (address) => address === '127.0.0.1',
        resolve: async (name) => [{ address: names[name] ?? '127.0.0.1', family: 4 }],
      },
    })

  it('[T192] [T194] refuses private addresses, literal or behind a name, without connecting', async () => {
    const canary = await site()
    const agents = agentsOfTest({ untrusted: { ...publicInternet(), allowsPort: () => true, resolve: toLoopback } })
    const hosts = [
      '127.0.0.1',
      'localhost',
      'rebind.test',
      '127.1',
      '0x7f000001',
      '[::1]',
      '[::ffff:127.0.0.1]',
      '0.0.0.0',
      '169.254.169.254',
      '10.0.0.1',
    ]
    for (const host of hosts) {
      await expect(
        fetchUntrusted(agents, { url: `http://${host}:${canary.port}/`, allowHttp: true, ...small }),
        host,
      ).rejects.toMatchObject({ kind: 'unreachable' })
    }
    expect(canary.connections).toBe(0)
  })

  it('[T192] refuses each address that is not public, literal or behind a name, without connecting', async () => {
    const canary = await site()
    const inner = addresses.filter(({ address, isPublic }) => !isPublic && net.isIP(address) !== 0)
    expect(inner.length).toBeGreaterThan(100)
    for (const { address } of inner) {
      const family = net.isIP(address)
      const resolve = async () => [{ address, family }]
      const agents = agentsOfTest({ untrusted: { ...publicInternet(), allowsPort: () => true, resolve } })
      for (const host of [family === 6 ? `[${address}]` : address, `good.example@${address}`, 'name.test', 'name.test.']) {
        const url = `http://${host}:${canary.port}/`
        await expect(fetchUntrusted(agents, { url, allowHttp: true, ...small }), url).rejects.toMatchObject({
          kind: expect.stringMatching(/^(unreachable|bad_url)$/),
        })
      }
    }
    expect(canary.connections).toBe(0)
  })

  it('[T194] resolves a name once, connects only to the checked address, and times out', async () => {
    const upstream = await site()
    const answers = [['127.0.0.1'], ['10.0.0.1'], ['10.0.0.1', '127.0.0.1'], ['10.0.0.1']]
    let asked = 0
    const resolve = async () => (answers[asked++] ?? []).map((address) => ({ address, family: 4 }))
    const allows = (address: string) => address === '127.0.0.1'
    const agents = agentsOfTest({ untrusted: { allowsPort: () => true, allows, resolve } })
    const outcome = (timeoutMs = 5000) =>
      fetchUntrusted(agents, { url: `http://turning.test:${upstream.port}/`, allowHttp: true, ...small, timeoutMs }).then(
        ({ status }) => status,
        ({ kind }) => kind,
      )
    const outcomes = [await outcome(), await outcome(), await outcome(), await outcome()]
    expect([outcomes, asked, upstream.connections]).toEqual([[200, 'unreachable', 200, 'unreachable'], 4, 2])

    const silent = agentsOfTest({ untrusted: { allowsPort: () => true, allows, resolve: () => new Promise(() => {}) } })
    await expect(
      fetchUntrusted(silent, { url: 'http://slow.test/', allowHttp: true, ...small, timeoutMs: 200 }),
    ).rejects.toMatchObject({ kind: 'timeout' })
  })

  it('[T194] connects only to checked addresses, even if a name server changes its answers or delays them', async () => {
    const [upstream, inner] = await siteAtTwoAddresses()
    let turns = 0
    const names: Record<string, () => Said> = {
      'turning.test': () => (turns++ % 2 === 0 ? ['127.0.0.1'] : ['127.0.0.2']),
      'mixed.test': () => ['127.0.0.2', '127.0.0.1'],
      'inner.test': () => ['127.0.0.2'],
      'alias.test': () => ({ alias: 'inner.test', addresses: ['127.0.0.2'] }),
      'good-alias.test': () => ({ alias: 'outer.test', addresses: ['127.0.0.1'] }),
      'silent.test': () => 'silence',
    }
    const nameServer = await nameServerOfTest((name, family) => (family === 4 ? (names[name]?.() ?? 'NXDOMAIN') : []))
    const agents = agentsOfTest({ untrusted: loopbackOf(nameServer.address, ['127.0.0.1']) })
    const outcome = (name: string, timeoutMs = 5000) =>
      fetchUntrusted(agents, { url: `http://${name}:${upstream.port}/`, allowHttp: true, ...small, timeoutMs }).then(
        ({ status }) => status,
        ({ kind }) => kind,
      )
    const turning = [await outcome('turning.test'), await outcome('turning.test'), await outcome('turning.test')]
    expect(turning).toEqual([200, 'unreachable', 200])
    expect(nameServer.asked.filter(({ name, family }) => name === 'turning.test' && family === 4)).toHaveLength(3)
    const others = ['mixed.test', 'inner.test', 'alias.test', 'good-alias.test', 'nobody.test']
    const outcomes = await Promise.all(others.map((name) => outcome(name)))
    expect(outcomes).toEqual([200, 'unreachable', 'unreachable', 200, 'unreachable'])
    expect(await outcome('silent.test', 300)).toBe('timeout')
    expect([upstream.requests.length, inner.connections]).toEqual([4, 0])
  })

  it('[T195] [T196] refuses ports other than those of the web, and http unless allowed', async () => {
    const agents = agentsOfTest()
    for (const port of [22, 25, 81, 3000, 5432, 6379, 65_535]) {
      await expect(fetchUntrusted(agents, { url: `https://1.1.1.1:${port}/`, ...small })).rejects.toMatchObject({
        kind: 'unreachable',
      })
    }
    for (const url of [
      'http://1.1.1.1/',
      'ftp://1.1.1.1/',
      'file:///etc/passwd',
      'gopher://1.1.1.1:70/_x',
      'blob:https://1.1.1.1/0b2a',
      'data:,x',
      `data:image/png;base64,${'A'.repeat(1_000_000)}`,
      'https://a:b@1.1.1.1/',
      `https://1.1.1.1/${'a'.repeat(2000)}`,
    ]) {
      await expect(fetchUntrusted(agents, { url, ...small })).rejects.toMatchObject({ kind: 'bad_url' })
    }
  })

  it('follows redirects without the headers', async () => {
    const upstream = await site((request, response) => {
      if (request.url === '/end') return void response.end('image')
      response.writeHead(302, { location: request.url === '/a' ? '/b' : '/end' }).end('moved')
    })
    const reply = await fetchUntrusted(pretend({}), {
      url: `${upstream.url}/a`,
      allowHttp: true,
      headers: { authorization: 'Bearer x' },
      ...small,
    })
    expect(String(reply.body)).toBe('image')
    expect(upstream.requests.map((request) => request.headers.authorization)).toEqual(['Bearer x', undefined, undefined])
  })

  it('[T194] refuses a redirect to a private address', async () => {
    const inner = await site()
    const upstream = await site(
      (_request, response) => void response.writeHead(302, { location: `http://inner.test:${inner.port}/` }).end(),
    )
    const agents = pretend({ 'inner.test': '10.0.0.1' })
    await expect(fetchUntrusted(agents, { url: upstream.url, allowHttp: true, ...small })).rejects.toMatchObject({
      kind: 'unreachable',
    })
    const literal = await site(
      (_request, response) => void response.writeHead(307, { location: `http://[::1]:${inner.port}/` }).end(),
    )
    await expect(fetchUntrusted(agents, { url: literal.url, allowHttp: true, ...small })).rejects.toMatchObject({
      kind: 'unreachable',
    })
    expect(inner.connections).toBe(0)
  })

  it('[T196] refuses a redirect to another scheme', async () => {
    const upstream = await site((_request, response) => void response.writeHead(302, { location: 'file:///etc/passwd' }).end())
    await expect(fetchUntrusted(pretend({}), { url: upstream.url, allowHttp: true, ...small })).rejects.toMatchObject({
      kind: 'bad_url',
    })
  })

  it('gives up after three redirects', async () => {
    const upstream = await site((_request, response) => void response.writeHead(302, { location: '/' }).end())
    await expect(fetchUntrusted(pretend({}), { url: upstream.url, allowHttp: true, ...small })).rejects.toMatchObject({
      kind: 'too_many_redirects',
    })
    expect(upstream.requests.length).toBe(4)
  })

  it('does not repeat a POST elsewhere', async () => {
    const upstream = await site((_request, response) => void response.writeHead(307, { location: '/' }).end())
    expect(
      (await fetchUntrusted(pretend({}), { url: upstream.url, method: 'POST', body: 'x', allowHttp: true, ...small })).status,
    ).toBe(307)
    expect(upstream.requests.length).toBe(1)
  })

  it('[T197] has one deadline and one size limit for everything', async () => {
    const slow = await site((_request, response) => void setTimeout(() => response.writeHead(302, { location: '/' }).end(), 80))
    await expect(
      fetchUntrusted(pretend({}), { url: slow.url, allowHttp: true, timeoutMs: 200, redirectsMax: 50, sizeBytesMax: 1000 }),
    ).rejects.toMatchObject({ kind: 'timeout' })
    const dripping = await site((_request, response) => {
      const drip = setInterval(() => response.write('a'), 20)
      response.once('close', () => clearInterval(drip))
    })
    await expect(
      fetchUntrusted(pretend({}), { url: dripping.url, allowHttp: true, timeoutMs: 200, sizeBytesMax: 1000 }),
    ).rejects.toMatchObject({ kind: 'timeout' })
    const declared = await site((_request, response) => void response.end(Buffer.alloc(5000)))
    const endless = await site((_request, response) => {
      response.on('drain', () => response.write(Buffer.alloc(5000)))
      response.write(Buffer.alloc(100_000))
    })
    // A gigabyte, with or without its length, of any type: no more than the allowed size is read.
    const block = Buffer.alloc(64 * 1024)
    const gigabyte = 1024 ** 3
    for (const head of [{}, { 'content-length': gigabyte, 'content-type': 'image/png' }]) {
      let sent = 0
      let gone = Promise.resolve<unknown>(undefined)
      const large = await site((_request, response) => {
        const more = (): void => {
          while (sent < gigabyte && !response.destroyed) {
            sent += block.length
            if (!response.write(block)) return void response.once('drain', more)
          }
        }
        gone = once(response, 'close')
        response.writeHead(200, head)
        more()
      })
      const asked = { url: large.url, allowHttp: true, timeoutMs: 30_000, sizeBytesMax: 24 * 1024 * 1024 }
      await expect(fetchUntrusted(pretend({}), asked)).rejects.toMatchObject({ kind: 'too_large' })
      await gone
      expect(sent).toBeLessThan(64 * 1024 * 1024)
    }
    for (const { url } of [declared, endless])
      await expect(fetchUntrusted(pretend({}), { url, allowHttp: true, ...small })).rejects.toMatchObject({ kind: 'too_large' })
  })
})
