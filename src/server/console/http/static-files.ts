import { existsSync, readdirSync, readFileSync, realpathSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { join, sep } from 'node:path'
import type { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import sirv from 'sirv'
import { isPage } from '../../../contract/pages.ts'
import type { Core } from '../../base/options/core.ts'
import { pageHeaders } from './security-headers.ts'

/** Paths of APIs and files: for an unknown one the answer is an error, whoever asks. */
const machinePaths =
  /^\/(api|assets|dashboard|metrics|mj|mj-\w+|pg|status\/badge\.svg|status\/incidents\.rss|suno|v1|v1beta)(\/|$)/

type FileServer = (request: FastifyRequest, reply: FastifyReply) => FastifyReply | undefined

/** The files of a folder, as they were when read. */
export interface ConsoleFiles {
  readonly page: string
  readonly robots: string
  readonly exists: (path: string) => boolean
  readonly serve: ReturnType<typeof sirv>
}

/** Reads the folder of the built console; undefined when it is not built. */
export function readConsoleFiles(folder: string): ConsoleFiles | undefined {
  const pageFile = join(folder, 'index.html')
  if (!existsSync(pageFile)) return undefined
  const serve = sirv(folder, {
    etag: true,
    brotli: true,
    gzip: true,
    extensions: [],
    setHeaders: (response, path) =>
      response.setHeader('cache-control', path.startsWith('/assets/') ? 'public, max-age=31536000, immutable' : 'no-cache'),
  })
  const robotsFile = join(folder, 'robots.txt')
  const robots = existsSync(robotsFile) ? readFileSync(robotsFile, 'utf8') : ''
  return { page: readFileSync(pageFile, 'utf8'), robots, exists: presenceIn(folder), serve }
}

/**
 * The built console: its files, and its page for the addresses of `contract/pages.ts`, because the console routes by itself. A browser that
 * navigates elsewhere gets the page with status 404: it says so to a person. Files under `assets` have a hash in their name and
 * never change. Returns undefined for all other paths. The files are those at the
 * time of reading; nothing outside of the folder is reachable. A file removed since is unknown.
 */
export function fileServer(core: Core, files: ConsoleFiles | undefined): FileServer {
  if (!files) return () => undefined
  const { exists, serve } = files
  const { BASE_PATH: basePath } = core.env
  const page = pageBelow(basePath, files.page)

  return (request, reply) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') return undefined
    const path = request.url.split('?', 1)[0] ?? '/'

    if (path === '/robots.txt' && basePath !== '')
      return reply.type('text/plain; charset=utf-8').send(robotsBelow(basePath, files.robots))
    if (path !== '/index.html' && exists(path) && sendFile(serve, request, reply)) return reply.hijack()
    if (machinePaths.test(path)) return undefined
    const isKnown = path === '/index.html' || isPage(path)
    if (!isKnown && !request.headers.accept?.includes('text/html')) return undefined
    reply.status(isKnown ? 200 : 404)
    return reply.headers(pageHeaders(core)).type('text/html; charset=utf-8').send(page)
  }
}

/** Sends the file at the path of the request, with the headers of the reply. False: there is none, and nothing is sent. */
export function sendFile(serve: ReturnType<typeof sirv>, { raw }: FastifyRequest, reply: FastifyReply): boolean {
  let found = true
  reply.raw.setHeaders(new Map(Object.entries(reply.getHeaders()).map(([name, value]) => [name, String(value)])))
  reply.raw.once('pipe', (file: Readable) => file.once('error', () => giveUp(reply.raw)))
  serve(raw, reply.raw, () => {
    found = false
  })
  return found
}

/**
 * The page, which the build makes for any path: the addresses of its files begin with a dot there. The console reads from it where it is.
 */
function pageBelow(basePath: string, page: string): string {
  const addressed = page.replaceAll('="./', `="${basePath}/`)
  return basePath === '' ? addressed : addressed.replace('<html ', `<html data-base-path="${basePath}" `)
}

function robotsBelow(basePath: string, robots: string): string {
  return robots.replaceAll('Disallow: /', `Disallow: ${basePath}/`)
}

/** The file was removed or became unreadable after the check; its length has already been sent. */
function giveUp(response: ServerResponse): void {
  response.destroy()
}

/**
 * Whether a path is still a file of the folder, with the compressed forms that it had at the start: a new build removes the files
 * of the old one. A link that leads out of the folder does not count.
 */
function presenceIn(folder: string): (path: string) => boolean {
  const root = realpathSync.native(folder)
  const atStart = new Set(
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => `/${name.replaceAll(sep, '/')}`),
  )
  const isInside = (path: string) => {
    try {
      return realpathSync.native(join(root, path)).startsWith(root + sep)
    } catch {
      return false
    }
  }
  return (written) => {
    const path = decoded(written)
    return isInside(path) && ['.br', '.gz'].every((ending) => !atStart.has(path + ending) || isInside(path + ending))
  }
}

function decoded(path: string): string {
  try {
    return decodeURI(path)
  } catch {
    return path
  }
}
