import { existsSync, readdirSync, readFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { join, sep } from 'node:path'
import type { Readable } from 'node:stream'
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
 * The files are those of the time of the start; nothing outside of the folder can be reached. One that has gone since is unknown.
 */
export function fileServer(core: Core, folder: string): FileServer {
  const pageFile = join(folder, 'index.html')
  if (!existsSync(pageFile)) return () => undefined
  const page = readFileSync(pageFile)
  const isThere = presenceIn(folder)
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

    if (path !== '/index.html' && isThere(path) && sendFile(request, reply)) return reply.hijack()
    if (machinePaths.test(path)) return undefined
    return reply.headers(pageHeaders(core.options.current)).type('text/html; charset=utf-8').send(page)
  }

  function sendFile(request: FastifyRequest, reply: FastifyReply): boolean {
    let found = true
    reply.raw.setHeaders(new Map(Object.entries(reply.getHeaders()).map(([name, value]) => [name, String(value)])))
    reply.raw.once('pipe', (file: Readable) => file.once('error', () => giveUp(reply.raw)))
    serve(request.raw, reply.raw, () => {
      found = false
    })
    return found
  }
}

/** It went, or cannot be read, between the look and the opening; its length has been promised already. */
function giveUp(response: ServerResponse): void {
  response.destroy()
}

/** Whether a path is still there as at the start, with the packed forms that it had then: a new build takes away the files of the old. */
function presenceIn(folder: string): (path: string) => boolean {
  const atStart = new Set(
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => `/${name.replaceAll(sep, '/')}`),
  )
  return (path) => ['', '.br', '.gz'].every((ending) => !atStart.has(path + ending) || existsSync(join(folder, path + ending)))
}
