import { createServer } from 'node:http'
import { connect } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { takeOverChunking } from '../process/node-internals.ts'
import { chunkOf, lastChunk } from './chunked.ts'
import { toByteText } from './sse.ts'

describe('chunks that the server frames itself', () => {
  async function raw(request: string): Promise<string> {
    const server = createServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/plain' })
      const frames = takeOverChunking(response)
      const piece = (text: string) => (frames ? chunkOf(toByteText(text)) : toByteText(text))
      response.write(piece('hello '), 'latin1')
      response.write(piece(''), 'latin1')
      setImmediate(() => response.end(piece('wörld') + (frames ? lastChunk : ''), 'latin1'))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    const address = server.address()
    const socket = connect(typeof address === 'object' && address ? address.port : 0, '127.0.0.1', () => socket.write(request))
    let got = ''
    socket.on('data', (data) => {
      got += data
      if (got.split('HTTP/1.1 200').length > 2 && got.endsWith('0\r\n\r\n')) socket.destroy()
    })
    await new Promise((resolve) => socket.once('close', resolve))
    return got
  }

  it('are parsed by HTTP/1.1 clients, and the connection stays open for the next request', async () => {
    const got = await raw('GET / HTTP/1.1\r\nhost: x\r\n\r\nGET / HTTP/1.1\r\nhost: x\r\n\r\n')
    expect(got.match(/6\r\nhello \r\n6\r\nwörld\r\n0\r\n\r\n/g)).toHaveLength(2)
    expect(got.match(/transfer-encoding: chunked/gi)).toHaveLength(2)
  })

  it('are not made for HTTP/1.0', async () => {
    const got = await raw('GET / HTTP/1.0\r\nhost: x\r\n\r\n')
    expect(got).toMatch(/\r\n\r\nhello wörld$/)
    expect(got).not.toMatch(/chunked/i)
  })
})
