import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import type { Page } from 'playwright-core'
import sirv from 'sirv'
import type { ConsoleFiles } from '../../src/server/console/http/static-files.ts'

const file = createRequire(import.meta.url).resolve('axe-core/axe.min.js')
const path = '/axe.min.js'
const serveAxe = sirv(dirname(file), { immutable: true, maxAge: 3600 })

/**
 * The files of the console, with axe added: a browser loads its half megabyte over HTTP only once, and caches the compiled code.
 */
export function withAxe(files: ConsoleFiles | undefined): ConsoleFiles | undefined {
  if (!files) return undefined
  const { exists, serve } = files
  return {
    ...files,
    exists: (wanted) => wanted === path || exists(wanted),
    serve: (request, response, next) => (request.url === path ? serveAxe : serve)(request, response, next),
  }
}

/** Adds axe to a page of a server of the tests, or to one without an address. */
export async function addAxe(page: Page): Promise<void> {
  if (await page.evaluate('"axe" in window')) return
  await page.addScriptTag(page.url().startsWith('http') ? { url: path } : { path: file })
}
