import { appendFileSync } from 'node:fs'
import { afterAll, expect } from 'vitest'
import { keep, search } from './canaries.ts'
import { watchEdges } from './canary-taps.ts'
import { rootPassword, testMasterKey } from './core.ts'

/** Runs before each test file of `vitest.canaries.config.ts`: after its last test no secret may be found in the records. */
const worker = globalThis as typeof globalThis & { isWatchingEdges?: boolean }
if (!worker.isWatchingEdges) watchEdges()
worker.isWatchingEdges = true

keep('password of root', rootPassword)
keep('master key', testMasterKey.toString('base64'))

afterAll(() => {
  const { found, secrets, bytes } = search()
  const tally = { file: expect.getState().testPath, secrets, bytes, found: found.length }
  if (process.env.CANARY_TALLY) appendFileSync(process.env.CANARY_TALLY, `${JSON.stringify(tally)}\n`)
  const once = new Map(found.map((finding) => [`${finding.source} ${finding.secret} ${finding.place}`, finding]))
  expect([...once.values()].slice(0, 20)).toEqual([])
})
