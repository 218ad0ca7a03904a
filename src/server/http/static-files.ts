import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { FastifyReply, FastifyRequest } from 'fastify'
import sirv from 'sirv'
import type { Core } from '../options/core.ts'
import { pageHeaders } from './security-headers.ts'

/** Paths of machines: what is unknown there is an error, not a page. */
const machinePaths = /^\/(api|assets|dashboard|metrics|mj|mj-\w+|pg|suno|v1|v1beta)(\/|$)/

export type FileServer = (request: FastifyRequest, reply: FastifyReply) => FastifyReply | undefined

/**
 * The built console: its files, and its page for every other path that a browser may ask for, because the console routes by itself.
 * Files under `assets` carry their hash in their name and never change. Answers undefined for what is none of these.
 * The files are those of the time of the start; nothing outside of the folder can be reached.
 */
export function fileServer(core: Core, folder: string): FileServer {
  const pageFile = join(folder, 'index.html')
  if (!existsSync(pageFile)) return () => undefined
  const page = readFileSync(pageFile)
  const serve = sirv(folder, {
    etag: true,
    brotli: true,
    gzip: true,
    extensions: [],
    setHeaders: (response, path) =>
      response.setHeader('cache-control', path.startsWith('/assets/') ? 'public, max-age=31536000, immutable' : 'no-cache'),
  })

  return (request, reply) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') return undefined
    const path = request.url.split('?', 1)[0] ?? '/'

    if (path !== '/index.html' && sendFile(request, reply)) return reply.hijack()
    if (machinePaths.test(path)) return undefined
    return reply.headers(pageHeaders(core.options.current)).type('text/html; charset=utf-8').send(page)
  }

  function sendFile(request: FastifyRequest, reply: FastifyReply): boolean {
    let found = true
    reply.raw.setHeaders(new Map(Object.entries(reply.getHeaders()).map(([name, value]) => [name, String(value)])))
    serve(request.raw, reply.raw, () => {
      found = false
    })
    return found
  }
}
