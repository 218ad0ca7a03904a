/**
 * Chunked transfer coding over byte text (see `sse.ts`). Node writes size, bytes and line ends of every chunk separately; one string
 * per write costs half as much, and a stream is hundreds of writes. Call `takeOverChunking` of `node-internals.ts` after `writeHead`;
 * if the response is not chunked (HTTP/1.0, HEAD), the bytes stay unchanged.
 */
export const lastChunk = '0\r\n\r\n'

/** One chunk. Empty for empty input, because an empty chunk would end the response. */
export function chunkOf(byteText: string): string {
  return byteText === '' ? '' : `${byteText.length.toString(16)}\r\n${byteText}\r\n`
}
