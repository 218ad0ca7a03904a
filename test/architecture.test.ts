import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { importsOf, violations } from './helpers/imports.ts'

const root = new URL('../', import.meta.url)
const sources = readdirSync(new URL('src/', root), { recursive: true, encoding: 'utf8' })
  .map((path) => `src/${path.replaceAll('\\', '/')}`)
  .filter((path) => /\.tsx?$/.test(path))
  .map((path) => ({ path, text: readFileSync(new URL(path, root), 'utf8') }))

describe('the source code', () => {
  it('has no import against the order of folders, between screens, or in a circle', () => {
    expect(sources.length).toBeGreaterThan(50)
    expect(violations(sources)).toEqual([])
  })

  it('finds every form of import', () => {
    const text = `import 'a'\nimport { b } from 'b'\nimport type { c,\n  d } from "c"\nexport { e } from './e.ts'\nexport * from './f.ts'\nconst g = () => import('./g.ts')\nimport h, * as i from 'h'`
    expect(importsOf(text)).toEqual(['a', 'b', 'c', './e.ts', './f.ts', 'h', './g.ts'])
    expect(importsOf(`const label = 'moved from "x"'\nexport const from = 1\nexport function f() { return 'y' }`)).toEqual([])
  })

  it.each([
    ['src/server/channels/select.ts', '../relay/handle-request.ts', 'relay does not come before channels in the list'],
    ['src/server/lib/clock.ts', '../db/open.ts', 'db does not come before lib in the list'],
    ['src/server/protocols/usage.ts', '../options/store.ts', 'protocols may import only the contract, lib'],
    ['src/server/providers/openai.ts', '../db/open.ts', 'providers may import only the contract, lib and protocols'],
    [
      'src/server/console/channels.ts',
      '../relay/handle-request.ts',
      'the console may import only relay/models/probe.ts of the relay',
    ],
    ['src/server/relay/http/read-body.ts', '../response/stream.ts', 'response does not come before http in the relay'],
    ['src/server/relay/oddments/a.ts', '../http/read-body.ts', 'the room oddments is not on the list of the relay'],
    ['src/server/relay/attempt/attempt.ts', '../router.ts', 'a room imports nothing that connects rooms'],
    ['src/server/oddments/a.ts', '../lib/clock.ts', 'the folder oddments is not on the list'],
    ['src/server/http/server.ts', '../../web/lib/call.ts', 'the server imports nothing of the console'],
    ['src/contract/route.ts', 'node:fs', 'the contract imports zod and itself, nothing else'],
    ['src/web/lib/call.ts', '../ui/confirm.tsx', 'web/lib imports only itself and the contract'],
    ['src/web/ui/confirm.tsx', '../screens/login/index.tsx', 'web/ui imports no screen'],
    ['src/web/screens/login/index.tsx', '../tokens/form.tsx', 'a screen imports no other screen'],
    ['src/web/lib/call.ts', '../../server/lib/ids.ts', 'the console imports nothing of the server'],
  ])('reports that %s imports %s', (path, target, reason) => {
    expect(violations([{ path, text: `import type { a } from '${target}'` }])).toEqual([expect.stringContaining(reason)])
  })

  it.each([
    ['src/server/relay/handle-request.ts', '../channels/select.ts'],
    ['src/server/console/channels.ts', '../relay/models/probe.ts'],
    ['src/server/relay/router.ts', './stored-responses/answer-call.ts'],
    ['src/server/relay/response/stream.ts', '../upstream/http-exchange.ts'],
    ['src/server/relay/count/count.ts', '../gateway-parts.ts'],
    ['src/server/start.ts', './app.ts'],
    ['src/server/lib/failure.ts', '../../contract/errors.ts'],
    ['src/web/screens/login/form.tsx', './fields.tsx'],
    ['src/web/router.tsx', './screens/login/index.tsx'],
  ])('lets %s import %s', (path, target) => {
    expect(violations([{ path, text: `import { a } from '${target}'` }])).toEqual([])
  })

  it('reports a circle inside a folder once', () => {
    const files = [
      { path: 'src/server/lib/b.ts', text: `import { c } from './c.ts'` },
      { path: 'src/server/lib/c.ts', text: `import { a } from './a.ts'` },
      { path: 'src/server/lib/a.ts', text: `import { b } from './b.ts'` },
    ]
    expect(violations(files)).toEqual([
      'files import each other in a circle: src/server/lib/a.ts → src/server/lib/b.ts → src/server/lib/c.ts → src/server/lib/a.ts',
    ])
  })
})
