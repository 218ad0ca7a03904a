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
    [
      'src/server/gateway/channels/select/select.ts',
      '../../relay/handle-request.ts',
      'gateway/relay does not come before gateway/channels in the list',
    ],
    ['src/server/base/lib/time/clock.ts', '../../db/open.ts', 'base/db does not come before base/lib in the list'],
    ['src/server/gateway/protocols/usage.ts', '../../base/options/store.ts', 'protocols may import only the contract, base/lib'],
    ['src/server/gateway/providers/openai.ts', '../../base/db/open.ts', 'only the contract, base/lib and gateway/protocols'],
    [
      'src/server/console/calls/channels.ts',
      '../../gateway/relay/handle-request.ts',
      'the console may import only models/probe.ts and http/endpoints.ts of the relay',
    ],
    [
      'src/server/gateway/channels/index/model-index.ts',
      '../edit/find-channels.ts',
      'edit does not come before index in the channels',
    ],
    ['src/server/gateway/channels/oddments/a.ts', '../row/rows.ts', 'the room oddments is not on the list of the channels'],
    ['src/server/gateway/relay/http/read-body.ts', '../response/stream.ts', 'response does not come before http in the relay'],
    ['src/server/gateway/relay/oddments/a.ts', '../http/read-body.ts', 'the room oddments is not on the list of the relay'],
    ['src/server/gateway/relay/attempt/attempt.ts', '../router.ts', 'a room imports nothing that connects rooms'],
    ['src/server/oddments/room/a.ts', '../../base/env.ts', 'the room oddments/room is not on the list'],
    [
      'src/server/people/tokens/tokens.ts',
      '../../gateway/limits/rule.ts',
      'gateway/limits does not come before people/tokens in the list',
    ],
    ['src/server/console/http/server.ts', '../../../web/lib/call.ts', 'the server imports nothing of the console'],
    ['src/contract/route.ts', 'node:fs', 'the contract imports zod and itself, nothing else'],
    ['src/web/lib/call.ts', '../ui/dialog/confirm.tsx', 'web/lib imports only itself and the contract'],
    ['src/web/ui/dialog/confirm.tsx', '../../screens/login/index.tsx', 'web/ui imports no screen'],
    ['src/web/ui/form/field.tsx', '../list/listing.ts', 'list does not come before form in the ui'],
    ['src/web/ui/texts.ts', './view/tag.tsx', 'view does not come before texts in the ui'],
    ['src/web/screens/login/index.tsx', '../tokens/form.tsx', 'a screen imports no other screen'],
    ['src/web/lib/call.ts', '../../server/base/env.ts', 'the console imports nothing of the server'],
  ])('reports that %s imports %s', (path, target, reason) => {
    expect(violations([{ path, text: `import type { a } from '${target}'` }])).toEqual([expect.stringContaining(reason)])
  })

  it.each([
    ['src/server/gateway/relay/handle-request.ts', '../channels/select/select.ts'],
    ['src/server/gateway/channels/edit/channels.ts', '../row/rows.ts'],
    ['src/server/console/calls/channels.ts', '../../gateway/relay/models/probe.ts'],
    ['src/server/gateway/relay/router.ts', './stored-responses/answer-call.ts'],
    ['src/server/gateway/relay/response/stream.ts', '../upstream/http-exchange.ts'],
    ['src/server/gateway/relay/count/count.ts', '../gateway-parts.ts'],
    ['src/server/run/start.ts', './app.ts'],
    ['src/server/base/lib/failure.ts', '../../../contract/errors.ts'],
    ['src/web/ui/list/views/save-view.tsx', '../../dialog/dialog.tsx'],
    ['src/web/ui/list/data-table.tsx', '../shared.module.css'],
    ['src/web/screens/login/form.tsx', './fields.tsx'],
    ['src/web/router.tsx', './screens/login/index.tsx'],
  ])('lets %s import %s', (path, target) => {
    expect(violations([{ path, text: `import { a } from '${target}'` }])).toEqual([])
  })

  it('reports a circle inside a folder once', () => {
    const files = [
      { path: 'src/server/base/lib/b.ts', text: `import { c } from './c.ts'` },
      { path: 'src/server/base/lib/c.ts', text: `import { a } from './a.ts'` },
      { path: 'src/server/base/lib/a.ts', text: `import { b } from './b.ts'` },
    ]
    expect(violations(files)).toEqual([
      'files import each other in a circle: src/server/base/lib/a.ts → src/server/base/lib/b.ts → src/server/base/lib/c.ts → src/server/base/lib/a.ts',
    ])
  })
})
