import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { inflate } from '@sparticuz/chromium'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { addAxe } from './axe.ts'
import { isFree } from './free-port.ts'
import { roomyMemory } from './templates.ts'

const require = createRequire(import.meta.url)

const flags = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--font-render-hinting=none',
]
/**
 * For pages that are closed after seconds: optimizing their scripts and frequent garbage collection take more time than they save.
 */
export const unoptimized = '--js-flags=--no-opt --no-maglev --min-semi-space-size=16'
const installed = [process.env.CHROMIUM_PATH, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']

/**
 * Chromium draws in shared memory; with files on the disk instead, a page takes a fifth longer. That is only needed without enough
 * memory.
 */
const ignoreDefaultArgs = roomyMemory(2) ? ['--disable-dev-shm-usage'] : []

/** Starts a headless Chromium: the one from npm, which includes its libraries and a font, otherwise one of the system. */
export async function launchBrowser(more: readonly string[] = []): Promise<Browser> {
  const failures: string[] = []
  for (const candidate of [packedChromium, ...installed.map((path) => async () => ({ executablePath: path ?? '' }))]) {
    try {
      const start = await candidate()
      if (existsSync(start.executablePath))
        return await chromium.launch({ ...start, args: [...flags, ...more], ignoreDefaultArgs })
    } catch (error) {
      failures.push(String(error).slice(0, 500))
    }
  }
  throw new Error(
    `No Chromium starts. Install one with: npm ci, or: apt-get install chromium. CHROMIUM_PATH names another.\n${failures.join('\n')}`,
  )
}

let shared: Promise<Browser> | undefined

/**
 * One browser for all files of a worker, which share its modules: each opens its own contexts in it. Playwright ends it with the
 * worker.
 */
export async function sharedBrowser(): Promise<Browser> {
  if (!(await shared)?.isConnected()) shared = launchBrowser([unoptimized])
  return (await shared) as Browser
}

export interface PageSettings {
  readonly language?: 'zh' | 'en'
  readonly scheme?: 'light' | 'dark'
  readonly width?: number
  readonly height?: number
  /** Address that relative addresses of `page.goto` start from. */
  readonly baseUrl?: string
  /** Initial cookies and local storage, such as those of a logged-in user. */
  readonly storage?: Exclude<BrowserContextOptions['storageState'], string | undefined>
}

interface OpenPage {
  readonly page: Page
  /** Console errors, uncaught exceptions and failed loads so far. */
  readonly problems: string[]
  close(): Promise<void>
}

/** A page with its own cookies and storage. */
export async function openPage(browser: Browser, settings: PageSettings = {}): Promise<OpenPage> {
  const { language = 'zh', scheme = 'light', width = 1440, height = 900, baseUrl, storage } = settings
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme: scheme,
    locale: language === 'zh' ? 'zh-CN' : 'en-US',
    timezoneId: 'Asia/Shanghai',
    reducedMotion: 'reduce',
    ...(baseUrl === undefined ? {} : { baseURL: baseUrl }),
    ...(storage === undefined ? {} : { storageState: storage }),
  })
  await context.addInitScript(
    (initial) => {
      for (const [name, value] of initial) localStorage.getItem(name) ?? localStorage.setItem(name, value)
    },
    [
      ['i18nextLng', language],
      [schemeKey, scheme],
    ] as const,
  )

  const page = await context.newPage()
  return { page, problems: problemsOf(page), close: () => context.close() }
}

function problemsOf(page: Page): string[] {
  const problems: string[] = []
  page.on('console', (message) => {
    if (message.type() === 'error') problems.push(`console: ${message.text()} (${message.location().url})`)
  })
  page.on('pageerror', (error) => problems.push(`exception: ${error.message}`))
  page.on('requestfailed', (request) => {
    const reason = request.failure()?.errorText ?? ''
    if (reason !== 'net::ERR_ABORTED') problems.push(`failed: ${request.method()} ${request.url()} ${reason}`)
  })
  return problems
}

/**
 * Pages of one origin that are reused once they are closed: a new page is a new process, which compiles the console again. Each
 * begins with only the given storage; tests must not have replaced its scripts or its clock.
 */
export class PagePool {
  readonly baseUrl: string
  readonly #browser: Browser
  readonly #idle = new Map<string, Page[]>()

  constructor(browser: Browser, baseUrl: string) {
    this.#browser = browser
    this.baseUrl = baseUrl
  }

  /** Whether its pages belong to this browser, and another server can listen at their origin. */
  async isUsableIn(browser: Browser): Promise<boolean> {
    return browser === this.#browser && browser.isConnected() && (await isFree(Number(new URL(this.baseUrl).port)))
  }

  async open(settings: Omit<PageSettings, 'baseUrl'>): Promise<OpenPage> {
    // All other settings of an open page can be changed.
    const { language = 'zh' } = settings
    const idle = this.#idle.get(language)?.pop()
    const { page, problems } = idle
      ? { page: idle, problems: await begin(idle, settings) }
      : await openPage(this.#browser, { ...settings, baseUrl: this.baseUrl })
    const close = async () => {
      await leave(page)
      this.#idle.set(language, [...(this.#idle.get(language) ?? []), page])
    }
    return { page, problems, close }
  }
}

/** The key under which the console stores the color scheme. */
const schemeKey = 'mantine-color-scheme-value'
/** A document of the same origin without a script: a page that navigates anywhere else gets another process. */
const scriptless = '/favicon.ico'

async function begin(page: Page, { scheme = 'light', width = 1440, height = 900, storage }: PageSettings): Promise<string[]> {
  await page.emulateMedia({ colorScheme: scheme })
  await page.setViewportSize({ width, height })
  await page.context().addCookies(storage?.cookies ?? [])
  const items = [{ name: schemeKey, value: scheme }, ...(storage?.origins.flatMap(({ localStorage }) => localStorage) ?? [])]
  await page.evaluate((items) => {
    for (const { name, value } of items) localStorage.setItem(name, value)
  }, items)
  return problemsOf(page)
}

/** Removes everything that a test has added to a page. */
async function leave(page: Page): Promise<void> {
  const context = page.context()
  for (const event of ['console', 'pageerror', 'requestfailed', 'request', 'response', 'dialog'] as const)
    page.removeAllListeners(event)
  for (const other of context.pages()) if (other !== page) await other.close()
  await page.unrouteAll({ behavior: 'ignoreErrors' })
  await page.setExtraHTTPHeaders({})
  await context.clearPermissions()
  await page.goto(scriptless)
  await context.clearCookies()
  await page.evaluate(async () => {
    localStorage.clear()
    sessionStorage.clear()
    for (const { name = '' } of await indexedDB.databases()) indexedDB.deleteDatabase(name)
  })
}

interface AxeResult {
  readonly violations: readonly {
    id: string
    impact: string | null
    help: string
    nodes: readonly { target: readonly unknown[]; html: string }[]
  }[]
}

/** Disables rules of lower levels, whose violations are not needed; no enabled rule needs the style sheets to be loaded again. */
const runOfAxe = (contrast: boolean) => `axe.run(document, {
  resultTypes: ['violations'],
  preload: { assets: ['media'] },
  rules: Object.fromEntries(
    axe.getRules().map(({ ruleId }) => axe._audit.getRule(ruleId))
      .filter(({ id, impact }) => impact === 'minor' || impact === 'moderate' || (!${contrast} && id === 'color-contrast'))
      .map(({ id }) => [id, { enabled: false }])),
})`

/** Violations of level serious or worse that axe finds on the page, one line per element; of contrast only if requested. */
export async function seriousViolations(page: Page, contrast = true): Promise<string[]> {
  await addAxe(page)
  // The script defines `axe` on the page; its result is plain data.
  const result = (await page.evaluate(runOfAxe(contrast))) as AxeResult
  return result.violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, help, nodes }) =>
      nodes.map(({ target, html }) => `${id}: ${help} at ${target.join(' ')} in ${html.slice(0, 160)}`),
    )
}

/** Unpacks the Chromium of the npm package once per version into the temporary folder. */
async function packedChromium(): Promise<{ executablePath: string; env: Record<string, string> }> {
  const entry = require.resolve('@sparticuz/chromium')
  const folder = dirname(dirname(dirname(entry)))
  const { version } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))
  const home = join(tmpdir(), `sluice-chromium-${version}-${process.getuid?.() ?? 0}`)
  if (!existsSync(home)) await unpack(join(folder, 'bin'), home)

  return {
    executablePath: join(home, 'chromium'),
    env: { ...environment(), LD_LIBRARY_PATH: join(home, 'al2023/lib'), FONTCONFIG_FILE: join(home, 'fonts.conf') },
  }
}

/** Unpacks beside the final folder and renames it, so that concurrent tests never see a part of it. */
async function unpack(from: string, home: string): Promise<void> {
  const half = await mkdtemp(`${home}-`)
  const before = process.env.TMPDIR
  try {
    // The package unpacks into the temporary folder and nowhere else.
    process.env.TMPDIR = half
    await Promise.all(['chromium.br', 'al2023.tar.br', 'fonts.tar.br'].map((file) => inflate(join(from, file))))
  } finally {
    if (before === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = before
  }
  await mkdir(join(half, 'cache'), { recursive: true })
  const folders = ['/usr/share/fonts', '/usr/local/share/fonts', join(home, 'fonts')].map((path) => `<dir>${path}</dir>`).join('')
  await writeFile(
    join(half, 'fonts.conf'),
    `<?xml version="1.0"?><fontconfig>${folders}<cachedir>${join(home, 'cache')}</cachedir></fontconfig>\n`,
  )
  await rename(half, home).catch(() => rm(half, { recursive: true, force: true }))
}

function environment(): Record<string, string> {
  return Object.fromEntries(Object.entries(process.env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])))
}
