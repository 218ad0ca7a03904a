import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { closeConnectionBy } from '../process/node-internals.ts'

const lingerMs = 2000
const discardedBytesMax = 32 * 1024 * 1024

/**
 * Closes a connection whose peer may still be sending: sends FIN, discards what arrives for up to two seconds, then destroys the socket.
 * An immediate close would reset the connection, and the peer could lose a reply that it has not read yet.
 */
export function lingeringClose(socket: Duplex): void {
  socket.resume()
  socket.end()
  const timer = setTimeout(() => socket.destroy(), lingerMs)
  socket.once('close', () => clearTimeout(timer))
}

/**
 * For a request that is answered before its body has arrived: replaces the immediate close that Node does after the reply by a
 * lingering close, so that the client can read the reply. The rest of the body is discarded up to 32 MiB, and bytes after it are
 * not parsed as a further request. The reply must carry `connection: close`.
 */
export function lingeringCloseAfterReply({ socket }: IncomingMessage): void {
  closeConnectionBy(socket, () => {
    let left = discardedBytesMax
    // Removes the HTTP parser, which is one of the listeners.
    socket.removeAllListeners('data')
    socket.on('data', (piece: Buffer) => {
      left -= piece.length
      if (left < 0) socket.destroy()
    })
    lingeringClose(socket)
  })
}
