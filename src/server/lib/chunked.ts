import type { ServerResponse } from 'node:http'

/**
 * Chunked transfer coding done by ourselves. Node writes size, bytes and line ends of every chunk as separate pieces; one buffer per
 * write costs half as much, and a stream is hundreds of writes. `takeOver` goes behind `writeHead`; where the answer is not chunked
 * (HTTP/1.0, HEAD), bytes stay as they are.
 */
export function takeOverChunking(response: ServerResponse): boolean {
  if (!response.chunkedEncoding) return false
  response.chunkedEncoding = false
  return true
}

export const lastChunk = Buffer.from('0\r\n\r\n')

/** One chunk. An empty one would end the answer, so nothing is made of nothing. */
export function chunkOf(bytes: Buffer): Buffer {
  if (bytes.length === 0) return bytes
  const head = `${bytes.length.toString(16)}\r\n`
  const chunk = Buffer.allocUnsafe(head.length + bytes.length + 2)
  chunk.write(head, 'latin1')
  bytes.copy(chunk, head.length)
  chunk.write('\r\n', head.length + bytes.length, 'latin1')
  return chunk
}
