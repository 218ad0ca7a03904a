// How long screens of the console take until they are usable, alone and beside a full load of the relay.
import { join } from 'node:path'
import { runnerImport } from 'vite'
import { root } from '../lib/process.mjs'
import { observeVisit, readVisit } from './visit.mjs'

/** `list`: has rows to wait for. */
const screens = [
  { path: '/overview' },
  { path: '/detail' },
  { path: '/log', list: true },
  { path: '/channel', list: true },
  { path: '/user', list: true },
]

/**
 * Visits every screen `times` times as the super admin, each time in a new browser context, and again with the browser's cache. Returns the medians.
 * @returns {Promise<{ path: string, firstMs: number, againMs: number }[]>}
 */
export async function visitScreens({ port, password }, times) {
  // The browser is started like in the tests.
  const { launchBrowser } = (await runnerImport(join(root, 'test/helpers/browser.ts'))).module
  const browser = await launchBrowser()
  try {
    const storageState = await signedIn(browser, { port, password })
    const results = []
    for (const { path, list = false } of screens) {
      const visits = []
      for (let turn = 0; turn < times; turn++)
        visits.push(await visit(browser, storageState, `http://127.0.0.1:${port}${path}`, list))
      results.push({ path, firstMs: middle(visits.map(({ first }) => first)), againMs: middle(visits.map(({ again }) => again)) })
    }
    return results
  } finally {
    await browser.close()
  }
}

async function signedIn(browser, { port, password }) {
  const origin = `http://127.0.0.1:${port}`
  const context = await browser.newContext({ baseURL: origin })
  try {
    const response = await context.request.post('/api/user/login', { data: { username: 'root', password } })
    const { data, message, success } = await response.json()
    if (!success) throw new Error(`The super admin could not sign in: ${message}`)
    const { cookies } = await context.storageState()
    return { cookies, origins: [{ origin, localStorage: [{ name: 'user', value: JSON.stringify(data) }] }] }
  } finally {
    await context.close()
  }
}

async function visit(browser, storageState, address, list) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, storageState })
  try {
    const page = await context.newPage()
    await page.addInitScript(observeVisit, { list })
    await page.goto(address, { waitUntil: 'commit' })
    const first = await readVisit(page)
    await page.goto('about:blank')
    await page.goto(address, { waitUntil: 'commit' })
    const again = await readVisit(page)
    return { first: first.usableMs, again: again.usableMs }
  } finally {
    await context.close()
  }
}

function middle(values) {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)]
}
