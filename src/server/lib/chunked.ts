/**
 * Chunked transfer coding done by ourselves, over byte text (see `sse.ts`). Node writes size, bytes and line ends of every chunk as
 * separate pieces; one string per write costs half as much, and a stream is hundreds of writes. `takeOverChunking` of
 * `node-internals.ts` goes behind `writeHead`; where the answer is not chunked (HTTP/1.0, HEAD), bytes stay as they are.
 */
export const lastChunk = '0\r\n\r\n'

/** One chunk. An empty one would end the answer, so nothing is made of nothing. */
export function chunkOf(byteText: string): string {
  return byteText === '' ? '' : `${byteText.length.toString(16)}\r\n${byteText}\r\n`
}
