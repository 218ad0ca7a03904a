// `npm run bench:web`: measures weight and speed of the console in a real browser, with the network and the processor of a slow phone.
//   --screens /log,/token         only these
//   --processor N                slowdown of the processor; 2 by default, 4 on a fast machine
//   --times N                     visits of each; the table has the median
//   --weight                      only the weight of a first visit, at full speed, as in `npm run check`
import { mkdtemp, rm } from 'node:fs/promises'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { fillLog } from './bench/fill-log.mjs'
import { longestTask, observeTasks, observeVisit, slowDown, startBrowser, storageOf, visitPage, weigh } from './bench/visit.mjs'
import { buildWhenStale } from './build.mjs'
import { installWhenNeeded } from './lib/install.mjs'

const { values: given } = parseArgs({
  options: {
    screens: { type: 'string' },
    processor: { type: 'string', default: '2' },
    times: { type: 'string', default: '3' },
    weight: { type: 'boolean', default: false },
  },
})
const times = given.weight ? 1 : Number(given.times)
const rows = 100
const password = 'only for this run'
const target = { usableMs: 1500, shift: 0.1, javascriptKb: 250, longestTaskMs: 200 }

/** Typical content of an operator: Markdown with an image and some HTML. */
const written = {
  Notice: '## 维护通知 Maintenance\n\n周一 **02:00–04:00** 停机。New models: `gpt-4.1`, [details](/about).',
  HomePageContent: `# Welcome

<p align="center"><img src="/logo.png" alt="" width="72"></p>

One address for every model. **Prices** are on the [price list](/pricing).

| Model | Input | Output |
|---|--:|--:|
| gpt-4o | $2.5 | $10 |
| gpt-4o-mini | $0.15 | $0.6 |

\`\`\`sh
curl https://api.example.com/v1/models -H "Authorization: Bearer $KEY"
\`\`\`

> Questions? Write to <help@example.com>.
`,
  About: '# About\n\n- Run by a few people\n- <b>Nothing</b> of what you send is kept\n',
}

/** `list`: the page has rows to wait for. `lists`: the lists whose load time and scrolling have targets. */
const pages = [
  { path: '/login', who: 'nobody' },
  { path: '/register', who: 'nobody' },
  { path: '/reset', who: 'nobody' },
  { path: '/' },
  { path: '/pricing' },
  { path: '/about' },
  { path: '/playground' },
  { path: '/overview' },
  { path: '/detail', heavy: true },
  { path: '/log', list: true, promised: true },
  { path: '/token', list: true, promised: true },
  { path: '/user', list: true, promised: true },
  { path: '/user/add' },
  { path: '/user/edit/1' },
  { path: '/channel', list: true },
  { path: '/channel/add' },
  { path: '/channel/edit/1' },
  { path: '/redemption' },
  { path: '/order' },
  { path: '/topup' },
  { path: '/topup?tab=orders' },
  { path: '/topup?tab=statement' },
  { path: '/chat' },
  { path: '/user/edit' },
  { path: '/midjourney' },
  { path: '/task' },
  ...['rules', 'history', 'destinations', 'webhooks'].map((tab) => ({ path: `/alerts?tab=${tab}` })),
  { path: '/setting' },
  ...['operation', 'prices', 'ratelimit', 'models', 'system', 'other', 'runtime', 'audit'].map((tab) => ({
    path: `/setting?tab=${tab}`,
  })),
].filter(({ path }) => !given.screens || given.screens.split(',').includes(path))

await installWhenNeeded({ tests: true })
await buildWhenStale()

const { openApp } = await import('../dist/server/run/app.js')
const { listen } = await import('../dist/server/console/http/server.js')
const { readEnv } = await import('../dist/server/base/env.js')

const folder = await mkdtemp(join(tmpdir(), 'sluice-web-'))
const ends = [() => rm(folder, { recursive: true, force: true })]
try {
  const site = await openSite()
  const browser = await startBrowser()
  ends.push(() => browser.close())
  const results = []
  // Times are measured one visit at a time; the weight is the same for parallel visits.
  const atOnce = given.weight ? 4 : 1
  const waiting = [...pages]
  const work = async () => {
    for (let page = waiting.shift(); page; page = waiting.shift()) results.push(await measure(browser, site, page))
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  process.exitCode = (given.weight ? printWeights(results) : print(results)) ? 0 : 1
} finally {
  for (const end of ends.reverse()) await end()
}

/** A server with a log, a hundred users, a hundred tokens, an unread notice and operator pages, and a logged-in root. */
async function openSite() {
  const env = { ...readEnv({ ROOT_PASSWORD: password }), PORT: 0, DATA_DIR: folder, LOG_LEVEL: 'error' }
  const { app, close } = await openApp(env)
  ends.push(close)
  const server = await listen(app)
  ends.push(() => server.stop(1000))
  const { raw } = app.database
  await fillLog({
    dialect: 'sqlite',
    run: async (sql) => raw.exec(sql),
    // Some hundreds per day: the log first shows those of today.
    rows: 30_000,
    endSeconds: Math.floor(Date.now() / 1000),
    log: () => {},
  })
  const url = server.url.replace('localhost', '127.0.0.1')
  const token = await app.sessions.create({ userId: 1, address: '127.0.0.1', userAgent: 'bench' })
  const headers = { cookie: `session=${token}`, 'new-api-user': '1', 'content-type': 'application/json' }
  const call = async (method, path, body) => {
    const response = await fetch(url + path, { method, headers, body: body && JSON.stringify(body) })
    const answer = await response.json()
    if (!answer.success) throw new Error(`${path}: ${answer.message}`)
    return answer.data
  }
  for (let number = 1; number <= rows; number++) {
    await call('POST', '/api/token/', { name: `token-${number}`, unlimited_quota: number % 2 === 0, remain_quota: 500_000 })
  }
  for (let number = 1; number <= 20; number++) {
    const channel = { type: 1, key: `key-${number}`, base_url: url, models: 'gpt-4o,gpt-4o-mini', groups: ['default'] }
    await call('POST', '/api/channel/', { ...channel, name: `channel-${number}` })
  }
  for (const [key, value] of Object.entries(written)) await call('PUT', '/api/option/', { key, value })
  return { url, token, user: await call('GET', '/api/user/self') }
}

/** Opens a page for the first time, again with the browser's cache, and scrolls its list. */
async function measure(browser, site, page) {
  const runs = []
  for (let turn = 0; turn < times; turn++) runs.push(await visit(browser, site, page))
  if (given.weight) return { ...page, ...runs[0] }
  const middle = (of) => runs.map(of).sort((one, other) => one - other)[Math.floor(runs.length / 2)]
  const result = {
    ...page,
    firstMs: middle((run) => run.first.usableMs),
    againMs: middle((run) => run.again.usableMs),
    shift: Math.max(...runs.flatMap((run) => [run.first.shift, run.again.shift])),
    javascriptKb: middle((run) => run.javascriptKb),
    longestTaskMs: page.promised ? middle((run) => run.longestTaskMs) : undefined,
  }
  console.log(`${page.path}: ${result.firstMs.toFixed(0)} ms, again ${result.againMs.toFixed(0)} ms`)
  return result
}

async function visit(browser, site, { path, who, list = false, promised = false }) {
  const context = await browser.newContext({
    baseURL: site.url,
    viewport: { width: 1440, height: 900 },
    ...(who === 'nobody' ? {} : { storageState: loggedIn(site) }),
  })
  const page = await context.newPage()
  try {
    await page.addInitScript(observeVisit, { list })
    const connection = await context.newCDPSession(page)
    if (!given.weight) await slowDown(connection, Number(given.processor))
    const scripts = await weigh(connection)
    const first = await visitPage(page, path)
    const javascriptKb = await scripts.gzipKb()
    if (given.weight) return { javascriptKb }
    await page.goto('about:blank')
    const again = await visitPage(page, path)
    return { first, again, javascriptKb, longestTaskMs: promised ? await scroll(page, path) : 0 }
  } finally {
    await context.close()
  }
}

/** The longest task while a hundred rows are scrolled through. */
async function scroll(page, path) {
  await page.evaluate((size) => localStorage.setItem('page-size', size), String(rows))
  await page.goto(path)
  await page
    .locator('tbody tr')
    .nth(rows - 1)
    .waitFor({ state: 'attached' })
  await page.waitForTimeout(1500)
  // Rendering is complete.
  await page.evaluate(() => new Promise((resolve) => requestIdleCallback(resolve)))
  await page.evaluate(observeTasks)
  await page.mouse.move(900, 600)
  for (let step = 0; step < 40; step++) {
    await page.mouse.wheel(0, 200)
    await page.waitForTimeout(50)
  }
  return page.evaluate(longestTask)
}

function loggedIn({ url, token, user }) {
  const cookie = { name: 'session', value: token, domain: '127.0.0.1', path: '/', expires: -1, httpOnly: true, secure: false }
  return storageOf(url, [{ ...cookie, sameSite: 'Lax' }], user)
}

/** One line for each screen, the heaviest first; values over the target are marked. Returns whether all are within it. */
function printWeights(results) {
  const isOver = ({ heavy, javascriptKb }) => !heavy && javascriptKb > target.javascriptKb
  for (const page of results.toSorted((one, other) => other.javascriptKb - one.javascriptKb)) {
    const note = isOver(page) ? ` !! more than ${target.javascriptKb}` : page.heavy ? ' (exempt)' : ''
    console.log(`first visit ${page.javascriptKb.toFixed(0)} KB: ${page.path}${note}`)
  }
  return !results.some(isOver)
}

/** Prints one table; values over their target are marked. Returns whether all are within their targets. */
function print(results) {
  let held = true
  const cell = (value, most, text) => {
    if (value === undefined) return '–'
    const over = most !== undefined && value > most
    if (over) held = false
    return over ? `**${text}** !` : text
  }
  const lines = results.map(({ path, promised, heavy, firstMs, againMs, shift, javascriptKb, longestTaskMs }) => [
    path,
    // The transfer is bounded by the weight: 250 KB alone take 1.3 s there.
    cell(firstMs, undefined, `${firstMs.toFixed(0)} ms`),
    cell(againMs, promised ? target.usableMs : undefined, `${againMs.toFixed(0)} ms`),
    cell(javascriptKb, heavy ? undefined : target.javascriptKb, `${javascriptKb.toFixed(0)} KB`),
    cell(shift, target.shift, shift.toFixed(3)),
    cell(longestTaskMs, target.longestTaskMs, `${longestTaskMs?.toFixed(0)} ms`),
  ])
  const head = [
    'Screen',
    'First visit usable',
    'Next visit usable',
    'JavaScript, gzip',
    'Layout shift',
    'Longest task, 100 rows scrolled',
  ]
  const promise = [
    'at most',
    '–',
    `${target.usableMs} ms (log, tokens, users)`,
    `${target.javascriptKb} KB`,
    String(target.shift),
    `${target.longestTaskMs} ms`,
  ]
  const row = (cells) => `| ${cells.join(' | ')} |`
  console.log(
    `\nThe machine was busy with ${loadavg()[0]?.toFixed(1)} processes on the average; figures of a busy one say little.`,
  )
  console.log(`\n${[row(head), row(head.map(() => '---')), row(promise), ...lines.map(row)].join('\n')}`)
  return held
}
