import type { IncomingHttpHeaders } from 'node:http'
import https from 'node:https'
import { publicInternet, type UntrustedRules } from '../../src/server/base/lib/net/http-client.ts'
import { testCertificate as cert, testKey as key } from './certificate.ts'
import { closing, listeningPort } from './listening.ts'

/** A receiver of webhooks on loopback, with TLS. */
export interface Receiver {
  readonly url: string
  readonly calls: readonly ReceivedCall[]
  /** The answers of the next calls, one after another; the last one is repeated. */
  answers: readonly ReceiverAnswer[]
  stop(): Promise<void>
}

interface ReceivedCall {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

interface ReceiverAnswer {
  readonly status: number
  readonly body?: string
  readonly headers?: Readonly<Record<string, string>>
}

export async function startReceiver(): Promise<Receiver> {
  const calls: ReceivedCall[] = []
  const server = https.createServer({ cert, key }, (request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (chunk: string) => (body += chunk))
    request.on('end', () => {
      calls.push({ path: request.url ?? '', headers: request.headers, body })
      const [answer = { status: 200, body: 'ok' }, ...later] = receiver.answers
      if (later.length > 0) receiver.answers = later
      response.writeHead(answer.status, answer.headers ?? {}).end(answer.body ?? '')
    })
  })
  const receiver: Receiver = {
    url: `https://mail.test:${await listeningPort(server)}`,
    calls,
    answers: [],
    stop: () => closing(server),
  }
  return receiver
}

/** Rules under which every name resolves to this machine, which counts as public. */
export function loopbackIsPublic(): UntrustedRules {
  return {
    ...publicInternet(),
    resolve: async () => [{ address: '127.0.0.1', family: 4 }],
    certificates: cert,
    allows: () => true,
    allowsPort: () => true,
  }
}
