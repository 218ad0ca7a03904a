import { createServer } from 'node:http'
import { connect, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'
import { listeningPort } from './listening.ts'

export interface ConnectProxy {
  readonly url: string
  readonly host: string
  /** The targets that CONNECT was sent for, with its `Proxy-Authorization`. */
  readonly asked: readonly { readonly target: string; readonly authorization: string | undefined }[]
  /** Refuses every further CONNECT with this status. */
  refuse(status: number): void
}

/**
 * A proxy on loopback that speaks CONNECT alone, and leads each tunnel to the port of this machine that `portOf` names for its target; it
 * does not reach a target without one. With a login it answers 407 to everybody else.
 */
export async function connectProxy(
  portOf: (target: string) => number,
  { login = '' }: { login?: string } = {},
): Promise<ConnectProxy> {
  const asked: { target: string; authorization: string | undefined }[] = []
  const sockets = new Set<Socket>()
  const authorization = `Basic ${Buffer.from(login).toString('base64')}`
  let refusal = 0
  const server = createServer((_request, response) => void response.writeHead(405).end())
  server.on('connect', (request, socket: Socket) => {
    const target = request.url ?? ''
    asked.push({ target, authorization: request.headers['proxy-authorization'] })
    const isUnknown = login !== '' && request.headers['proxy-authorization'] !== authorization
    const port = portOf(target)
    const status = refusal || (isUnknown ? 407 : port === 0 ? 502 : 200)
    if (status !== 200) return void socket.end(`HTTP/1.1 ${status} Refused\r\ncontent-length: 4\r\n\r\nlong`)
    const tunnel = connect(port, '127.0.0.1')
    for (const each of [socket, tunnel]) {
      sockets.add(each)
      each.on('error', () => {}).on('close', () => sockets.delete(each))
    }
    socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
    socket.pipe(tunnel).pipe(socket)
  })
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.closeAllConnections()
    server.close()
  })
  const host = `127.0.0.1:${await listeningPort(server)}`
  return {
    url: `http://${login === '' ? '' : `${login}@`}${host}`,
    host,
    asked,
    refuse(status) {
      refusal = status
    },
  }
}
