import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { type Profiler, Session } from 'node:inspector'
import { fileURLToPath } from 'node:url'
import { parseAst, Visitor } from 'vite'
import { describe, expect, it, onTestFinished, vi } from 'vitest'

describe('the path of a streamed chat to its first upstream byte', () => {
  it('waits at most twice', async () => {
    const coverage = startCoverage()
    vi.resetModules()
    const { chat, httpUpstream, stage } = await import('./stage.ts')
    const url = await httpUpstream((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.end('data: {"choices":[{"index":0,"delta":{"content":"one"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n')
    })
    const { ask } = await stage('sqlite', url)
    // The first request loads the token; every later one takes the usual path.
    expect((await ask(chat({ stream: true }))).status).toBe(200)
    coverage.take()
    const sent = whenSentTo(url, () => ({ scripts: coverage.take(), frames: callSites() }))
    expect((await ask(chat({ stream: true }))).status).toBe(200)

    const { scripts, frames } = await sent
    // Modules that other tests have loaded in this process are older scripts, of which a timer may still run.
    const oldestFirst = [...scripts].sort((a, b) => Number(a.scriptId) - Number(b.scriptId))
    const newest = [...new Map(oldestFirst.map((script) => [script.url, script])).values()]
    const passed = newest.filter((script) => script.url.includes('/src/server/gateway/relay/') && isCalled(script))
    const waits = passed.flatMap((script) => waitsIn(script, coverage.sourceOf(script), frames))
    expect(passed.map(({ url }) => url)).toContainEqual(expect.stringContaining('/upstream/http-exchange.ts'))
    expect(waits.join('\n')).toContain('readBody()')
    expect(waits.length, waits.join('\n')).toBeLessThanOrEqual(2)
  })
})

/** Counts executed code. It must begin before the server is loaded: V8 counts the blocks of code compiled from then on. */
function startCoverage() {
  const session = new Session()
  session.connect()
  onTestFinished(() => session.disconnect())
  session.post('Debugger.enable')
  session.post('Profiler.enable')
  session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true })
  return {
    /** The code executed since the last call. A session on its own thread answers before `post` returns. */
    take(): Profiler.ScriptCoverage[] {
      let result: Profiler.ScriptCoverage[] = []
      session.post('Profiler.takePreciseCoverage', (_error, answer) => {
        result = answer.result
      })
      return result
    },
    sourceOf({ scriptId }: Profiler.ScriptCoverage): string {
      let source = ''
      session.post('Debugger.getScriptSource', { scriptId }, (_error, answer) => {
        source = answer.scriptSource
      })
      return source
    },
  }
}

/** The result of `look`, called when the next request to an origin is passed to the HTTP client. */
function whenSentTo<Seen>(origin: string, look: () => Seen): Promise<Seen> {
  return new Promise((resolve) => {
    const listener = (message: unknown) => {
      if ((message as { request: { origin: string } }).request.origin !== origin) return
      unsubscribe('sluice:upstream:request', listener)
      resolve(look())
    }
    subscribe('sluice:upstream:request', listener)
  })
}

/** The stack: running functions, and those that await them. */
function callSites(): NodeJS.CallSite[] {
  const { prepareStackTrace, stackTraceLimit } = Error
  Error.stackTraceLimit = 200
  Error.prepareStackTrace = (_error, sites) => sites
  // `prepareStackTrace` above makes `stack` the list of call sites.
  const sites = new Error().stack as unknown as NodeJS.CallSite[]
  Object.assign(Error, { prepareStackTrace, stackTraceLimit })
  return sites
}

/** Whether a function or method has run. Those without a name are module exports and field initializers. */
function isCalled({ functions }: Profiler.ScriptCoverage): boolean {
  return functions.some(
    ({ functionName: name, ranges }) =>
      name !== '' && name !== '<instance_members_initializer>' && ranges.some(({ count }) => count > 0),
  )
}

/** Every completed `await` of a script. In a function that still runs those are the ones before its current position. */
function waitsIn({ url, functions }: Profiler.ScriptCoverage, source: string, frames: readonly NodeJS.CallSite[]): string[] {
  const around = (offset: number) =>
    functions
      .flatMap(({ ranges }) => ranges.map((range) => ({ ...range, whole: ranges[0] })))
      .filter(({ startOffset, endOffset }) => startOffset <= offset && offset < endOffset)
      .sort((a, b) => a.endOffset - a.startOffset - (b.endOffset - b.startOffset))[0]
  const positions = frames
    .filter((frame) => frame.getScriptNameOrSourceURL() === fileURLToPath(url))
    .map((frame) => frame.getPosition())
  const waits: string[] = []
  new Visitor({
    AwaitExpression({ start, end }) {
      const range = around(start)
      const at = positions.find((position) => around(position)?.whole === range?.whole)
      if (range && range.count > 0 && (at === undefined || end <= at)) waits.push(source.slice(start, end).slice(0, 80))
    },
  }).visit(parseAst(source))
  return waits
}
