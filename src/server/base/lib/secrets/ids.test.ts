import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { newRequestId, newSecret, randomText } from './ids.ts'

it('[T018] draws secrets of 256 bits, keys and texts without a repeat in 100,000', () => {
  // At the same millisecond an id differs by its 12 characters alone; texts and keys are longer.
  for (const draw of [newSecret, () => newRequestId(0)]) {
    const drawn = Array.from({ length: 100_000 }, () => draw())
    expect(new Set(drawn).size).toBe(drawn.length)
  }
  expect(Buffer.from(newSecret(), 'base64url')).toHaveLength(32)
  // Letters and digits have nearly six bits each.
  expect(randomText(16)).toMatch(/^[A-Za-z0-9]{16}$/)
})

it('[T018] uses Math.random only to spread work and waits, and to sample calls', () => {
  const folder = new URL('../../../', import.meta.url)
  const users = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts'))
    .filter((path) => readFileSync(new URL(path, folder), 'utf8').includes('Math.random'))
  const permitted = [
    'base/bus/',
    'gateway/channels/select/traffic.ts',
    'base/db/contention.ts',
    'watch/jobs/runner.ts',
    'gateway/protocols/count-tokens.ts',
    'watch/status-page/probes.ts',
    'usage/recordings/recording-rules.ts',
    'money/ledger/committer.ts',
  ]
  expect(users.filter((path) => !permitted.some((known) => path.startsWith(known)))).toEqual([])
})
