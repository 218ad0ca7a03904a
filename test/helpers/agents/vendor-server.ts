import { createServer, type IncomingHttpHeaders } from 'node:http'
import { closing, listening } from '../listening.ts'

/** A simulated vendor: a server on loopback that plays the model's part of the scenario and refuses what the vendor would refuse. */
export interface Vendor {
  readonly url: string
  /** The refusals, in the wording of the vendor. */
  readonly faults: string[]
  /** The number of answered requests. */
  readonly answered: () => number
  stop(): Promise<void>
}

export interface VendorRequest {
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: IncomingHttpHeaders
  readonly body: unknown
}

export interface VendorReply {
  readonly contentType: string
  readonly pieces: readonly (string | Buffer)[]
}

/** The replies and the refusals of a vendor. */
export interface VendorRules {
  /** Throws a Refusal. */
  answer(request: VendorRequest): VendorReply
  refusalBody(refusal: Refusal): { readonly headers?: Readonly<Record<string, string>>; readonly body: unknown }
}

/** A vendor's refusal of a request. A refusal with `details` is expected: the agent has a fallback. */
export class Refusal extends Error {
  readonly status: number
  readonly details: object | undefined

  constructor(message: string, status = 400, details?: object) {
    super(message)
    this.status = status
    this.details = details
  }
}

export function refuse(message: string, status = 400): never {
  throw new Refusal(message, status)
}

export async function startVendor(rules: VendorRules): Promise<Vendor> {
  const faults: string[] = []
  let answered = 0
  const server = createServer(async (request, response) => {
    try {
      const { pathname, searchParams } = new URL(request.url ?? '/', 'http://vendor')
      if (request.method !== 'POST') refuse(`${request.method} is not allowed`, 405)
      if (!/^application\/json/.test(request.headers['content-type'] ?? '')) refuse('Content-Type must be application/json', 415)
      const body = parsed(await bytesOf(request))
      const reply = rules.answer({ path: pathname, query: searchParams, headers: request.headers, body })
      response.writeHead(200, { 'content-type': reply.contentType })
      for (const piece of reply.pieces) response.write(piece)
      response.end()
      answered++
    } catch (error) {
      const refusal = error instanceof Refusal ? error : new Refusal(`the simulated vendor failed: ${String(error)}`, 500)
      if (!refusal.details) faults.push(refusal.message)
      const { headers, body } = rules.refusalBody(refusal)
      response.writeHead(refusal.status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
    }
  })
  return { url: await listening(server), faults, answered: () => answered, stop: () => closing(server) }
}

async function bytesOf(request: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks)
}

function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    return refuse('the body is not valid JSON in UTF-8')
  }
}
