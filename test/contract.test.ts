import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { z } from 'zod'
import { errors } from '../src/contract/errors.ts'
import { parseLine, type Routes } from '../src/contract/route.ts'
import { allRoutes } from '../src/contract/routes/index.ts'
import { openApi } from '../src/server/console/calls/openapi.ts'
import { type FormName, forms } from './contract/forms.ts'
import { type RecordedCall, recordedCalls } from './contract/recorded-calls.ts'
import { type RefusedCall, refusedCalls } from './contract/refused-calls.ts'
import { openSite, type Site } from './contract/site.ts'
import { eachDatabase } from './helpers/databases.ts'
import { sampled } from './helpers/torture.ts'

/**
 * Every recorded call of compatible consoles gets a reply in the form that they need, and every failure that the console can report
 * is provoked, with its code and status; on one complete server for each database.
 */
const consoleFolders = ['base/options', 'console', 'money', 'people', 'usage']
/** Failures that no single call can provoke: an overloaded server, and bytes that are not a request. */
const ofLoad = ['server_busy', 'bad_request']

type Answer = { success: boolean; message: string; code?: string; data?: unknown } & Record<string, unknown>

eachDatabase('the console', (_fresh, kind) => {
  let site: Site
  beforeAll(async () => {
    site = await openSite(kind)
  })
  afterAll(() => site.stop())

  const answerTo = async (sent: Parameters<Site['send']>[0]) => {
    const response = await site.send(sent)
    return { status: response.status, answer: (await response.json()) as Answer }
  }

  it.each(recordedCalls.map((recorded, index) => ({ ...recorded, number: index + 1 })))(
    'answers $call (no. $number) in the expected form',
    async ({ call, as, body, form, beside = {}, refused }: RecordedCall) => {
      expect(routeOf(call), 'no route takes this call').toBeDefined()
      const { status, answer } = await answerTo({ call, body, ...(as ? { as } : {}) })
      expect(typeof answer.message).toBe('string')
      if (refused) return expectRefusal({ status, answer }, refused)

      expect([answer.success, answer.message, status]).toEqual([true, expect.any(String), 200])
      expectForm(form, answer.data)
      for (const [field, named] of Object.entries(beside)) {
        if (named === 'seconds') expect(answer[field]).toEqual(expect.any(Number))
        else expectForm(named, answer[field])
      }
    },
  )

  // Most refusals precede any query: some of them are enough for the second database.
  it.each(sampled(refusedCalls, kind === 'sqlite' ? 1 : 4))(
    'refuses with $code: $call',
    async ({ options = {}, code, status, reasonInData, timed, ...sent }: RefusedCall) => {
      const { current } = site.server.app.options
      const before = Object.keys(options).map((key) => [key, asText(current[key as keyof typeof current])])
      try {
        for (const [key, value] of Object.entries(options)) await setOption(site, key, value)
        const told = await answerTo(sent)
        expectRefusal(told, { code, ...(status ? { status } : {}) })
        if (reasonInData) expect(told.answer.data).toBe(told.answer.message)
        if (timed) expect(told.answer.time).toEqual(expect.any(Number))
      } finally {
        for (const [key = '', value = ''] of before.reverse()) await setOption(site, key, value)
      }
    },
  )

  it('refuses changes by any call on a demo site', async () => {
    const open = new Set([
      ...[
        'POST /api/user/login',
        'POST /api/user/login/second',
        'POST /api/user/login/passkey/options',
        'POST /api/user/login/passkey',
      ],
      ...['GET /api/user/logout', 'POST /api/user/logout'],
    ])
    await setOption(site, 'DemoSiteEnabled', 'true')
    for (const [line, route] of Object.entries(allRoutes as Routes)) {
      if (open.has(line) || (line.startsWith('GET ') && !route.writes)) continue
      const body = line.startsWith('GET ') ? {} : { body: line === 'PUT /api/option/' ? { key: 'Notice', value: 'x' } : {} }
      const response = await site.send({ call: line.replace(/:\w+/g, '1'), ...body })
      expect(response.status, line).toBe(405)
      if (!route.text) expect(await response.json(), line).toMatchObject({ success: false, code: 'demo_site' })
    }
    await setOption(site, 'DemoSiteEnabled', 'false')
  })
})

it('every failure of the console is provoked by a call, here or in the tests of the rule', () => {
  const rules = sourcesOf(
    consoleFolders.map((folder) => `src/server/${folder}`),
    /(?<!\.test)\.ts$/,
  )
  const tests = sourcesOf(['src', 'test'], /\.(test|torture)\.tsx?$/)
  const shown = new Set([...refusedCalls.map(({ code }) => code), ...recordedCalls.map(({ refused }) => refused?.code)])
  const others = Object.keys(errors).filter((code) => !ofLoad.includes(code) && rules.includes(`'${code}'`) && !shown.has(code))
  expect(others.filter((code) => !new RegExp(`\\b${code}\\b`).test(tests))).toEqual([])
})

it('required members of answers are required in the OpenAPI description', () => {
  const { paths } = openApi('1') as { paths: Record<string, Record<string, { requestBody: unknown }>> }
  const required = (path: string) => paths[path]?.post?.requestBody
  const asking = (...names: string[]) => ({
    content: { 'application/json': { schema: { required: expect.arrayContaining(names) } } },
  })
  expect(required('/api/user/login')).toMatchObject(asking('username', 'password'))
  expect(required('/api/channel/')).toMatchObject(asking('type', 'name', 'key', 'models'))
  expect(required('/api/token/')).toMatchObject(asking('name'))
  expect(JSON.stringify(paths)).not.toContain('"needed"')
})

it('the build contains the OpenAPI description', () => {
  const described = openApi(readFileSync('VERSION', 'utf8').trim())
  expect(JSON.parse(readFileSync('dist/openapi.json', 'utf8'))).toEqual(JSON.parse(JSON.stringify(described)))
})

it('the images that pages and browsers request automatically are files of the console', () => {
  const starts = { 'logo.png': [0x89, 0x50, 0x4e, 0x47], 'favicon.ico': [0, 0, 1, 0] }
  for (const [name, bytes] of Object.entries(starts))
    expect([...readFileSync(join('src/web/public', name)).subarray(0, 4)], name).toEqual(bytes)
})

function sourcesOf(folders: readonly string[], name: RegExp): string {
  const files = folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((file) => join(folder, file)),
  )
  return files.flatMap((file) => (name.test(file) ? [readFileSync(file, 'utf8')] : [])).join('\n')
}

function expectRefusal(
  { status, answer }: { status: number; answer: Answer },
  refused: { readonly code: string | undefined; readonly status?: number },
): void {
  expect([answer.code, answer.success, status], answer.message).toEqual([
    refused.code ?? expect.any(String),
    false,
    refused.status ?? 200,
  ])
  expect(answer.message).not.toBe('')
}

async function setOption({ server }: Site, key: string, value: string): Promise<void> {
  const answer = (await (await server.raw('PUT /api/option/', { key, value })).json()) as Answer
  if (!answer.success) throw new Error(`${key}: ${answer.message}`)
}

function asText(value: unknown): string {
  if (Array.isArray(value)) return value.join(',')
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** The route that answers a recorded call, written with or without the last slash. */
function routeOf(call: string): string | undefined {
  const { method, path } = parseLine(call)
  const wanted = trimmed((path.split('?', 1)[0] ?? '').replace(/\$[a-z][A-Za-z]+/g, '1'))
  const matches = Object.keys(allRoutes).filter((line) => {
    const known = parseLine(line)
    return known.method === method && new RegExp(`^${trimmed(known.path).replace(/:\w+/g, '[^/]+')}$`).test(wanted)
  })
  // A route without parameters takes precedence.
  return matches.find((line) => !line.includes(':')) ?? matches[0]
}

function trimmed(path: string): string {
  return path.replace(/\/$/, '')
}

function expectForm(name: FormName = 'anything', value: unknown): void {
  const checked = forms[name].safeParse(value)
  if (!checked.success) throw new Error(`${z.prettifyError(checked.error)}\nin ${JSON.stringify(value).slice(0, 500)}`)
}
