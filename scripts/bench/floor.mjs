// The floor of the benchmark: the smallest program of the same Node that relays the same bytes. `node:http` receives, the client of the product
// sends, and nothing is looked at: no token, price, hold or log. It changes only with these two. Argument: the provider's port. Prints its own.
import http from 'node:http'
import { newConnector } from '../../dist/server/base/lib/net/connect.js'
import { UpstreamPool } from '../../dist/server/base/lib/net/upstream-http/pool.js'

const provider = new UpstreamPool(`http://127.0.0.1:${process.argv[2]}`, {
  connect: newConnector({ timeoutMs: 10_000 }),
  connectionsMax: 4096,
})
const headers = Object.freeze({ authorization: 'Bearer sk-upstream', 'content-type': 'application/json' })

const server = http.createServer((request, response) => {
  const chunks = []
  request.on('data', (chunk) => chunks.push(chunk))
  request.on('end', () => {
    const body = chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)
    provider.dispatch({ method: 'POST', path: request.url, headers, body }, relayTo(response))
  })
})
server.listen(0, '127.0.0.1', 4096, () => console.log(server.address().port))
process.once('SIGTERM', () => process.exit())

/** Passes the reply on, and holds the provider back while the caller does not read. */
function relayTo(response) {
  return {
    onRequestStart() {},
    onResponseStart(_controller, status, received) {
      const length = received['content-length']
      response.writeHead(status, {
        'content-type': received['content-type'],
        ...(length === undefined ? {} : { 'content-length': length }),
      })
    },
    onResponseData(controller, bytes) {
      if (response.write(bytes)) return
      controller.pause()
      response.once('drain', () => controller.resume())
    },
    onResponseEnd() {
      response.end()
    },
    onResponseError() {
      if (!response.headersSent) response.writeHead(502)
      response.end()
    },
  }
}
