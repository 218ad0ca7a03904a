import type { Duplex } from 'node:stream'

/**
 * Ends a connection whose peer may still be sending. What comes is thrown away for a moment: closed at once, the connection would be
 * reset, and the peer could lose an answer that it has not read yet. A peer that neither reads nor leaves is cut off.
 */
export function closeGently(socket: Duplex): void {
  socket.resume()
  socket.end()
  const late = setTimeout(() => socket.destroy(), lingerMs)
  socket.once('close', () => clearTimeout(late))
}

const lingerMs = 2000
