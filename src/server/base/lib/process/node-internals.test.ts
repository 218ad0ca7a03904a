import { execFileSync, type SendHandle, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, get, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { Worker } from 'node:worker_threads'
import { describe, expect, it, onTestFinished } from 'vitest'
import {
  allocateYoung,
  answerHalfClosed,
  bindPort,
  closeConnectionBy,
  holdYoungGeneration,
  listenOn,
  releaseYoungGeneration,
  stopAccepting,
  takeOverChunking,
} from './node-internals.ts'

const request = 'GET / HTTP/1.1\r\nhost: here\r\n\r\n'
const soon = () => new Promise((resolve) => setTimeout(resolve, 50))

async function listen(answer: RequestListener): Promise<{ server: Server; open: () => Promise<Socket> }> {
  const server = createServer(answer).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const open = async () => {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
    onTestFinished(() => void socket.destroy())
    await once(socket, 'connect')
    return socket
  }
  return { server, open }
}

describe('allocateYoung', () => {
  it('sets a flag that this V8 has', () => {
    expect(execFileSync(process.execPath, ['--v8-options'], { encoding: 'utf8' })).toContain('--allocation-site-pretenuring')
    expect(allocateYoung).not.toThrow()
  })
})

describe('holdYoungGeneration', () => {
  /**
   * The size in MB of the young generation of a new thread after many allocations that survive. The flag is the same for all
   * threads.
   */
  async function youngSize(): Promise<number> {
    const thread = new Worker(
      `const kept = Array.from({ length: 500_000 }, (_, index) => ({ index }))
      const young = require('node:v8').getHeapSpaceStatistics().find((space) => space.space_name === 'new_space')
      require('node:worker_threads').parentPort.postMessage({ size: young.space_size / 2 ** 20, kept: kept.length })`,
      { eval: true },
    )
    const [{ size }] = await once(thread, 'message')
    return size
  }

  it('keeps it small until it is released', async () => {
    onTestFinished(releaseYoungGeneration)
    holdYoungGeneration()
    expect(await youngSize()).toBeLessThanOrEqual(4)
    releaseYoungGeneration()
    expect(await youngSize()).toBeGreaterThanOrEqual(16)
  })
})

describe('answerHalfClosed', () => {
  const late: RequestListener = (_, response) => void soon().then(() => response.end('the whole answer'))

  it('sends the answer to a caller that has half-closed the connection, and then closes it', async () => {
    const { server, open } = await listen(late)
    answerHalfClosed(server)
    const socket = await open()
    socket.end(request)
    expect(await text(socket)).toMatch(/the whole answer/)
  })

  it("overrides Node's default", async () => {
    const { open } = await listen(late)
    const socket = await open()
    socket.end(request)
    expect(await text(socket)).toBe('')
  })
})

describe('stopAccepting', () => {
  it('refuses new connections, still serves open ones, and reports when the last one is closed', async () => {
    const { server, open } = await listen((_, response) => response.end('served'))
    const kept = await open()
    let hasEnded = false
    const ended = new Promise<void>((resolve) =>
      stopAccepting(server, () => {
        hasEnded = true
        resolve()
      }),
    )
    await expect(open()).rejects.toMatchObject({ code: 'ECONNREFUSED' })

    for (let round = 0; round < 2; round++) {
      kept.write(request)
      const [bytes] = await once(kept, 'data')
      expect(String(bytes)).toContain('served')
      expect(hasEnded).toBe(false)
    }
    kept.end()
    await ended
  })
})

describe('closeConnectionBy', () => {
  it('is called by Node, once, after an answer that ends the connection', async () => {
    const calls: boolean[] = []
    const { open } = await listen((incoming, response) => {
      const { socket } = incoming
      closeConnectionBy(socket, () => {
        calls.push(response.writableFinished)
        socket.end()
      })
      response.setHeader('connection', 'close')
      response.end('the end')
    })
    const socket = await open()
    socket.write(request)
    expect(await text(socket)).toMatch(/the end/)
    expect(calls).toEqual([true])
  })
})

describe('takeOverChunking', () => {
  async function answered(head: string, line: string): Promise<{ isTaken: boolean | undefined; raw: string }> {
    let isTaken: boolean | undefined
    const { open } = await listen((_, response) => {
      response.writeHead(200, { connection: 'close' })
      isTaken = takeOverChunking(response)
      response.write(isTaken ? '5\r\nhello\r\n' : 'hello')
      response.end(isTaken ? '0\r\n\r\n' : '')
    })
    const socket = await open()
    socket.write(`${head} / ${line}\r\nhost: here\r\n\r\n`)
    return { raw: await text(socket), isTaken }
  }

  it('leaves the framing of chunks to the caller of this function', async () => {
    const { isTaken, raw } = await answered('GET', 'HTTP/1.1')
    expect(isTaken).toBe(true)
    expect(raw).toMatch(/\r\ntransfer-encoding: chunked\r\n/i)
    expect(raw.split('\r\n\r\n').slice(1).join('\r\n\r\n')).toBe('5\r\nhello\r\n0\r\n\r\n')
  })

  it('returns false when the answer is not chunked', async () => {
    const old = await answered('GET', 'HTTP/1.0')
    expect([old.isTaken, old.raw.split('\r\n\r\n')[1]]).toEqual([false, 'hello'])
    expect((await answered('HEAD', 'HTTP/1.1')).isTaken).toBe(false)
  })
})

describe('a bound port', () => {
  it('keeps connections waiting for the next server after the one that listened on it has died', async () => {
    const bound = bindPort({ address: '127.0.0.1', port: 0 })
    onTestFinished(() => bound.close())
    const program = `
      const { createServer } = require('node:http')
      process.once('message', (_, port) => {
        const server = createServer((request, response) => response.end(String(process.pid)))
        server.listen({ port: 1, host: 'ignored', _handle: port }, () => process.send(server.address().port))
      })
      process.send('ready')`
    const serve = async () => {
      const child = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
      onTestFinished(() => void child.kill('SIGKILL'))
      await once(child, 'message')
      // Node sends such a handle, but its types do not have it.
      child.send('port', listenOn(bound, 4096)._handle as unknown as SendHandle)
      const [port] = (await once(child, 'message')) as [number]
      return { child, port }
    }

    const { child, port } = await serve()
    const ask = async () =>
      text(await new Promise<IncomingMessage>((resolve, reject) => get({ port, agent: false }, resolve).once('error', reject)))
    expect(await ask()).toBe(String(child.pid))
    child.kill('SIGKILL')
    await once(child, 'exit')
    const waiting = Array.from({ length: 600 }, ask)
    const { child: next } = await serve()
    expect(new Set(await Promise.all(waiting))).toEqual(new Set([String(next.pid)]))
  })

  it('is refused while another program listens on it', async () => {
    const { server } = await listen((_request, response) => void response.end())
    const { port } = server.address() as AddressInfo
    expect(() => bindPort({ address: '127.0.0.1', port })).toThrow('EADDRINUSE')
    expect(() => bindPort({ address: '203.0.113.1', port: 0 })).toThrow('EADDRNOTAVAIL')
  })
})
