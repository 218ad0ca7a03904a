import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { lingeringCloseAfterReply } from './lingering-close.ts'

it('bytes after a refused body are not parsed as a further request', async () => {
  const paths: (string | undefined)[] = []
  const server = createServer((request, response) => {
    paths.push(request.url)
    lingeringCloseAfterReply(request)
    response.writeHead(413, { connection: 'close', 'content-length': '0' }).end()
  })
  onTestFinished(() => void server.close())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  // A server that listens on a port has an address of this type.
  const { port } = server.address() as AddressInfo
  const socket = connect(port, '127.0.0.1')
  let got = ''
  socket.on('data', (data) => {
    if (got === '') socket.end('2\r\n}}\r\n0\r\n\r\nGET /second HTTP/1.1\r\nhost: x\r\n\r\n')
    got += data
  })
  socket.write('POST /first HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{{\r\n')
  await new Promise((resolve) => socket.once('close', resolve))
  expect([paths, got.match(/HTTP\/1\.1 \d+/g)]).toEqual([['/first'], ['HTTP/1.1 413']])
})
