import { createServer, request as forward } from 'node:http'
import { listeningInTest } from '../listening.ts'

/** A proxy that forwards each request to the address that `target` returns at that moment. Closes with the test. */
export async function startProxy(target: () => Promise<string>): Promise<string> {
  const server = createServer(async (incoming, response) => {
    const { method, headers } = incoming
    const passed = forward(new URL(incoming.url ?? '/', await target()), { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
    })
    passed.on('error', () => response.destroy())
    incoming.pipe(passed)
  })
  return listeningInTest(server)
}
