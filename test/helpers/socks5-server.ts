import net from 'node:net'
import { listeningPort } from './listening.ts'

/** A small SOCKS5 proxy that connects every request to one loopback port and records the requested targets. */
interface SocksServer {
  readonly port: number
  readonly asked: { readonly host: string; readonly port: number; readonly user: string }[]
  stop(): Promise<void>
}

export async function startSocks5(leadTo: number, login?: { user: string; password: string }): Promise<SocksServer> {
  const asked: { host: string; port: number; user: string }[] = []
  const sockets = new Set<net.Socket>()
  const server = net.createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {}).on('close', () => sockets.delete(socket))
    void serve(socket, leadTo, login, asked).catch(() => socket.destroy())
  })
  return {
    port: await listeningPort(server),
    asked,
    async stop() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

async function serve(
  socket: net.Socket,
  leadTo: number,
  login: { user: string; password: string } | undefined,
  asked: SocksServer['asked'],
) {
  const input = reader(socket)
  const methods = await input(((await input(2))[1] ?? 0) as number)
  const method = login ? 2 : 0
  if (!methods.includes(method)) return socket.end(Buffer.of(5, 0xff))
  socket.write(Buffer.of(5, method))

  let user = ''
  if (login) {
    user = String(await input((await input(2))[1] ?? 0))
    const password = String(await input((await input(1))[0] ?? 0))
    const known = user === login.user && password === login.password
    socket.write(Buffer.of(1, known ? 0 : 1))
    if (!known) return socket.end()
  }

  const kind = (await input(4))[3]
  const host =
    kind === 1
      ? (await input(4)).join('.')
      : kind === 4
        ? (await input(16)).toString('hex')
        : String(await input((await input(1))[0] ?? 0))
  asked.push({ host, port: (await input(2)).readUInt16BE(0), user })

  const target = net.connect(leadTo, '127.0.0.1')
  target.on('error', () => socket.destroy())
  target.once('connect', () => {
    // In pieces, as a network may deliver it.
    socket.write(Buffer.of(5, 0, 0))
    setImmediate(() => {
      socket.write(Buffer.of(3, 4, 97, 98, 99, 100, 0, 80))
      socket.pipe(target).pipe(socket)
    })
  })
}

function reader(socket: net.Socket): (length: number) => Promise<Buffer> {
  return async (length) => {
    for (;;) {
      const bytes: Buffer | null = length === 0 ? Buffer.alloc(0) : socket.read(length)
      if (bytes) return bytes
      await new Promise((resolve, reject) => socket.once('readable', resolve).once('close', reject))
    }
  }
}
