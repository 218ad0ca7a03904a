import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import { listeningInTest } from '../helpers/listening.ts'

/**
 * `RECORD_REQUESTS=1 npm run clients` writes the requests that each program sends to `test/relay/agents/recorded`, where
 * `recorded.test.ts` sends them again. Their structure is preserved; long texts, whose copyright belongs to their vendors, are
 * replaced.
 */
export const isRecording = process.env.RECORD_REQUESTS === '1'

const folder = fileURLToPath(new URL('../relay/agents/recorded/', import.meta.url))

export interface RecordedRequest {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: unknown
}

/** The requests of a program that took part in a task are written when the test ends. */
export async function recordTo(name: string, target: string): Promise<string> {
  const { address, requests } = await proxyTo(target)
  onTestFinished(() => {
    mkdirSync(folder, { recursive: true })
    const written = requests.map(({ path, headers, body }) => ({ path, headers: kept(headers), body: shapeOf(body) }))
    writeFileSync(`${folder}${name}.json`, `${JSON.stringify(written, null, 1)}\n`)
  })
  return address
}

/** A proxy in front of the gateway that keeps the requests with a body. */
export async function proxyTo(target: string): Promise<{ address: string; requests: readonly RecordedRequest[] }> {
  const requests: RecordedRequest[] = []
  const server = createServer(async (request, response) => {
    const raw = await text(request)
    const path = request.url ?? '/'
    const headers = Object.fromEntries(
      Object.entries(request.headers).filter(([header]) => !['host', 'connection', 'content-length'].includes(header)),
    ) as Record<string, string>
    if (raw !== '') requests.push({ path, headers, body: JSON.parse(raw) })
    const answer = await fetch(target + path, { method: request.method ?? 'GET', headers, ...(raw === '' ? {} : { body: raw }) })
    const { 'content-encoding': _, 'transfer-encoding': __, ...passed } = Object.fromEntries(answer.headers)
    response.writeHead(answer.status, passed)
    response.end(Buffer.from(await answer.arrayBuffer()))
  })
  return { address: await listeningInTest(server), requests }
}

/** The headers that change the request. */
function kept(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => /^(anthropic-|openai-|x-goog-api-client)/.test(name)))
}

function shapeOf(value: unknown): unknown {
  if (typeof value === 'string') return value.length > 48 || value.includes('/tmp/') ? 'A text.' : value
  if (Array.isArray(value)) return value.map(shapeOf)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      name,
      name === 'description' && typeof inner === 'string' ? 'A text.' : shapeOf(inner),
    ]),
  )
}
