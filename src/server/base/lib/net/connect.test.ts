import { once } from 'node:events'
import net from 'node:net'
import tls from 'node:tls'
import { afterEach, describe, expect, it } from 'vitest'
import { testCertificate, testKey } from '../../../../../test/helpers/certificate.ts'
import { type Connector, type ConnectTarget, newConnector } from './connect.ts'

const closers: (() => void)[] = []
afterEach(() => {
  for (const close of closers.splice(0)) close()
})

async function serve<Server extends net.Server>(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1')
  closers.push(() => server.close())
  await once(server, 'listening')
  return String((server.address() as net.AddressInfo).port)
}

/**
 * A server that sends `hello` on every connection. `names` are the server names that connections ask for, `resumed` whether they
 * resume a session.
 */
async function tlsSite() {
  const names: (string | false | null)[] = []
  const resumed: boolean[] = []
  const server = tls.createServer({ cert: testCertificate, key: testKey }, (socket) => {
    names.push(socket.servername)
    resumed.push(socket.isSessionReused())
    socket.end('hello')
  })
  return { port: await serve(server), names, resumed }
}

function open(connect: Connector, target: ConnectTarget): Promise<net.Socket> {
  return new Promise((resolve, reject) => connect(target, (...[error, socket]) => (error ? reject(error) : resolve(socket))))
}

/** What the peer sends until the connection ends. */
async function listenTo(socket: net.Socket): Promise<string> {
  const pieces: Buffer[] = []
  for await (const piece of socket) pieces.push(piece)
  return Buffer.concat(pieces).toString()
}

const toLoopback: net.LookupFunction = (_name, options, callback) =>
  options.all ? callback(null, [{ address: '127.0.0.1', family: 4 }]) : callback(null, '127.0.0.1', 4)
const settings = { timeoutMs: 5000, lookup: toLoopback, certificates: testCertificate }

describe('a connection with TLS', () => {
  it('sends the server name, and none for an IP address', async () => {
    const site = await tlsSite()
    const connect = newConnector(settings)
    for (const hostname of ['mail.test', '127.0.0.1'])
      expect(await listenTo(await open(connect, { protocol: 'https:', hostname, port: site.port }))).toBe('hello')
    expect(site.names).toEqual(['mail.test', false])
  })

  it('resumes the TLS session of the previous connection', async () => {
    const site = await tlsSite()
    const connect = newConnector(settings)
    for (let round = 0; round < 2; round++)
      await listenTo(await open(connect, { protocol: 'https:', hostname: 'mail.test', port: site.port }))
    expect(site.resumed).toEqual([false, true])
  })

  it('fails when the certificate is not trusted or is for another name', async () => {
    const { port } = await tlsSite()
    const untrusting = newConnector({ timeoutMs: 5000, lookup: toLoopback })
    await expect(open(untrusting, { protocol: 'https:', hostname: 'mail.test', port })).rejects.toMatchObject({
      code: 'DEPTH_ZERO_SELF_SIGNED_CERT',
    })
    await expect(open(newConnector(settings), { protocol: 'https:', hostname: 'other.test', port })).rejects.toMatchObject({
      code: 'ERR_TLS_CERT_ALTNAME_INVALID',
    })
  })

  it('runs over the connection that is given', async () => {
    const site = await tlsSite()
    const through = net.connect(Number(site.port), '127.0.0.1')
    await once(through, 'connect')
    const socket = await open(newConnector(settings), { protocol: 'https:', hostname: 'mail.test', port: '1', through })
    expect(await listenTo(socket)).toBe('hello')
    expect(site.names).toEqual(['mail.test'])
  })

  it('fails when the handshake takes longer than the timeout', async () => {
    const port = await serve(net.createServer((socket) => closers.push(() => socket.destroy())))
    const connect = newConnector({ ...settings, timeoutMs: 200 })
    await expect(open(connect, { protocol: 'https:', hostname: 'mail.test', port })).rejects.toMatchObject({
      code: 'CONNECT_TIMEOUT',
    })
  })
})

describe('a connection without TLS', () => {
  it('reads into the given buffer', async () => {
    const port = await serve(net.createServer((socket) => void socket.end('hello')))
    const buffer = Buffer.alloc(64)
    let read = 0
    const onread = {
      buffer,
      callback: (length: number) => {
        read += length
        return true
      },
    }
    const socket = await open(newConnector(settings), { protocol: 'http:', hostname: 'mail.test', port, onread })
    await once(socket, 'close')
    expect(buffer.toString('latin1', 0, read)).toBe('hello')
  })

  it('fails with the error of the system when nothing listens', async () => {
    const server = net.createServer()
    const port = await serve(server)
    await new Promise((resolve) => server.close(resolve))
    await expect(open(newConnector(settings), { protocol: 'http:', hostname: 'mail.test', port })).rejects.toMatchObject({
      code: 'ECONNREFUSED',
    })
  })
})
