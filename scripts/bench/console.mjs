// How long screens of the console take until they are usable, alone and beside a full load of the relay.
import { medianOf } from './measure.mjs'
import { observeVisit, startBrowser, storageOf, visitPage } from './visit.mjs'

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
  const browser = await startBrowser()
  try {
    const storageState = await signedIn(browser, { port, password })
    const results = []
    for (const { path, list = false } of screens) {
      const visits = []
      for (let turn = 0; turn < times; turn++)
        visits.push(await visit(browser, storageState, `http://127.0.0.1:${port}${path}`, list))
      results.push({ path, ...medianOf(visits) })
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
    return storageOf(origin, cookies, data)
  } finally {
    await context.close()
  }
}

async function visit(browser, storageState, address, list) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, storageState })
  try {
    const page = await context.newPage()
    await page.addInitScript(observeVisit, { list })
    const first = await visitPage(page, address)
    await page.goto('about:blank')
    const again = await visitPage(page, address)
    return { firstMs: first.usableMs, againMs: again.usableMs }
  } finally {
    await context.close()
  }
}
