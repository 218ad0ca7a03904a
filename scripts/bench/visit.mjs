// The measurements of one visit of the console in a browser: time until usable, layout shifts, blocking time, weight.
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { runnerImport } from 'vite'
import { root } from '../lib/process.mjs'

/** The profile that browser tools call slow 4G. */
const line = { downloadBitsPerSecond: 1_600_000, uploadBitsPerSecond: 750_000, latencyMs: 150 }

/** Applies slow 4G, and slows the processor down by a factor. */
export async function slowDown(connection, processor) {
  await connection.send('Network.enable')
  await connection.send('Network.emulateNetworkConditions', {
    offline: false,
    latency: line.latencyMs,
    downloadThroughput: line.downloadBitsPerSecond / 8,
    uploadThroughput: line.uploadBitsPerSecond / 8,
  })
  await connection.send('Emulation.setCPUThrottlingRate', { rate: processor })
}

/** Starts the browser of the tests. */
export async function startBrowser() {
  const { launchBrowser } = (await runnerImport(join(root, 'test/helpers/browser.ts'))).module
  return launchBrowser()
}

/** The storage of a browser in which `user` is logged in at `origin`. */
export function storageOf(origin, cookies, user) {
  return { cookies, origins: [{ origin, localStorage: [{ name: 'user', value: JSON.stringify(user) }] }] }
}

/** Runs in the page before its own scripts: records when its content is rendered, and the layout shifts. */
export function observeVisit({ list }) {
  const visit = { usableMs: 0, shift: 0 }
  window.visit = visit
  new PerformanceObserver((entries) => {
    for (const entry of entries.getEntries()) if (!entry.hadRecentInput) visit.shift += entry.value
  }).observe({ type: 'layout-shift', buffered: true })
  const isUsable = () => {
    const main = document.querySelector('main')
    return (
      main?.querySelector('h1') &&
      !main.querySelector('.mantine-Skeleton-root, [data-loading]') &&
      (!list || main.querySelector('tbody tr'))
    )
  }
  const look = () => {
    if (isUsable()) visit.usableMs = performance.now()
    else requestAnimationFrame(look)
  }
  requestAnimationFrame(look)
}

/** Opens a page that runs `observeVisit`; waits for its content, and then for late layout shifts. */
export async function visitPage(page, path) {
  await page.goto(path, { waitUntil: 'commit' })
  await page.waitForFunction(() => window.visit?.usableMs > 0, undefined, { timeout: 60_000 })
  await page.waitForTimeout(1500)
  return page.evaluate(() => window.visit)
}

/** Runs in the page: records the longest task from now on. */
export function observeTasks() {
  window.longestTaskMs = 0
  new PerformanceObserver((entries) => {
    for (const entry of entries.getEntries()) window.longestTaskMs = Math.max(window.longestTaskMs, entry.duration)
  }).observe({ type: 'longtask' })
}

export const longestTask = () => window.longestTaskMs

/** Weighs the scripts that the page loads, as the compressed size of their text: independent of the encoding in use. */
export async function weigh(connection) {
  await connection.send('Network.enable')
  const loaded = new Map()
  connection.on('Network.responseReceived', ({ requestId, type, response }) => {
    if (type === 'Script' || /\.js$/.test(new URL(response.url).pathname)) loaded.set(response.url, requestId)
  })
  return {
    async gzipKb() {
      const bodies = await Promise.all(
        [...loaded.values()].map((requestId) =>
          connection.send('Network.getResponseBody', { requestId }).catch(() => ({ body: '', base64Encoded: false })),
        ),
      )
      return bodies.reduce((sum, { body }) => sum + gzipSync(body, { level: 9 }).length, 0) / 1000
    },
  }
}
