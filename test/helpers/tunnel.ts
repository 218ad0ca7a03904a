import { createServer } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

/**
 * An HTTP proxy that opens every tunnel to one upstream of this machine: a channel can then have a vendor's own address. Returns the
 * `setting` of such a channel, whose address must begin with `http:`.
 */
export async function tunnelTo(upstreamUrl: string): Promise<string> {
  const { hostname, port } = new URL(upstreamUrl)
  const sockets = new Set<Socket>()
  const proxy = createServer().on('connect', (_request, socket: Socket) => {
    const target = connect(Number(port), hostname)
    for (const each of [socket, target]) {
      sockets.add(each)
      each.on('error', () => {}).on('close', () => sockets.delete(each))
    }
    socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
    socket.pipe(target).pipe(socket)
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    proxy.close()
  })
  // A listening TCP server has an address with a port.
  const { port: own } = proxy.address() as AddressInfo
  return JSON.stringify({ proxy: `http://127.0.0.1:${own}` })
}
