import type { IncomingMessage } from 'node:http'
import { closeGently } from './close-gently.ts'
import { closeConnectionBy } from './node-internals.ts'

/**
 * For a request that is answered before its body has come: closes its connection gently behind the answer. Node would close it at once,
 * and who is still sending would find it reset and never read why. What comes is thrown away, up to a bound, and is no request any more.
 * The answer must say `connection: close`.
 */
export function closeBehindAnswer({ socket }: IncomingMessage): void {
  closeConnectionBy(socket, () => {
    let left = thrownAwayBytesMax
    // The parser is one of the listeners.
    socket.removeAllListeners('data')
    socket.on('data', (piece: Buffer) => {
      left -= piece.length
      if (left < 0) socket.destroy()
    })
    closeGently(socket)
  })
}

const thrownAwayBytesMax = 32 * 1024 * 1024
