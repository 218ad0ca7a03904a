import { once } from 'node:events'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { newConnector } from '../connect.ts'
import { exchange } from './exchange.ts'
import { UpstreamPool } from './pool.ts'

/** A call to a new server, whose answer may be silent for 600 ms. */
async function call(answer: http.RequestListener) {
  const server = http.createServer(answer).listen(0, '127.0.0.1')
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  await once(server, 'listening')
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
  const pool = new UpstreamPool(url.origin, { connect: newConnector({ timeoutMs: 5000 }), connectionsMax: 1 })
  return exchange(pool, url, { sizeBytesMax: 1000, silenceMsMax: 600 }, new AbortController().signal)
}

it('fails when the peer is silent for too long, before and during the answer', async () => {
  await expect(call(() => {})).rejects.toMatchObject({ kind: 'timeout' })
  await expect(call((_request, response) => void response.write('a'))).rejects.toMatchObject({ kind: 'timeout' })
})
